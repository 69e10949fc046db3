// The script runner: what it reads, what it reports, and that it can tell right from wrong.
#include "query/script/script.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "query/script/commands.h"
#include "query/script/compare.h"
#include "query/script/series_text.h"
#include "tsdb/memory_store.h"

namespace vagt::query::script {
namespace {

std::unique_ptr<tsdb::Store> make_store() { return std::make_unique<tsdb::MemoryStore>(); }

std::string series_error(std::string_view line) { return parse_series(line).status().message(); }

TEST(SeriesText, ReadsLabelsAndValues) {
  const auto series = parse_series(R"(m{a="x y", b='}'} 1 _ 2+3x2 _x2 -1e3 stale 5x1 NaN 4-2x1)");
  ASSERT_TRUE(series.ok()) << series.status().message();
  EXPECT_EQ(series->labels.to_string(), R"(m{a="x y", b="}"})");
  ASSERT_EQ(series->values.size(), 14u);
  EXPECT_EQ(series->values[0], 1);
  EXPECT_EQ(series->values[1], std::nullopt);
  EXPECT_EQ(series->values[2], 2);
  EXPECT_EQ(series->values[4], 8);
  EXPECT_EQ(series->values[6], std::nullopt);
  EXPECT_EQ(series->values[7], -1000);
  EXPECT_TRUE(is_stale(*series->values[8]));
  EXPECT_EQ(series->values[10], 5);
  EXPECT_TRUE(std::isnan(*series->values[11]));
  EXPECT_EQ(series->values[13], 2);
}

TEST(SeriesText, NamesInBracesAndNone) {
  EXPECT_EQ(parse_series(R"({"odd name", "l.1"="v"} 1)")->labels.get(kMetricName), "odd name");
  EXPECT_EQ(parse_series("{} 3")->labels.size(), 0u);
  EXPECT_EQ(parse_series("m {a=\"b\"} 3")->labels.get("a"), "b");
  EXPECT_EQ(parse_series("m 3")->values.size(), 1u);
}

TEST(SeriesText, MarksWhatItLeavesOut) {
  EXPECT_TRUE(parse_series("m {{schema:0 sum:1}}x3")->histograms);
  EXPECT_TRUE(parse_series("m{a=\"b\"}@st -1m 2m")->start_timestamps);
}

TEST(SeriesText, RefusesNonsense) {
  EXPECT_EQ(series_error("m 1 two"), R"(not a value: "two")");
  EXPECT_EQ(series_error("m 1xy"), R"(not a value: "1xy")");
  EXPECT_EQ(series_error("m 1+x3"), R"(not a value: "1+x3")");
  EXPECT_EQ(series_error("m 1x1000000"), "more than 100000 values in a line");
  EXPECT_EQ(series_error("m{a!=\"b\"} 1"), R"(a series has labels, not conditions: a!="b")");
  EXPECT_NE(series_error("m{a=\"b\" 1"), "");
}

TEST(Commands, ReadsEveryKind) {
  const auto commands = parse_commands(R"(
# a comment
load 5m
  m 1 2
  n 3

clear
eval instant at 1m30s m + 1
  expect no_warn
  expect info msg: hello: world
  {} 1

eval range from 0 to 10m step 60 rate(m[5m])
  {} 1 2

eval_fail instant at -5 m[

eval instant "x"
  expect string "x"
)");
  ASSERT_TRUE(commands.ok()) << commands.status().message();
  ASSERT_EQ(commands->size(), 6u);
  EXPECT_EQ((*commands)[0].line, 3u);
  EXPECT_EQ(std::get<LoadCommand>((*commands)[0].what).series.size(), 2u);
  const auto& instant = std::get<EvalCommand>((*commands)[2].what);
  EXPECT_EQ(instant.grid.start, from_millis(90'000));
  EXPECT_EQ(instant.query, "m + 1");
  EXPECT_TRUE(instant.no_warnings);
  ASSERT_EQ(instant.infos.size(), 1u);
  EXPECT_EQ(instant.infos[0].text, "hello: world");
  const auto& range = std::get<EvalCommand>((*commands)[3].what);
  EXPECT_FALSE(range.instant);
  EXPECT_EQ(range.grid.step, std::chrono::minutes(1));
  EXPECT_TRUE(std::get<EvalCommand>((*commands)[4].what).fails);
  EXPECT_EQ(std::get<EvalCommand>((*commands)[4].what).grid.start, from_millis(-5000));
  EXPECT_EQ(std::get<EvalCommand>((*commands)[5].what).string_result, "x");
}

TEST(Commands, FaultsNameTheLine) {
  const auto error = [](std::string_view text) { return parse_commands(text).status().message(); };
  EXPECT_EQ(error("\nfrob 1"), R"(2: no such command: "frob")");
  EXPECT_EQ(error("load x\n"), "1: not a valid duration string: \"x\"");
  EXPECT_EQ(error("load 5m\n  m 1\n  n ?"), R"(3: not a value: "?")");
  EXPECT_EQ(error("eval instant at 5m"), "1: no query");
  EXPECT_EQ(error("eval range from 5 to 1 step 1 x"), "1: the range is empty");
  EXPECT_EQ(error("eval range to 5"), R"(1: expected 'from' before "to 5")");
  EXPECT_EQ(error("eval instant x\n expect fun"), R"(2: cannot expect "fun")");
  EXPECT_EQ(error("eval instant x\n expect warn nonsense"),
            R"(2: expected 'msg:' or 'regex:' before "nonsense")");
}

TEST(Compare, AlmostEqual) {
  EXPECT_TRUE(almost_equal(1, 1 + 1e-7));
  EXPECT_FALSE(almost_equal(1, 1 + 1e-5));
  EXPECT_TRUE(almost_equal(NAN, NAN));
  EXPECT_FALSE(almost_equal(NAN, 1));
  EXPECT_TRUE(almost_equal(INFINITY, INFINITY));
  EXPECT_FALSE(almost_equal(INFINITY, -INFINITY));
  EXPECT_TRUE(almost_equal(0, 0));
  EXPECT_FALSE(almost_equal(0, 1e-9));
  EXPECT_FALSE(almost_equal(stale_marker(), NAN));
}

// One case of a script over a small load.
CaseReport run_one(const std::string& eval) {
  const std::string script =
      "load 1m\n  m{a=\"1\"} 0+1x10\n  m{a=\"2\"} 0+2x10\n  h_bucket{le=\"1\"} 1x10\n\n" + eval +
      "\n";
  const auto report = run_script("t", script, make_store, default_options());
  EXPECT_TRUE(report.ok()) << report.status().message();
  if (!report.ok() || report->cases.size() != 1) return {};
  return report->cases[0];
}

TEST(RunScript, PassesWhatIsRight) {
  for (const char* eval : {
           "eval instant at 5m m\n  m{a=\"1\"} 5\n  m{a=\"2\"} 10",
           "eval instant at 5m sum(m)\n  {} 15",
           "eval instant at 5m 1 + 2\n  3",
           "eval instant at 5m m{a=\"none\"}",
           "eval range from 0 to 2m step 1m m{a=\"1\"}\n  m{a=\"1\"} 0 1 2",
           "eval instant at 5m sort_desc(m)\n  expect ordered\n  m{a=\"2\"} 10\n  m{a=\"1\"} 5",
           "eval instant at 5m m[2m]\n  expect range vector from 4m to 5m step 1m\n  m{a=\"1\"} 4 "
           "5\n  m{a=\"2\"} 8 10",
           "eval instant at 5m rate(m)\n  expect fail msg: expected type range vector",
           "eval instant at 5m m * on() m\n  expect fail regex: many-to-many|duplicate",
           "eval instant at 5m \"a\"\n  expect string \"a\"",
       }) {
    const CaseReport report = run_one(eval);
    EXPECT_EQ(report.outcome, Outcome::Passed) << eval << "\n" << report.reason;
  }
}

TEST(RunScript, FailsWhatIsWrong) {
  const struct {
    const char *eval, *reason;
  } cases[] = {
      {"eval instant at 5m m{a=\"1\"}\n  m{a=\"1\"} 6", R"(m{a="1"}: want 6@300, got 5@300)"},
      {"eval instant at 5m m\n  m{a=\"1\"} 5", R"(unexpected series m{a="2"} 10@300)"},
      {"eval instant at 5m m{a=\"1\"}\n  m{a=\"1\"} 5\n  m{a=\"3\"} 5",
       R"(missing series m{a="3"} 5@300)"},
      {"eval instant at 5m 1 + 2\n  4", "want 4, got 3"},
      {"eval instant at 5m sum(m)\n  15", "want 15, got a vector"},
      {"eval instant at 5m sort_desc(m)\n  expect ordered\n  m{a=\"1\"} 5\n  m{a=\"2\"} 10",
       R"(place 1: want m{a="1"}, got m{a="2"})"},
      {"eval range from 0 to 2m step 1m m{a=\"1\"}\n  m{a=\"1\"} 0 1 _",
       R"(m{a="1"}: want 0@0 1@60, got 0@0 1@60 2@120)"},
      {"eval instant at 5m m[2m]\n  m 1",
       "got a range vector, and the script does not say 'expect range vector'"},
      {"eval instant at 5m m\n  expect fail", "should fail, but succeeded"},
      {"eval instant at 5m rate(m)\n  expect fail msg: something else",
       "failed with \"1:6: parse error: expected type range vector in call to function "
       "\\\"rate\\\", got instant "
       "vector\", want \"something else\""},
      {"eval instant at 5m \"a\"\n  expect string \"b\"", "got the string \"a\""},
      {"eval instant at 5m m{a=\"1\"}\n  expect warn\n  m{a=\"1\"} 5", "missing warning: any"},
      {"eval instant at 5m nosuch(m)\n  {} 1",
       R"(1:1: parse error: unknown function with name "nosuch")"},
  };
  for (const auto& c : cases) {
    const CaseReport report = run_one(c.eval);
    EXPECT_EQ(report.outcome, Outcome::Failed) << c.eval;
    EXPECT_EQ(report.reason, c.reason) << c.eval;
    EXPECT_EQ(report.line, 6u);
  }
}

TEST(RunScript, SkipsWhatNeedsNativeHistogramsOrStartTimestamps) {
  const auto report = run_script("t", R"(
load_with_nhcb 1m
  h_bucket{le="1"} 1x5
  other 1x5

load 1m
  n {{schema:0 sum:1 count:1}}x5

eval instant at 1m h_bucket
  h_bucket{le="1"} 1

eval instant at 1m histogram_count(h)
  {} 1

eval instant at 1m n
  n {{schema:0 sum:1 count:1}}

eval instant at 1m {__name__=~"o.*"}
  other 1

eval instant at 1m other
  other 1

clear
load 1m
  c@st -1m
  c 1

eval instant at 0 c
  c 1

clear
eval instant at 0 1
  1
)",
                                 make_store, default_options());
  ASSERT_TRUE(report.ok()) << report.status().message();
  std::string outcomes;
  for (const CaseReport& c : report->cases)
    outcomes += c.outcome == Outcome::Skipped ? 's' : c.outcome == Outcome::Passed ? 'p' : 'f';
  EXPECT_EQ(outcomes,
            "psssp"
            "s"
            "p");
  EXPECT_EQ(report->cases[2].reason, "native histogram expected");
  EXPECT_EQ(report->cases[5].reason, "start timestamps");
}

TEST(TestPromql, CountsPerFileAndExitStatus) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("script_test." + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string good = write("good.test", "eval instant 1\n  1\n"),
                    bad = write("bad.test", "eval instant 1\n  2\n"),
                    broken = write("broken.test", "frob\n");
  std::string out;
  EXPECT_EQ(test_promql(std::vector{good}, make_store, out), 0);
  EXPECT_EQ(out, good + ": 1 passed, 0 failed, 0 skipped\n1 passed, 0 failed, 0 skipped\n");
  out.clear();
  EXPECT_EQ(test_promql(std::vector{good, bad}, make_store, out), 1);
  EXPECT_NE(out.find(bad + ":1: eval instant 1\n    want 2, got 1\n"), std::string::npos) << out;
  out.clear();
  EXPECT_EQ(test_promql(std::vector{broken, good}, make_store, out), 2);
  EXPECT_NE(out.find(broken + ":1: no such command: \"frob\"\n"), std::string::npos) << out;
  out.clear();
  EXPECT_EQ(test_promql(std::vector{(folder / "absent").string()}, make_store, out), 2);
  std::filesystem::remove_all(folder);
}

// The scripts of the language's own test suite, where they are at hand.
TEST(Conformance, EveryFloatCasePasses) {
  const char* given = std::getenv("VAGT_SHARED");
  const std::filesystem::path folder =
      std::filesystem::path(given != nullptr ? given : VAGT_SOURCE_DIR "/../shared") /
      "conformance/promqltest";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no scripts at " << folder << " (set VAGT_SHARED)";
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".test") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  std::string out;
  EXPECT_EQ(test_promql(files, make_store, out), 0) << out;
}

}  // namespace
}  // namespace vagt::query::script
