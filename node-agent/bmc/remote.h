// BMCs of other hosts, asked when a server scrapes /ipmi?target=HOST&module=NAME.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/worker_pool.h"
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {

// How to speak to a kind of BMC; the password stays in its file.
struct BmcModule {
  std::string user, password_file, interface = "lanplus", privilege = "USER";
  std::optional<uint64_t> cipher_suite;
  std::optional<double> psus_expected, psus_required;
};

// `[NAME]`, below it `user = …`, `password_file = …` and the others, a line each; `#` begins a
// comment. InvalidArgument with file and line.
Result<std::map<std::string, BmcModule>> load_bmc_modules(const std::string& path);
// ipmitool's arguments for HOST, HOST:PORT or [IPv6]:PORT. InvalidArgument: not an address.
Result<std::vector<std::string>> bmc_arguments(std::string_view target, const BmcModule& module);

class RemoteBmcs {
 public:
  using Done = std::function<void(Result<std::string>)>;
  // At most 256 BMCs, four at a time.
  RemoteBmcs(std::map<std::string, BmcModule> modules, const Sources& sources);
  ~RemoteBmcs();  // ends the programs that are still asking

  // Gives the page of `target` to `done`, from another thread; one that is younger than 30 s is not
  // read again. InvalidArgument, NotFound: no such address or module. Unavailable: this BMC is
  // being asked, or too many are. A BMC that does not answer has a page, with ipmi_up 0.
  void ask(const std::string& target, const std::string& module, bool open_metrics, Done done)
      VAGT_EXCLUDES(mutex_);

 private:
  struct Bmc;
  Result<std::shared_ptr<Bmc>> find(const std::string& target, const std::string& module)
      VAGT_REQUIRES(mutex_);
  void read(Bmc& bmc);

  const std::map<std::string, BmcModule> modules_;
  Sources sources_;
  std::stop_source stop_;
  base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Bmc>> bmcs_ VAGT_GUARDED_BY(mutex_);
  base::WorkerPool pool_;  // last: its threads use all of the above
};

}  // namespace vagt::agent
