// A host made of files in a temporary directory.
#pragma once

#include <filesystem>
#include <fstream>

#include "node-agent/collectors/collectors.h"
#include "node-agent/options.h"
#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"

namespace vagt::agent {

class FakeHost {
 public:
  FakeHost() {
    std::string pattern = ::testing::TempDir() + "vagt-host-XXXXXX";
    root_ = mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ / "state");
    sources_.procfs = (root_ / "proc").string();
    sources_.sysfs = (root_ / "sys").string();
    sources_.rootfs = root_.string();
    sources_.udev_data = (root_ / "udev").string();
    sources_.state_dir = (root_ / "state").string();
    sources_.clock = &clock_;
  }
  ~FakeHost() { std::filesystem::remove_all(root_); }

  // `path` from the root: "proc/stat", "sys/class/net/eth0/mtu".
  FakeHost& file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
    return *this;
  }
  FakeHost& link(const std::string& path, const std::string& target) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::create_symlink(target, root_ / path);
    return *this;
  }
  std::string path(const std::string& below) const { return (root_ / below).string(); }
  Sources& sources() { return sources_; }
  Filters& filters() { return filters_; }
  test::ManualClock& clock() { return clock_; }

  // The sample lines of one run, or "status: message" when it failed.
  std::string run(MakeCollector* make) {
    const CollectorPtr collector = make(sources_, filters_);
    return run(*collector);
  }
  std::string run(Collector& collector) {
    MetricSink sink;
    const Status status = collector.collect(sink, {});
    std::string out;
    for (const auto& entry : sink.families()) out += entry.second.lines();
    if (!status.ok()) out += std::string(code_name(status.code())) + ": " + status.message();
    return out;
  }

 private:
  std::filesystem::path root_;
  test::ManualClock clock_;
  Sources sources_;
  Filters filters_;
};

}  // namespace vagt::agent
