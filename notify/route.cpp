#include "notify/route.h"

#include "notify/matchers.h"

namespace vagt::notify {

std::string label_set_text(const Labels& labels) {
  std::string out = "{";
  for (const Label& label : labels.items()) {
    if (out.size() > 1) out += ", ";
    out.append(label.name).append("=").append(quote(label.value));
  }
  return out + "}";
}

std::unique_ptr<const Route> Route::build(const RouteConfig& root) {
  return make(root, nullptr, 0);
}

std::unique_ptr<Route> Route::make(const RouteConfig& config, const Route* parent,
                                   size_t position) {
  std::unique_ptr<Route> route(new Route());
  if (parent != nullptr) route->options_ = parent->options_;
  RouteOptions& o = route->options_;
  if (!config.receiver.empty()) o.receiver = config.receiver;
  if (config.group_by) {
    o.group_by_all = *config.group_by == std::vector<std::string>{"..."};
    o.group_by = o.group_by_all ? std::vector<std::string>() : *config.group_by;
  }
  o.group_wait = config.group_wait.value_or(o.group_wait);
  o.group_interval = config.group_interval.value_or(o.group_interval);
  o.repeat_interval = config.repeat_interval.value_or(o.repeat_interval);
  o.mute_time_intervals = config.mute_time_intervals;
  o.active_time_intervals = config.active_time_intervals;
  for (const auto& [name, text] : config.labels) o.labels[name] = text;
  route->matchers_ = config.matchers;
  sort_matchers(route->matchers_);
  route->continue_ = config.continue_matching;
  const std::string own = matchers_text(route->matchers_);
  route->key_ = parent == nullptr ? own : parent->key_ + "/" + own;
  route->id_ = parent == nullptr ? own : parent->id_ + "/" + own + "/" + std::to_string(position);
  for (size_t i = 0; i < config.routes.size(); ++i) {
    route->routes_.push_back(make(config.routes[i], route.get(), i));
  }
  return route;
}

void Route::collect(const Labels& labels, std::vector<const Route*>& out) const {
  const size_t before = out.size();
  for (const auto& child : routes_) {
    if (!matches_all(child->matchers_, labels)) continue;
    child->collect(labels, out);
    if (!child->continue_) break;
  }
  if (out.size() == before) out.push_back(this);
}

std::vector<const Route*> Route::match(const Labels& labels) const {
  std::vector<const Route*> out;
  if (matches_all(matchers_, labels)) collect(labels, out);
  return out;
}

Labels Route::group_labels(const Labels& alert) const {
  if (options_.group_by_all) return alert;
  LabelsBuilder builder;
  for (const std::string& name : options_.group_by) {
    if (const auto value = alert.get(name); !value.empty()) builder.set(name, value);
  }
  return builder.build();
}

}  // namespace vagt::notify
