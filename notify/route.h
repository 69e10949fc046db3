// The routing tree: which receivers an alert goes to, and how each of them wants it grouped.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/time.h"

namespace vagt::notify {

// A node as the file has it; what is not given is inherited.
struct RouteConfig {
  std::string receiver;
  std::optional<std::vector<std::string>> group_by;  // names; {"..."} is every label
  std::vector<Matcher> matchers;                     // match, match_re and matchers together
  std::vector<std::string> mute_time_intervals, active_time_intervals;
  bool continue_matching = false;
  std::optional<Duration> group_wait, group_interval, repeat_interval;
  std::map<std::string, std::string> labels;  // templates
  std::vector<RouteConfig> routes;
};

struct RouteOptions {
  std::string receiver;
  std::vector<std::string> group_by;
  bool group_by_all = false;
  Duration group_wait = std::chrono::seconds(30);
  Duration group_interval = std::chrono::minutes(5);
  Duration repeat_interval = std::chrono::hours(4);
  std::vector<std::string> mute_time_intervals, active_time_intervals;  // not inherited
  std::map<std::string, std::string> labels;
};

class Route {
 public:
  // The tree is immutable and outlives whoever holds a pointer into it.
  static std::unique_ptr<const Route> build(const RouteConfig& root);

  const RouteOptions& options() const { return options_; }
  const std::vector<Matcher>& matchers() const { return matchers_; }
  const std::vector<std::unique_ptr<const Route>>& routes() const { return routes_; }
  bool continue_matching() const { return continue_; }

  // The nodes that take the alert, in order; a receiver may come up twice. Empty: this node does
  // not match.
  std::vector<const Route*> match(const Labels& labels) const;
  // `{}/{severity="page"}`: the matchers of all nodes from the root.
  const std::string& key() const { return key_; }
  // The key with the child's position at each level: unique in the tree, on disk.
  const std::string& id() const { return id_; }
  // The labels an alert is grouped by here.
  Labels group_labels(const Labels& alert) const;

 private:
  Route() = default;
  static std::unique_ptr<Route> make(const RouteConfig& config, const Route* parent,
                                     size_t position);
  void collect(const Labels& labels, std::vector<const Route*>& out) const;
  RouteOptions options_;
  std::vector<Matcher> matchers_;
  std::vector<std::unique_ptr<const Route>> routes_;
  bool continue_ = false;
  std::string key_, id_;
};

// `{a="b", c="d"}` as Go prints a model.LabelSet, sorted by name.
std::string label_set_text(const Labels& labels);

}  // namespace vagt::notify
