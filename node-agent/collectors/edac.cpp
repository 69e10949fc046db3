// Memory errors by controller, chip-select row and DIMM.
#include "node-agent/collectors/collectors.h"

namespace vagt::agent {
namespace {

class EdacCollector final : public Collector {
 public:
  explicit EdacCollector(const Sources& sources)
      : directory_(sources.sys("devices/system/edac/mc")) {}
  std::string_view name() const override { return "edac"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    bool any = false;
    for (const std::string& entry : list_directory(directory_)) {
      if (entry.compare(0, 2, "mc") != 0 || !to_uint(entry.substr(2))) continue;
      add_controller(sink, directory_ + '/' + entry, entry.substr(2));
      any = true;
    }
    return any ? Status() : Status::not_found("no memory controller reports to EDAC");
  }

 private:
  static void add_controller(MetricSink& sink, const std::string& path,
                             const std::string& controller) {
    if (const auto n = read_number(path + "/ce_count"))
      sink.counter("node_edac_correctable_errors_total", "Total correctable memory errors.")
          .add({{"controller", controller}}, *n);
    if (const auto n = read_number(path + "/ue_count"))
      sink.counter("node_edac_uncorrectable_errors_total", "Total uncorrectable memory errors.")
          .add({{"controller", controller}}, *n);
    add_row(sink, path + "/ce_noinfo_count", path + "/ue_noinfo_count", controller, "unknown");
    for (const std::string& entry : list_directory(path)) {
      const std::string child = path + '/' + entry;
      if (entry.compare(0, 5, "csrow") == 0)
        add_row(sink, child + "/ce_count", child + "/ue_count", controller, entry.substr(5));
      if (entry.compare(0, 4, "dimm") == 0) add_dimm(sink, child, controller, entry.substr(4));
    }
  }

  static void add_row(MetricSink& sink, const std::string& correctable,
                      const std::string& uncorrectable, const std::string& controller,
                      const std::string& row) {
    if (const auto n = read_number(correctable))
      sink.counter("node_edac_csrow_correctable_errors_total",
                   "Total correctable memory errors for this csrow.")
          .add({{"controller", controller}, {"csrow", row}}, *n);
    if (const auto n = read_number(uncorrectable))
      sink.counter("node_edac_csrow_uncorrectable_errors_total",
                   "Total uncorrectable memory errors for this csrow.")
          .add({{"controller", controller}, {"csrow", row}}, *n);
  }

  // The label is what is printed beside the slot: what a technician looks for.
  static void add_dimm(MetricSink& sink, const std::string& path, const std::string& controller,
                       const std::string& dimm) {
    const std::string label = read_line(path + "/dimm_label").value_or(std::string());
    if (const auto n = read_number(path + "/dimm_ce_count"))
      sink.counter("node_edac_dimm_correctable_errors_total",
                   "Correctable memory errors of this DIMM.")
          .add({{"controller", controller}, {"dimm", dimm}, {"label", label}}, *n);
    if (const auto n = read_number(path + "/dimm_ue_count"))
      sink.counter("node_edac_dimm_uncorrectable_errors_total",
                   "Uncorrectable memory errors of this DIMM.")
          .add({{"controller", controller}, {"dimm", dimm}, {"label", label}}, *n);
  }

  const std::string directory_;
};

}  // namespace

CollectorPtr make_edac(const Sources& sources, const Filters&) {
  return std::make_unique<EdacCollector>(sources);
}

}  // namespace vagt::agent
