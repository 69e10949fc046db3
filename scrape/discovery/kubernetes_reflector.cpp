#include "scrape/discovery/kubernetes_reflector.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "net/url.h"

namespace vagt::scrape::kubernetes {
namespace {

constexpr size_t kMaxLine = 16u << 20;
// A watch that ends sooner and without an event is no success.
constexpr Duration kShortWatch = std::chrono::seconds(1);
constexpr int kGone = 410;

// The API's own words, where it gave some.
Status status_of(const net::HttpResponse& answer, Resource resource) {
  return {Code::Unavailable,
          fmt::format("{}: the API server answered HTTP status {}: {}", resource_name(resource),
                      answer.status, answer.body.substr(0, 200))};
}

}  // namespace

std::string Reflector::path() const {
  std::string path = resource_path(selection_.resource, selection_.name_space);
  if (is_watching()) {
    path += fmt::format("?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
                        std::max<int64_t>(options_.watch_time.count() / 1000, 1),
                        net::url_encode(version_));
  } else {
    path += fmt::format("?limit={}", options_.page_size);
    if (!next_.empty()) path += "&continue=" + net::url_encode(next_);
  }
  if (!selection_.label.empty()) path += "&labelSelector=" + net::url_encode(selection_.label);
  if (!selection_.field.empty()) path += "&fieldSelector=" + net::url_encode(selection_.field);
  return path;
}

void Reflector::start_over() { version_.clear(), next_.clear(), pending_.clear(), line_.clear(); }

void Reflector::fail(Status status, Steady now) {
  status_ = std::move(status);
  backoff_ = std::clamp(2 * backoff_, options_.backoff, options_.longest_backoff);
  ask_at_ = now + backoff_;
  line_.clear();
}

bool Reflector::take_piece(std::string_view piece, Steady now, Changes& changes) {
  // What stood there before has no line end.
  size_t from = 0, looked_at = line_.size();
  line_ += piece;
  Status status;
  for (size_t end; status.ok() && (end = line_.find('\n', looked_at)) != std::string::npos;) {
    const std::string_view line = std::string_view(line_).substr(from, end - from);
    if (line.find_first_not_of(" \r\t") != std::string_view::npos)
      status = take_line(line, changes);
    from = looked_at = end + 1;
  }
  if (status.ok()) line_.erase(0, from);
  if (status.ok() && line_.size() > kMaxLine)
    status = {Code::LimitExceeded, "a watch event of more than 16 MiB"};
  if (status.ok()) return true;
  // NotFound: the server says that it remembers no such version. Ask for all anew, at once the
  // first time.
  const bool is_gone = status.code() == Code::NotFound;
  start_over();
  fail(std::move(status).at(resource_name(selection_.resource)), now);
  if (is_gone && has_events_) ask_at_ = now;
  has_events_ = may_be_short_ = false;
  return false;
}

Status Reflector::take_line(std::string_view line, Changes& changes) {
  VAGT_TRY(const WatchEvent event, parse_event(selection_.resource, line));
  using Type = WatchEvent::Type;
  if (event.type == Type::Error) {
    return {event.code == kGone ? Code::NotFound : Code::Unavailable,
            fmt::format("the watch ended with code {}: {}", event.code, event.message)};
  }
  has_events_ = true;
  backoff_ = Duration(0);
  if (!event.object->meta.version.empty()) version_ = event.object->meta.version;
  const std::string key = event.object->key();
  switch (event.type) {
    case Type::Added:
      ++changes.added;
      store_[key] = event.object;
      break;
    case Type::Modified:
      ++changes.modified;
      store_[key] = event.object;
      break;
    case Type::Deleted:
      ++changes.deleted;
      store_.erase(key);
      break;
    case Type::Bookmark:
    case Type::Error:
      break;
  }
  return {};
}

void Reflector::take_answer(const Result<net::HttpResponse>& answer, Steady asked, Steady now,
                            Changes& changes) {
  Status status = answer.status();
  const bool is_gone = answer && answer->status == kGone;
  const bool was_watch = is_watching();
  if (status.ok() && answer->status != 200) status = status_of(*answer, selection_.resource);
  if (status.ok() && !was_watch) status = take_page(answer->body, changes);
  const bool has_rest = line_.find_first_not_of(" \r\n\t") != std::string::npos;
  if (status.ok() && was_watch && has_rest) {
    status = take_line(line_, changes).at(resource_name(selection_.resource));
    if (!status.ok()) start_over();
  }
  if (!status.ok()) {
    // A version or a page's token that is too old is of no use; a watch that broke off is resumed.
    if (is_gone || !was_watch) start_over();
    fail(std::move(status), now);
    return;
  }
  status_ = {};
  ask_at_ = now;
  line_.clear();
  const bool was_futile = was_watch && !has_events_ && !may_be_short_ && now - asked < kShortWatch;
  if (was_futile) {
    backoff_ = std::clamp(2 * backoff_, options_.backoff, options_.longest_backoff);
    ask_at_ = now + backoff_;
  } else {
    backoff_ = Duration(0);
  }
  has_events_ = false;
  may_be_short_ = !was_watch;
}

Status Reflector::take_page(std::string_view body, Changes& changes) {
  VAGT_TRY(ObjectList list, parse_list(selection_.resource, body));
  pending_.insert(pending_.end(), list.objects.begin(), list.objects.end());
  next_ = std::move(list.next);
  if (!list.version.empty()) pending_version_ = std::move(list.version);
  if (!next_.empty()) return {};
  if (pending_version_.empty()) return {Code::Corruption, "a list without a resourceVersion"};
  replace(changes);
  version_ = pending_version_;
  is_synced_ = true;
  return {};
}

// The list is complete: what it does not name is gone.
void Reflector::replace(Changes& changes) {
  std::set<std::string> named;
  for (const ObjectPtr& object : pending_) {
    const auto [at, is_new] = store_.try_emplace(object->key(), object);
    if (is_new) {
      ++changes.added;
    } else if (at->second->meta.version != object->meta.version ||
               at->second->meta.uid != object->meta.uid) {
      ++changes.modified;
      at->second = object;
    }
    named.insert(object->key());
  }
  const std::string& ours = selection_.name_space;
  changes.deleted += std::erase_if(store_, [&](const auto& item) {
    const bool is_ours = ours.empty() || item.second->meta.name_space == ours;
    return is_ours && !named.contains(item.first);
  });
  pending_.clear();
}

}  // namespace vagt::scrape::kubernetes
