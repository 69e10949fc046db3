#include "cli/check_discovery.h"

#include <algorithm>
#include <ostream>
#include <set>

#include "base/json_writer.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "config/prometheus_config.h"
#include "scrape/discovery/target_directory.h"
#include "scrape/scrape_job.h"
#include "scrape/target.h"

namespace vagt::cli {
namespace {

using scrape::TargetDirectory;

// Is told that a source has news.
class Bell {
 public:
  void ring() {
    {
      base::MutexLock lock(mutex_);
      ++rung_;
    }
    changed_.notify_all();
  }
  // False: nothing new until `deadline`.
  bool wait(std::chrono::steady_clock::time_point deadline) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    const bool has_rung = changed_.wait_until(
        lock, deadline, [this]() VAGT_NO_THREAD_ANALYSIS { return rung_ != heard_; });
    heard_ = rung_;
    return has_rung;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  int rung_ VAGT_GUARDED_BY(mutex_) = 0, heard_ VAGT_GUARDED_BY(mutex_) = 0;
};

// A source that answers in pieces says more within this time, if at all.
constexpr Duration kSettle = std::chrono::milliseconds(100);

TargetDirectory::Found discover(const scrape::DiscoveryConfig& discovery, Duration timeout) {
  Bell bell;
  base::Registry registry;
  TargetDirectory::Options options;
  options.user_agent = "vagtctl";
  options.user = "scrape";
  options.changed = [&bell] { bell.ring(); };
  TargetDirectory directory(std::move(options), registry, base::Logger());
  directory.apply({&discovery});
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  auto found = directory.found(discovery);
  while (!found.is_complete && bell.wait(deadline)) found = directory.found(discovery);
  while (bell.wait(std::min(deadline, std::chrono::steady_clock::now() + kSettle))) {
  }
  return directory.found(discovery);
}

// What relabelling leaves, without the labels of discovery; empty: it drops the target.
Labels relabelled(const scrape::ScrapeJob& job, const Labels& discovered) {
  LabelsBuilder labels(discovered);
  if (!job.relabel.apply(labels)) return {};
  LabelsBuilder kept;
  for (const auto& [name, value] : labels.items()) {
    if (!name.starts_with("__meta_")) kept.set(name, value);
  }
  if (kept.get("instance").empty()) kept.set("instance", kept.get("__address__"));
  return kept.build();
}

std::string target_json(const scrape::ScrapeJob& job,
                        const std::map<std::string, std::string>& target,
                        const std::map<std::string, std::string>& group) {
  const auto made = scrape::populate_target(job.config, job.relabel, target, group);
  LabelsBuilder given;
  for (const auto& [name, value] : group) given.set(name, value);
  for (const auto& [name, value] : target) given.set(name, value);
  std::string text;
  base::JsonWriter json(text);
  json.begin_object().key("discoveredLabels").labels(made ? made->discovered : given.build());
  json.key("labels").labels(made ? relabelled(job, made->discovered) : Labels());
  if (!made) json.key("error").string(made.error().message());
  json.end_object();
  return text;
}

// Each target once, however many sources name it.
std::string targets_json(const scrape::ScrapeJob& job, const scrape::TargetGroups& groups) {
  std::set<std::string> seen;
  std::string text = "[";
  for (const scrape::TargetGroup& group : groups) {
    for (const auto& target : group.targets) {
      const std::string json = target_json(job, target, group.labels);
      if (seen.insert(json).second) text += (seen.size() == 1 ? "" : ",") + json;
    }
  }
  return text + "]";
}

// Compact JSON as Go's MarshalIndent lays it out, two spaces a level.
std::string indented(std::string_view json) {
  std::string out;
  size_t depth = 0;
  bool is_inside = false;  // of a string
  const auto line = [&] { out += '\n', out.append(2 * depth, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (is_inside || c == '"') {
      out += c;
      if (c == '\\') out += json[++i];
      if (c == '"') is_inside = !is_inside;
    } else if ((c == '{' || c == '[') && (json[i + 1] == '}' || json[i + 1] == ']')) {
      out += c, out += json[++i];
    } else if (c == '{' || c == '[') {
      out += c, ++depth, line();
    } else if (c == '}' || c == ']') {
      --depth, line(), out += c;
    } else {
      out += c;
      if (c == ',') line();
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace

int check_discovery(Context& context, const CheckDiscovery& check) {
  const auto timeout = parse_any_duration(check.timeout);
  if (!timeout) return context.fail(timeout.error());
  auto config = config::load_prometheus_config(check.file);
  if (!config) {
    context.err << "Cannot load config " << config.error().message() << "\n";
    return kFailure;
  }
  auto& jobs = config->scrape_configs;
  const auto job = std::find_if(jobs.begin(), jobs.end(), [&check](const auto& candidate) {
    return candidate.job_name == check.job;
  });
  if (job == jobs.end()) {
    context.err << "Job " << check.job << " not found. Select one of:\n";
    for (const auto& other : jobs) context.err << "\t" << other.job_name << "\n";
    return kFailure;
  }
  const auto compiled = scrape::compile_job(*job);
  if (!compiled) return context.fail(compiled.error());
  const auto found = discover((*compiled)->config.discovery, *timeout);
  for (const std::string& error : found.errors) context.err << "  WARNING: " << error << "\n";
  if (!found.is_complete)
    context.err << "  WARNING: not every source answered within " << check.timeout << "\n";
  context.out << indented(targets_json(**compiled, found.groups)) << "\n";
  return kSuccess;
}

}  // namespace vagt::cli
