#include "cli/lint_online.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <numeric>
#include <set>

#include "cli/prometheus_api.h"
#include "query/functions.h"
#include "query/parse.h"
#include "rules/lint/selectors.h"
#include "rules/lint/walk.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;
using Names = std::set<std::string, std::less<>>;

// Metrics that servers have renamed: the name that rules have, the name now.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"},
    {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
    {"vllm:time_per_output_token_seconds_bucket", "vllm:inter_token_latency_seconds_bucket"},
    {"vllm:inter_token_latency_seconds_bucket", "vllm:time_per_output_token_seconds_bucket"},
    {"node_memory_MemAvailable", "node_memory_MemAvailable_bytes"},
    {"node_cpu", "node_cpu_seconds_total"},
    {"node_filesystem_avail", "node_filesystem_avail_bytes"},
};

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t before = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = before + (a[i - 1] == b[j - 1] ? 0 : 1);
      before = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// The name that `metric` probably has now; "" when none comes close.
std::string likely_name(std::string_view metric, const Names& names) {
  for (const auto& [was, is] : kRenamed) {
    if (was == metric && names.contains(is)) return std::string(is);
  }
  std::string best;
  size_t least = metric.size() / 4 + 1;
  for (const std::string& name : names) {
    const size_t longer = std::max(name.size(), metric.size());
    if (longer - std::min(name.size(), metric.size()) >= least) continue;
    const size_t d = distance(metric, name);
    if (d < least) least = d, best = name;
  }
  return best;
}

class Server {
 public:
  static Result<Server> connect(Context& context, const std::string& url) {
    VAGT_TRY(PrometheusApi api, PrometheusApi::connect(context, url));
    Server server(std::move(api));
    VAGT_TRY(const json::value names, server.api_.get("/api/v1/label/__name__/values", {}));
    if (const auto* array = names.if_array()) {
      for (const json::value& name : *array) {
        if (name.is_string()) server.names_.emplace(std::string_view(name.as_string()));
      }
    }
    return server;
  }
  const Names& names() const { return names_; }

  // Whether the selector found anything within the last hour.
  Result<bool> has_data(const std::string& selector) {
    const auto known = answers_.find(selector);
    if (known != answers_.end()) return known->second;
    VAGT_TRY(
        const json::value data,
        api_.post("/api/v1/query", {{"query", "count(last_over_time(" + selector + "[1h]))"}}));
    const auto* object = data.if_object();
    const auto* result = object != nullptr ? object->if_contains("result") : nullptr;
    const auto* rows = result != nullptr ? result->if_array() : nullptr;
    if (rows == nullptr) return Status(Code::Unavailable, "the answer holds no result");
    return answers_[selector] = !rows->empty();
  }

 private:
  explicit Server(PrometheusApi api) : api_(std::move(api)) {}
  PrometheusApi api_;
  Names names_;
  std::map<std::string, bool> answers_;
};

std::string braces(const std::vector<Matcher>& matchers) {
  std::string text = "{";
  for (const Matcher& m : matchers) text += (text.size() > 1 ? ", " : "") + m.to_string();
  return text + "}";
}

// Why a selector finds nothing.
Result<std::string> reason(Server& server, const query::VectorSelector& selector) {
  const std::string metric(rules::metric_name(selector));
  if (metric.empty()) return std::string("it selects no series");
  if (!server.names().contains(metric)) {
    const std::string now = likely_name(metric, server.names());
    return now.empty() ? fmt::format("there is no metric {}", metric)
                       : fmt::format("there is no metric {}; did you mean {}?", metric, now);
  }
  for (const Matcher& m : selector.matchers) {
    if (m.name() == "__name__") continue;
    VAGT_TRY(const bool found, server.has_data(braces({Matcher::equal("__name__", metric), m})));
    if (!found) return fmt::format("{} has no series with {}", metric, m.to_string());
  }
  return fmt::format("{} has no series that meets all conditions", metric);
}

