// Replays the saved inputs of the fuzz target.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

TEST(ParseCorpus, EveryInputIsAnswered) {
  size_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(VAGT_PROMQL_CORPUS)) {
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()), text.size()),
              0);
    ++inputs;
  }
  EXPECT_GE(inputs, 10u);
}

}  // namespace
