#include "net/server/connection.h"

namespace vagt::net {

ConnectionList::Entry ConnectionList::add() {
  base::MutexLock lock(mutex_);
  return list_.emplace(list_.end());
}

void ConnectionList::name(Entry entry, std::weak_ptr<Connection> connection) {
  base::MutexLock lock(mutex_);
  *entry = std::move(connection);
}

void ConnectionList::remove(Entry entry) {
  std::vector<std::function<void()>> waiting;
  {
    base::MutexLock lock(mutex_);
    list_.erase(entry);
    waiting.swap(on_room_);
  }
  removed_.notify_all();
  for (const auto& call : waiting) call();
}

void ConnectionList::move_to_end(Entry entry) {
  base::MutexLock lock(mutex_);
  list_.splice(list_.end(), list_, entry);
}

std::vector<std::shared_ptr<Connection>> ConnectionList::all() const {
  std::vector<std::shared_ptr<Connection>> out;
  base::MutexLock lock(mutex_);
  out.reserve(list_.size());
  for (const auto& weak : list_) {
    if (auto connection = weak.lock()) out.push_back(std::move(connection));
  }
  return out;
}

std::shared_ptr<Connection> ConnectionList::longest_idle() const {
  for (auto& connection : all()) {
    if (connection->is_idle()) return connection;
  }
  return nullptr;
}

bool ConnectionList::wait_until_empty(Duration grace) const VAGT_NO_THREAD_ANALYSIS {
  std::unique_lock<base::Mutex> lock(mutex_);
  const auto deadline = std::chrono::steady_clock::now() + grace;
  while (!list_.empty()) {  // no predicate: the analysis would look into the lambda
    if (removed_.wait_until(lock, deadline) == std::cv_status::timeout) return list_.empty();
  }
  return true;
}

bool ConnectionList::wait_for_room(size_t limit, std::function<void()> call) {
  base::MutexLock lock(mutex_);
  if (list_.size() < limit) return false;
  on_room_.push_back(std::move(call));
  return true;
}

void ConnectionList::forget_waiting() {
  base::MutexLock lock(mutex_);
  on_room_.clear();
}

bool ConnectionList::is_awaited() const {
  base::MutexLock lock(mutex_);
  return !on_room_.empty();
}

}  // namespace vagt::net
