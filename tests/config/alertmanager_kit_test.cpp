// Configuration files, routes and matchers against recorded judgements (they lie outside the tree).
#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/alertmanager_config.h"
#include "notify/route.h"
#include "tests/support/status_matchers.h"

namespace vagt::config {
namespace {

namespace json = boost::json;

std::filesystem::path kit() {
  const char* shared = std::getenv("VAGT_SHARED");
  return std::filesystem::path(shared != nullptr ? shared : VAGT_SOURCE_DIR "/../shared") /
         "alertmanager";
}

std::vector<std::vector<std::string>> rows(const std::filesystem::path& file) {
  std::vector<std::vector<std::string>> out;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    auto& row = out.emplace_back();
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    row.resize(9);
  }
  return out;
}

class AlertmanagerKit : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kit() / "matchers.tsv"))
      GTEST_SKIP() << "no recorded cases at " << kit();
  }
};

TEST_F(AlertmanagerKit, FilesAreJudgedAsTheNewestDoes) {
  size_t judged = 0;
  for (const auto& row : rows(kit() / "config/errors.tsv")) {
    if (row[1] == "any") continue;
    const auto config = load_alertmanager_config((kit() / "config" / row[0]).string());
    EXPECT_EQ(config.ok(), row[1] == "ok") << row[0] << ": " << config.status().message();
    ++judged;
  }
  EXPECT_GT(judged, 150u);
}

TEST_F(AlertmanagerKit, MatchersInAllThreeModes) {
  using notify::MatcherSyntax;
  size_t judged = 0;
  for (const auto& row : rows(kit() / "matchers.tsv")) {
    const std::string input(json::parse(row[0]).as_string());
    const auto check = [&](MatcherSyntax syntax, std::string valid, const std::string& canonical) {
      if (valid.ends_with('*')) valid.pop_back();
      const auto parsed = notify::parse_matchers(input, syntax);
      EXPECT_EQ(parsed.ok(), valid == "valid")
          << row[0] << " mode " << static_cast<int>(syntax) << ": " << parsed.status().message();
      if (!parsed.ok() || canonical.empty() || !canonical.starts_with('"')) return;
      const std::string wanted(json::parse(canonical).as_string());
      EXPECT_EQ(parsed->empty() ? "default-route" : notify::matchers_text(*parsed), wanted)
          << row[0];
    };
    check(MatcherSyntax::Classic, row[1], row[1] == "valid" ? row[2] : "");
    check(MatcherSyntax::Utf8, row[3], "");
    check(MatcherSyntax::Fallback, row[5], row[6]);
    ++judged;
  }
  EXPECT_GT(judged, 150u);
}

TEST_F(AlertmanagerKit, LabelsReachTheirReceivers) {
  std::ifstream in(kit() / "routing/cases.json");
  std::stringstream text;
  text << in.rdbuf();
  size_t judged = 0;
  const json::value cases = json::parse(text.str());
  for (const auto& item : cases.as_array()) {
    const auto& c = item.as_object();
    if (c.contains("error")) continue;
    const std::string name(c.at("config").as_string());
    const auto config =
        load_alertmanager_config((kit() / "routing/configs" / (name + ".yml")).string());
    ASSERT_THAT(config, test::IsOk()) << name;
    LabelsBuilder labels;  // a name given twice: the last one counts
    for (const auto& label : c.at("labels").as_array()) {
      // Labels given on a command line: the newer grammar's reading comes first.
      const std::string written(label.as_string());
      auto m = notify::parse_matcher(written, notify::MatcherSyntax::Utf8);
      if (!m.ok()) m = notify::parse_matcher(written);
      ASSERT_THAT(m, test::IsOk()) << label;
      labels.set(m->name(), m->value());
    }
    const auto tree = notify::Route::build(config->route);
    std::string receivers;
    for (const auto* route : tree->match(labels.build())) {
      receivers += (receivers.empty() ? "" : ",") + route->options().receiver;
    }
    EXPECT_EQ(receivers, std::string(c.at("expected").as_string())) << c.at("id");
    ++judged;
  }
  EXPECT_GT(judged, 90u);
}

}  // namespace
}  // namespace vagt::config
