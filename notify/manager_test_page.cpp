// A test page: sent to one receiver now, its providers' answers waited for.
#include "notify/manager_impl.h"

namespace vagt::notify {

Result<std::vector<NotifyManager::TestOutcome>> NotifyManager::send_test(
    const std::string& receiver, PostedAlert alert, Duration timeout) {
  struct Shared {
    base::Mutex mutex;
    base::CondVar changed;
    std::vector<TestOutcome>
        outcomes;  // guarded by mutex; the waiting lock is one clang cannot follow
  };
  Impl& m = *impl_;
  auto shared = std::make_shared<Shared>();
  size_t expected = 0;
  const Status started = m.call([&]() -> Status {
    if (!m.dispatcher.has_receiver(receiver)) return Status::not_found("no receiver " + receiver);
    expected = m.dispatcher.config()->receivers.at(receiver).integrations.size();
    const NotifyAlert test = complete_alert(std::move(alert), m.now(), std::chrono::minutes(5));
    m.dispatcher.send_test(
        receiver, test, m.now(), timeout, [shared](std::string integration, DeliveryResult result) {
          std::string detail = result.sent ? "accepted by the provider" : result.detail;
          for (const auto& problem : result.problems) detail += "; " + problem;
          base::MutexLock lock(shared->mutex);
          shared->outcomes.push_back({std::move(integration), result.sent, std::move(detail)});
          shared->changed.notify_all();
        });
    return {};
  });
  VAGT_CHECK_OK(started);
  std::unique_lock<base::Mutex> lock(shared->mutex);
  shared->changed.wait_for(lock, timeout + std::chrono::seconds(2),
                           [&] { return shared->outcomes.size() >= expected; });
  return shared->outcomes;
}

}  // namespace vagt::notify
