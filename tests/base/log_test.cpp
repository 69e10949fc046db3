#include "base/log.h"

#include "base/regex.h"
#include "tests/support/status_matchers.h"

namespace vagt::base {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string written(const std::function<void()>& act) {
  ::testing::internal::CaptureStderr();
  act();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, LogfmtLine) {
  const std::string out = written([] {
    const Logger log =
        make_stderr_logger(LogLevel::Info, LogFormat::Logfmt).with_component("rules");
    log.warn("slow group", {{"group", "a b"}, {"seconds", 1.5}, {"n", 3}, {"empty", ""}});
  });
  const auto line = Regex::compile(
      R"(ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=warn component=rules msg="slow group" )"
      R"(group="a b" seconds=1.5 n=3 empty=""\n)");
  EXPECT_TRUE(line.value().matches(out)) << out;
}

TEST(Log, ALineBreakCannotForgeALine) {
  const std::string out = written([] {
    make_stderr_logger(LogLevel::Info, LogFormat::Logfmt).info("x\nlevel=error", {{"k", "a\nb=c"}});
  });
  EXPECT_THAT(out, HasSubstr(R"(msg="x\nlevel=error" k="a\nb=c")"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
}

TEST(Log, JsonLine) {
  const std::string out = written([] {
    make_stderr_logger(LogLevel::Debug, LogFormat::Json).debug("hello", {{"k", "v\""}});
  });
  EXPECT_THAT(out, HasSubstr(R"("level":"debug","msg":"hello","k":"v\""})"));
}

TEST(Log, DropsBelowTheLevel) {
  EXPECT_THAT(written([] {
                const Logger log = make_stderr_logger(LogLevel::Error, LogFormat::Logfmt);
                log.debug("a"), log.info("b"), log.warn("c");
              }),
              IsEmpty());
}

TEST(Log, TheDefaultLoggerIsSilent) {
  EXPECT_THAT(written([] { Logger().error("nobody hears"); }), IsEmpty());
}

TEST(Log, Levels) {
  EXPECT_EQ(parse_log_level("warn").value(), LogLevel::Warn);
  EXPECT_THAT(parse_log_level("loud"), test::StatusIs(Code::InvalidArgument, "loud"));
}

}  // namespace
}  // namespace vagt::base
