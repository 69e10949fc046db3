#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "query/script/script.h"

namespace vagt::query::script {
namespace {

void append_file(std::string& out, const FileReport& report) {
  out += fmt::format("{}: {} passed, {} failed, {} skipped\n", report.name,
                     report.count(Outcome::Passed), report.count(Outcome::Failed),
                     report.count(Outcome::Skipped));
  for (const CaseReport& c : report.cases)
    if (c.outcome == Outcome::Failed)
      out += fmt::format("  {}:{}: {}\n    {}\n", report.name, c.line, c.command, c.reason);
}

}  // namespace

int test_promql(std::span<const std::string> files, const StoreFactory& make_store,
                std::string& out) {
  const Options options = default_options();
  size_t passed = 0, failed = 0, skipped = 0;
  bool unreadable = false;
  for (const std::string& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream) {
      out += fmt::format("{}: cannot be read\n", file);
      unreadable = true;
      continue;
    }
    const Result<FileReport> report = run_script(file, text, make_store, options);
    if (!report) {
      out += report.error().message() + "\n";
      unreadable = true;
      continue;
    }
    append_file(out, *report);
    passed += report->count(Outcome::Passed);
    failed += report->count(Outcome::Failed);
    skipped += report->count(Outcome::Skipped);
  }
  out += fmt::format("{} passed, {} failed, {} skipped\n", passed, failed, skipped);
  return unreadable ? 2 : failed > 0 ? 1 : 0;
}

}  // namespace vagt::query::script
