// Silences through the manager: a change is answered once it is on disk.
#include "notify/manager_impl.h"

namespace vagt::notify {

std::vector<Silence> NotifyManager::silences() {
  const auto all = impl_->call([this] { return impl_->dispatcher.silence_snapshot(); });
  return all->list(impl_->options.clock->now());
}

std::optional<Silence> NotifyManager::silence(const std::string& id) {
  const auto all = impl_->call([this] { return impl_->dispatcher.silence_snapshot(); });
  const Silence* found = all->find(id);
  return found == nullptr ? std::nullopt : std::optional<Silence>(*found);
}

Result<std::string> NotifyManager::put_silence(Silence silence) {
  Impl& m = *impl_;
  auto written = std::make_shared<std::promise<Status>>();
  auto on_disk = written->get_future();
  auto id = m.call([&]() -> Result<std::string> {
    if (silence.starts_at >= silence.ends_at) {
      return Status::invalid("Failed to create silence: start time must be before end time");
    }
    if (silence.ends_at < m.now()) {
      return Status::invalid("Failed to create silence: end time can't be in the past");
    }
    auto made = m.dispatcher.put_silence(std::move(silence), m.now());
    if (made.ok()) m.on_commit.push_back([written](const Status& s) { written->set_value(s); });
    return made;
  });
  if (!id.ok()) return id;
  if (Status status = on_disk.get(); !status.ok()) {
    return std::move(status).at("the silence holds but is not on disk yet");
  }
  return id;
}

Status NotifyManager::expire_silence(const std::string& id) {
  Impl& m = *impl_;
  auto written = std::make_shared<std::promise<Status>>();
  auto on_disk = written->get_future();
  const Status done = m.call([&] {
    Status status = m.dispatcher.expire_silence(id, m.now());
    if (status.ok()) m.on_commit.push_back([written](const Status& s) { written->set_value(s); });
    return status;
  });
  if (!done.ok()) return done;
  if (Status status = on_disk.get(); !status.ok()) {
    return std::move(status).at("the silence has ended but that is not on disk yet");
  }
  return {};
}

}  // namespace vagt::notify