// Selectors that are there to find something; absent() is about those that do not.
void selectors_in(const query::Expr& expr, std::vector<const query::Expr*>& out) {
  const auto* call = std::get_if<query::Call>(&expr.node);
  if (call != nullptr && call->function->name.starts_with("absent")) return;
  if (std::holds_alternative<query::VectorSelector>(expr.node)) out.push_back(&expr);
  rules::each_child(expr, [&](const query::Expr& child) { selectors_in(child, out); });
}

// Names that the file's own recording rules write.
Names recorded_in(const rules::RuleFile& file) {
  Names names;
  for (const auto& group : file.groups) {
    for (const auto& rule : group.rules) {
      if (std::holds_alternative<rules::RecordRule>(rule)) names.insert(rules::rule_name(rule));
    }
  }
  return names;
}

Status look_for_data(Server& server, const rules::RuleFile& file, const rules::RuleGroup& group,
                     const rules::Rule& rule, const Names& recorded,
                     std::vector<rules::LintNote>& notes) {
  std::vector<const query::Expr*> selectors;
  selectors_in(rules::rule_expr(rule), selectors);
  std::set<std::string> seen;
  for (const query::Expr* expr : selectors) {
    const auto& selector = std::get<query::VectorSelector>(expr->node);
    const std::string text = braces(selector.matchers);
    if (recorded.contains(rules::metric_name(selector)) || !seen.insert(text).second) continue;
    VAGT_TRY(const bool found, server.has_data(text));
    if (found) continue;
    VAGT_TRY(std::string why, reason(server, selector));
    notes.push_back({"no-data", file.path, group.name, rules::rule_name(rule),
                     rules::rule_position(rule), query::print_expr(*expr), std::move(why), ""});
  }
  return {};
}

}  // namespace

Result<std::map<std::string, std::string, std::less<>>> metric_types(Context& context,
                                                                     const std::string& url) {
  VAGT_TRY(PrometheusApi api, PrometheusApi::connect(context, url));
  VAGT_TRY(const json::value data, api.get("/api/v1/metadata", {}));
  std::map<std::string, std::string, std::less<>> types;
  const auto* metrics = data.if_object();
  if (metrics == nullptr) return Status(Code::Unavailable, "the answer holds no metadata");
  for (const auto& metric : *metrics) {
    const auto* entries = metric.value().if_array();
    const auto* first =
        entries != nullptr && !entries->empty() ? entries->at(0).if_object() : nullptr;
    const auto* type = first != nullptr ? first->if_contains("type") : nullptr;
    if (type == nullptr || !type->is_string()) continue;
    types.emplace(metric.key(), std::string_view(type->as_string()));
  }
  return types;
}

Result<std::vector<rules::LintNote>> notes_on_data(Context& context, const std::string& url,
                                                   const rules::RuleFile& file) {
  VAGT_TRY(Server server, Server::connect(context, url));
  std::vector<rules::LintNote> notes;
  const Names recorded = recorded_in(file);
  for (const auto& group : file.groups) {
    for (const auto& rule : group.rules)
      VAGT_CHECK_OK(look_for_data(server, file, group, rule, recorded, notes));
  }
  return notes;
}

Result<std::vector<RuleCost>> rule_costs(Context& context, const std::string& url,
                                         const rules::RuleFile& file) {
  VAGT_TRY(PrometheusApi api, PrometheusApi::connect(context, url));
  std::vector<RuleCost> costs;
  for (const auto& group : file.groups) {
    for (const auto& rule : group.rules) {
      VAGT_TRY(const json::value data,
               api.post("/api/v1/query",
                        {{"query", query::print_expr(rules::rule_expr(rule))}, {"stats", "all"}}));
      const auto number = [&](const char* pointer) {
        boost::system::error_code error;
        const json::value* value = data.find_pointer(pointer, error);
        return value != nullptr && value->is_number() ? value->to_number<double>() : 0.0;
      };
      costs.push_back({group.name, rules::rule_name(rule),
                       number("/stats/samples/totalQueryableSamples"),
                       number("/stats/timings/evalTotalTime")});
    }
  }
  std::stable_sort(costs.begin(), costs.end(),
                   [](const RuleCost& a, const RuleCost& b) { return a.seconds > b.seconds; });
  return costs;
}

}  // namespace vagt::cli
