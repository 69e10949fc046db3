// EXPECT_THAT(f(), IsOk()); EXPECT_THAT(f(), StatusIs(Code::NotFound));
#pragma once

#include <gmock/gmock.h>

#include "base/status.h"

namespace vagt::test {

inline const Status& status_of(const Status& status) { return status; }
template <class T>
Status status_of(const Result<T>& result) {
  return result.status();
}

MATCHER(IsOk, "") {
  const Status status = status_of(arg);
  *result_listener << code_name(status.code()) << ": " << status.message();
  return status.ok();
}
MATCHER_P(StatusIs, code, "") {
  const Status status = status_of(arg);
  *result_listener << code_name(status.code()) << ": " << status.message();
  return status.code() == code;
}
MATCHER_P2(StatusIs, code, text, "") {
  const Status status = status_of(arg);
  *result_listener << code_name(status.code()) << ": " << status.message();
  return status.code() == code && ::testing::Value(status.message(), ::testing::HasSubstr(text));
}

}  // namespace vagt::test
