#include "base/arguments.h"

#include <gmock/gmock.h>

namespace vagt::base {
namespace {

using ::testing::ElementsAre;

TEST(Arguments, AnEmptyValueBecomesAWordOfItsOwn) {
  EXPECT_THAT(with_empty_values({"--cluster.listen-address=", "--a=b=", "x=", "--flag"}),
              ElementsAre("--cluster.listen-address", "", "--a=b=", "x=", "--flag"));
}

}  // namespace
}  // namespace vagt::base
