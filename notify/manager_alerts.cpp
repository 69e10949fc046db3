// Alerts in, and questions about them out. What is long is done on the caller's thread: posts are
// completed there and handed over in pieces, answers are made from a snapshot.
#include <algorithm>

#include "notify/manager_impl.h"

namespace vagt::notify {
namespace {

// A turn over so many takes some milliseconds, and a batch of this size is never cut.
constexpr size_t kAlertsInOneTurn = 1000;

PostedAlert from_rule(const Alert& alert) {
  PostedAlert posted;
  posted.labels = alert.labels;
  posted.annotations = alert.annotations;
  posted.starts_at = alert.fired_at.value_or(alert.active_at);
  posted.ends_at = alert.resolved_at.value_or(alert.valid_until);
  posted.generator_url = alert.generator_url;
  return posted;
}

}  // namespace

void NotifyManager::publish(std::span<const Alert> alerts) {
  Impl& m = *impl_;
  m.inbox->post([&m, copy = std::vector<Alert>(alerts.begin(), alerts.end())] {
    const Timestamp now = m.now();
    std::vector<NotifyAlert> known;
    for (const Alert& alert : copy) {
      if (alert.state == AlertState::Pending) continue;
      known.push_back(complete_alert(from_rule(alert), now, Duration(0)));
    }
    m.dispatcher.put(std::move(known), now);
  });
}

Status NotifyManager::put_alerts(std::vector<PostedAlert> alerts) {
  Impl& m = *impl_;
  const auto config = m.config();
  const Duration timeout =
      config != nullptr ? config->config.resolve_timeout : std::chrono::minutes(5);
  const Timestamp now = m.options.clock->now();
  std::string complaints;
  std::vector<NotifyAlert> good;
  good.reserve(alerts.size());
  for (PostedAlert& posted : alerts) {
    NotifyAlert alert = complete_alert(std::move(posted), now, timeout);
    if (const Status fault = check_alert(alert); !fault.ok()) {
      complaints += (complaints.empty() ? "" : "; ") + fault.message();
      m.metrics.invalid.add();
      continue;
    }
    good.push_back(std::move(alert));
  }
  auto written = std::make_shared<std::promise<void>>();
  auto on_disk = written->get_future();
  for (size_t begin = 0; begin == 0 || begin < good.size(); begin += kAlertsInOneTurn) {
    const size_t end = std::min(good.size(), begin + kAlertsInOneTurn);
    m.call([&] {
      m.dispatcher.put({std::make_move_iterator(good.begin() + static_cast<ptrdiff_t>(begin)),
                        std::make_move_iterator(good.begin() + static_cast<ptrdiff_t>(end))},
                       m.now());
      // Batches are written in order: the last one's answer is everyone's. A disk that is full does
      // not stop paging: the alert is taken either way.
      if (end == good.size())
        m.on_commit.push_back([written](const Status&) { written->set_value(); });
    });
  }
  on_disk.wait();
  return complaints.empty() ? Status() : Status::invalid(complaints);
}

std::vector<AlertView> NotifyManager::alerts(const AlertQuery& query) {
  const auto snapshot = impl_->call([this] { return impl_->dispatcher.snapshot(); });
  return snapshot->alert_views(query, impl_->options.clock->now());
}

std::vector<GroupView> NotifyManager::groups(const AlertQuery& query) {
  const auto snapshot = impl_->call([this] { return impl_->dispatcher.snapshot(); });
  return snapshot->group_views(query, impl_->options.clock->now());
}

std::vector<DeliveryView> NotifyManager::recent_deliveries() {
  return impl_->call([this] { return impl_->dispatcher.recent(); });
}

std::vector<ReceiverView> NotifyManager::receivers(std::span<const Matcher> matchers) {
  std::vector<ReceiverView> out;
  const auto config = impl_->config();
  if (config == nullptr) return out;
  for (const ReceiverConfig& receiver : config->config.receivers) {
    ReceiverView view{receiver.name, receiver.labels};
    view.labels["name"] = receiver.name;
    if (matches_all(matchers, Labels::from_map(view.labels))) out.push_back(std::move(view));
  }
  return out;
}

std::string NotifyManager::config_text() {
  const auto config = impl_->config();
  return config == nullptr ? std::string() : config->config.text;
}

std::vector<std::string> NotifyManager::route(const Labels& labels) {
  std::vector<std::string> out;
  const auto config = impl_->config();
  if (config == nullptr) return out;
  for (const Route* route : config->root->match(labels)) out.push_back(route->options().receiver);
  return out;
}

}  // namespace vagt::notify
