#include "scrape/target.h"

#include <fmt/core.h>

#include <algorithm>

namespace vagt::scrape {
namespace {

constexpr std::string_view kAddress = "__address__", kScheme = "__scheme__",
                           kPath = "__metrics_path__";
constexpr std::string_view kInterval = "__scrape_interval__", kTimeout = "__scrape_timeout__";
constexpr std::string_view kParamPrefix = "__param_", kReserved = "__";

void set_absent(LabelsBuilder& labels, std::string_view name, std::string_view value) {
  if (labels.get(name).empty()) labels.set(name, value);
}

LabelsBuilder discovered_labels(const ScrapeConfig& job,
                                const std::map<std::string, std::string>& target_labels,
                                const std::map<std::string, std::string>& group_labels) {
  LabelsBuilder labels;
  for (const auto& [name, value] : target_labels) labels.set(name, value);
  for (const auto& [name, value] : group_labels) {
    if (!target_labels.contains(name)) labels.set(name, value);
  }
  set_absent(labels, "job", job.job_name);
  set_absent(labels, kInterval, format_duration(job.interval));
  set_absent(labels, kTimeout, format_duration(job.timeout));
  set_absent(labels, kPath, job.metrics_path);
  set_absent(labels, kScheme, job.scheme);
  for (const auto& [name, values] : job.params) {
    if (!values.empty()) set_absent(labels, std::string(kParamPrefix) + name, values.front());
  }
  return labels;
}

Result<Duration> read_period(const LabelsBuilder& labels, std::string_view label,
                             std::string_view what) {
  auto parsed = parse_duration(labels.get(label));
  if (!parsed) {
    return Status::invalid(
        fmt::format("error parsing scrape {}: {}", what, parsed.error().message()));
  }
  if (parsed->count() == 0) return Status::invalid(fmt::format("scrape {} cannot be 0", what));
  return *parsed;
}

// As Go's url.QueryEscape: a space is '+'.
std::string query_escape(std::string_view text) {
  std::string out = net::url_encode(text);
  for (size_t at = 0; (at = out.find("%20", at)) != std::string::npos; ++at)
    out.replace(at, 3, "+");
  return out;
}

// The configured parameters; what relabelling left in __param_* replaces the first value.
std::string query_string(const ScrapeConfig& job, const LabelsBuilder& labels) {
  std::map<std::string, std::vector<std::string>> params;
  for (const auto& [name, values] : job.params) params[name] = values;
  for (const auto& [name, value] : labels.items()) {
    if (!name.starts_with(kParamPrefix)) continue;
    auto& values = params[name.substr(kParamPrefix.size())];
    values.empty() ? values.push_back(value) : void(values.front() = value);
  }
  std::string query;
  for (const auto& [name, values] : params) {
    for (const std::string& value : values) {
      query += fmt::format("{}{}={}", query.empty() ? "?" : "&", query_escape(name),
                           query_escape(value));
    }
  }
  return query;
}

std::string target_url(const ScrapeConfig& job, const LabelsBuilder& labels) {
  std::string path(labels.get(kPath));
  if (!path.starts_with('/')) path.insert(0, "/");
  std::string query = query_string(job, labels);
  if (path.find('?') != std::string::npos && !query.empty()) query[0] = '&';
  return fmt::format("{}://{}{}{}", labels.get(kScheme), labels.get(kAddress), path, query);
}

Status check_address(std::string_view address) {
  if (address.empty()) return Status::invalid("no address");
  // Somebody wrote a URL.
  if (address.find('/') != std::string_view::npos) {
    return Status::invalid(fmt::format("{} is not a valid hostname", quote(address)));
  }
  return {};
}

Labels public_labels(const LabelsBuilder& labels) {
  LabelsBuilder shown;
  for (const auto& [name, value] : labels.items()) {
    if (!name.starts_with(kReserved)) shown.set(name, value);
  }
  set_absent(shown, "instance", labels.get(kAddress));
  return shown.build();
}

uint64_t identity_hash(const Labels& labels, std::string_view url) {
  uint64_t hash = labels.fingerprint();
  for (const char c : url)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;  // FNV-1a
  return hash;
}

}  // namespace

std::string_view health_name(Health health) {
  switch (health) {
    case Health::Unknown:
      return "unknown";
    case Health::Up:
      return "up";
    case Health::Down:
      return "down";
  }
  return "unknown";
}

Result<PopulateResult> populate_target(const ScrapeConfig& job, const Relabeler& relabel,
                                       const std::map<std::string, std::string>& target_labels,
                                       const std::map<std::string, std::string>& group_labels) {
  LabelsBuilder labels = discovered_labels(job, target_labels, group_labels);
  PopulateResult result{std::nullopt, labels.build()};
  if (!relabel.apply(labels)) return result;
  VAGT_CHECK_OK(check_address(labels.get(kAddress)));
  TargetIdentity identity;
  VAGT_TRY(identity.interval, read_period(labels, kInterval, "interval"));
  VAGT_TRY(identity.timeout, read_period(labels, kTimeout, "timeout"));
  if (identity.timeout > identity.interval) {
    return Status::invalid(
        fmt::format("scrape timeout cannot be greater than scrape interval ({} > {})",
                    quote(labels.get(kTimeout)), quote(labels.get(kInterval))));
  }
  for (const auto& [name, value] : labels.items()) {
    if (!is_valid_utf8(value)) {
      return Status::invalid(
          fmt::format("invalid label value for {}: {}", quote(name), quote(value)));
    }
  }
  identity.discovered = result.discovered;
  identity.labels = public_labels(labels);
  identity.url = target_url(job, labels);
  identity.hash = identity_hash(identity.labels, identity.url);
  result.target = std::move(identity);
  return result;
}

}  // namespace vagt::scrape
