// A Kubernetes API server on loopback: lists in pages, watches as chunked streams, and faults on
// request.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "tests/support/script_server.h"

namespace vagt::test {

class FakeCluster {
 public:
  enum class Mood { Fine, Refusing, Gone, Hanging, Lying, Dropping };

  FakeCluster() : server_([this](Wire& wire) { serve(wire); }) {}
  ~FakeCluster() { stop(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_.port()); }

  // `path` as "/api/v1/pods"; `object` without resourceVersion in its metadata: "{...}".
  void put(const std::string& path, const std::string& key, const std::string& object) {
    base::MutexLock lock(mutex_);
    const bool is_new = !objects_[path].contains(key);
    const std::string text = versioned(object, ++version_);
    objects_[path][key] = text;
    add_event(path, is_new ? "ADDED" : "MODIFIED", text);
  }
  void remove(const std::string& path, const std::string& key) {
    base::MutexLock lock(mutex_);
    const std::string text = objects_[path][key];
    objects_[path].erase(key), ++version_;
    add_event(path, "DELETED", text);
  }
  // Changes that no watch hears of, as when it was down.
  void remove_quietly(const std::string& path, const std::string& key) {
    base::MutexLock lock(mutex_);
    objects_[path].erase(key), ++version_;
  }
  // Sent as it is to the watches of `path`.
  void say(const std::string& path, const std::string& line) {
    base::MutexLock lock(mutex_);
    events_.push_back({path, line, ++version_});
    changed_.notify_all();
  }
  // Returns the version it names.
  std::string bookmark(const std::string& path) {
    const uint64_t version = [this] {
      base::MutexLock lock(mutex_);
      return version_ += 10;
    }();
    say(path,
        fmt::format(
            R"({{"type":"BOOKMARK","object":{{"kind":"X","metadata":{{"resourceVersion":"{}"}}}}}})",
            version));
    return fmt::format("{}", version);
  }
  // All watches end: cleanly, or in the middle of the stream.
  void end_watches(bool is_clean) {
    base::MutexLock lock(mutex_);
    ++generation_, is_clean_ = is_clean;
    changed_.notify_all();
  }
  void set_mood(Mood mood) {
    base::MutexLock lock(mutex_);
    mood_ = mood;
    changed_.notify_all();
  }
  std::vector<std::string> requests() {
    base::MutexLock lock(mutex_);
    return requests_;
  }
  size_t count(const std::string& part) {
    size_t n = 0;
    for (const auto& request : requests()) n += request.find(part) != std::string::npos;
    return n;
  }
  void stop() {
    base::MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }

 private:
  struct Event {
    std::string path, line;
    uint64_t version = 0;
  };
  static std::string versioned(std::string object, uint64_t version) {
    const size_t at = object.find("\"metadata\":{") + 12;
    return object.insert(at, fmt::format("\"resourceVersion\":\"{}\",", version));
  }
  void add_event(const std::string& path, const std::string& type, const std::string& object)
      VAGT_REQUIRES(mutex_) {
    events_.push_back(
        {path, fmt::format("{{\"type\":\"{}\",\"object\":{}}}", type, object), version_});
    changed_.notify_all();
  }
  void serve(Wire& wire) {
    while (true) {
      const std::string head = wire.read_until("\r\n\r\n");
      if (!head.ends_with("\r\n\r\n")) return;
      Mood mood;
      int generation = 0;
      {
        base::MutexLock lock(mutex_);
        requests_.push_back(head);
        mood = mood_, generation = generation_;
      }
      const std::string target = head.substr(4, head.find(' ', 4) - 4);
      const std::string path = target.substr(0, target.find('?'));
      if (mood == Mood::Dropping) return;
      if (mood == Mood::Hanging) {
        wait_for_other_mood(Mood::Hanging);
        return;
      }
      if (mood == Mood::Refusing) {
        if (!wire.send(http_answer(403, R"({"kind":"Status","message":"forbidden"})"))) return;
        continue;
      }
      if (mood == Mood::Lying) {
        if (!wire.send(http_answer(200, "<html>login</html>"))) return;
        continue;
      }
      const bool is_watch = target.find("watch=true") != std::string::npos;
      if (mood == Mood::Gone && is_watch) {
        if (!wire.send(http_answer(410, R"({"kind":"Status","code":410,"message":"too old"})")))
          return;
        continue;
      }
      if (is_watch ? !watch(wire, path, target, generation) : !wire.send(list(path, target)))
        return;
    }
  }
  void wait_for_other_mood(Mood mood) VAGT_NO_THREAD_ANALYSIS {
    std::unique_lock<base::Mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10),
                      [&]() VAGT_NO_THREAD_ANALYSIS { return is_stopping_ || mood_ != mood; });
  }
  static size_t number_after(const std::string& text, const std::string& word) {
    const size_t at = text.find(word);
    return at == std::string::npos ? 0
                                   : std::strtoull(text.c_str() + at + word.size(), nullptr, 10);
  }
  std::string list(const std::string& path, const std::string& target) {
    base::MutexLock lock(mutex_);
    const size_t limit = number_after(target, "limit="), from = number_after(target, "continue=");
    std::string items;
    size_t at = 0, next = 0;
    for (const auto& [key, object] : objects_[path]) {
      if (at >= from && (limit == 0 || at < from + limit))
        items += (items.empty() ? "" : ",") + object;
      if (++at == from + limit && limit != 0 && at < objects_[path].size()) next = at;
    }
    return http_answer(
        200,
        fmt::format(R"({{"kind":"List","metadata":{{"resourceVersion":"{}"{}}},"items":[{}]}})",
                    version_, next == 0 ? "" : fmt::format(",\"continue\":\"{}\"", next), items));
  }
  // False: the connection is to be closed. `generation`: as the request was met, so that an end
  // called for since then ends this watch too.
  bool watch(Wire& wire, const std::string& path, const std::string& target,
             int generation) VAGT_NO_THREAD_ANALYSIS {
    const uint64_t from = number_after(target, "resourceVersion=");
    if (!wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                   "Content-Type: application/json\r\n\r\n"))
      return false;
    std::unique_lock<base::Mutex> lock(mutex_);
    for (size_t at = 0;;) {
      for (; at < events_.size(); ++at) {
        if (events_[at].path != path || events_[at].version <= from) continue;
        // In two pieces: lines need not come whole.
        const std::string text = events_[at].line + "\n";
        const size_t half = text.size() / 2;
        for (const std::string& piece : {text.substr(0, half), text.substr(half)})
          if (!wire.send(fmt::format("{:x}\r\n{}\r\n", piece.size(), piece))) return false;
      }
      changed_.wait_for(lock, std::chrono::seconds(5), [&]() VAGT_NO_THREAD_ANALYSIS {
        return is_stopping_ || generation_ != generation || at < events_.size();
      });
      if (is_stopping_) return false;
      if (generation_ == generation || at < events_.size()) continue;
      return is_clean_ && wire.send("0\r\n\r\n");
    }
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::map<std::string, std::map<std::string, std::string>> objects_;
  std::vector<Event> events_;
  std::vector<std::string> requests_;
  uint64_t version_ = 100;
  int generation_ = 0;
  bool is_clean_ = true, is_stopping_ = false;
  Mood mood_ = Mood::Fine;
  ScriptServer server_;
};

}  // namespace vagt::test
