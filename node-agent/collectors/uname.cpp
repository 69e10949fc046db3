// node_uname_info: dashboards build their host lists from it.
#include <sys/utsname.h>

#include <cerrno>
#include <cstring>

#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class UnameCollector final : public Collector {
 public:
  explicit UnameCollector(const Sources& sources) : fixture_(sources.fixtures.uname) {}
  std::string_view name() const override { return "uname"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    std::map<std::string, std::string> fields;
    if (fixture_.empty()) {
      utsname names{};
      if (uname(&names) != 0) return Status::io(std::strerror(errno));
      fields = {{"sysname", names.sysname},   {"release", names.release},
                {"version", names.version},   {"machine", names.machine},
                {"nodename", names.nodename}, {"domainname", names.domainname}};
    } else {
      VAGT_TRY(fields, read_pairs(fixture_));
    }
    sink.gauge("node_uname_info",
               "Labeled system information as provided by the uname system call.")
        .add({{"domainname", fields["domainname"]},
              {"machine", fields["machine"]},
              {"nodename", fields["nodename"]},
              {"release", fields["release"]},
              {"sysname", fields["sysname"]},
              {"version", fields["version"]}},
             1);
    return {};
  }

 private:
  const std::string fixture_;
};

}  // namespace

CollectorPtr make_uname(const Sources& sources, const Filters&) {
  return std::make_unique<UnameCollector>(sources);
}

}  // namespace vagt::agent
