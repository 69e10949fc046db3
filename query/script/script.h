// Runs test scripts for PromQL in the language of Prometheus's promqltest: `load` puts series into
// a store, `eval` asks and says what must come out, `clear` empties the store.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/evaluator.h"
#include "query/parse.h"
#include "tsdb/store.h"

namespace vagt::query::script {

// A fresh, empty store that takes samples of any age in any order through import_appender().
using StoreFactory = std::function<std::unique_ptr<tsdb::Store>()>;

struct Options {
  ParseOptions parse;  // default_options() switches every feature on, as the scripts expect
  EvalOptions eval;
  bool also_as_range = true;  // instant queries must give the same inside a range
};
Options default_options();

enum class Outcome : uint8_t { Passed, Failed, Skipped };
struct CaseReport {
  size_t line = 0;  // of the eval command, from 1
  std::string command;
  Outcome outcome = Outcome::Passed;
  std::string reason;  // why it failed or was skipped
};
struct FileReport {
  std::string name;
  std::vector<CaseReport> cases;
  size_t count(Outcome outcome) const;
};

// InvalidArgument: the script is not understood; "NAME:LINE: …". Skipped cases need native
// histograms or start timestamps, which the store does not hold yet.
Result<FileReport> run_script(std::string_view name, std::string_view text,
                              const StoreFactory& make_store, const Options& options);

// `vagtctl test promql FILE…`: runs the files, appends a line per file and the failures to `out`.
// Exit status: 0 when nothing failed, 1 when something did, 2 when a file could not be read or
// understood.
int test_promql(std::span<const std::string> files, const StoreFactory& make_store,
                std::string& out);

}  // namespace vagt::query::script
