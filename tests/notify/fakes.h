// What notify's tests stand on: a store that survives the object under test, a network that does
// not exist.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/kv_store.h"
#include "notify/manager.h"
#include "notify/transfer.h"
#include "tests/support/manual_clock.h"

namespace vagt::notify {

class MemoryKv final : public KvStore {
 public:
  Status write(const KvBatch& batch, Sync sync) override {
    if (failing) return Status::io("No space left on device");
    ++writes;
    synced = synced && sync == Sync::Yes;
    for (const auto& op : batch.operations()) {
      if (op.value) {
        records[op.key] = *op.value;
      } else {
        records.erase(op.key);
      }
    }
    return {};
  }
  Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto it = records.find(std::string(key));
    if (it == records.end()) return std::optional<std::string>();
    return std::optional<std::string>(it->second);
  }
  Status scan(std::string_view prefix,
              const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    for (auto it = records.lower_bound(std::string(prefix)); it != records.end(); ++it) {
      if (!it->first.starts_with(prefix) || !visit(it->first, it->second)) break;
    }
    return {};
  }
  std::map<std::string, std::string> records;
  int writes = 0;
  bool failing = false, synced = true;
};

// Keeps what was sent; answers at once with what `answer` says, or holds the answers back.
class FakeTransport final : public Transport {
 public:
  struct Sent {
    std::string url, body, method;
    std::vector<std::pair<std::string, std::string>> headers;
    std::vector<std::string> mail_to;
  };
  void send(TransferRequest request, Done done) override {
    Sent one;
    if (const auto* http = std::get_if<net::HttpRequest>(&request.body)) {
      one = {http->url.reveal(), http->body, http->method, http->headers, {}};
    } else if (const auto* mail = std::get_if<net::SmtpRequest>(&request.body)) {
      one = {"smtp://" + mail->host + ":" + mail->port, mail->message, "MAIL", {}, mail->to};
    } else if (const auto* text = std::get_if<PrintTransfer>(&request.body)) {
      one = {"stdout:", text->text, "PRINT", {}, {}};
    } else {
      one = {"exec:", std::get<ExecTransfer>(request.body).input, "EXEC", {}, {}};
    }
    sent.push_back(one);
    if (hold) {
      held.push_back(std::move(done));
      return;
    }
    done(answer(sent.back()));
  }
  void release() {
    auto waiting = std::exchange(held, {});
    for (auto& done : waiting) done(answer(sent.back()));
  }
  static TransferReply status(int code, std::string body = "ok") {
    TransferReply reply;
    reply.status = code;
    reply.body = std::move(body);
    reply.headers = {{"Content-Type", "text/plain"}};
    return reply;
  }
  std::function<TransferReply(const Sent&)> answer = [](const Sent&) { return status(200); };
  std::vector<Sent> sent;
  std::vector<Done> held;
  bool hold = false;
};

// A watch with one manager at a time over the same store and clock.
class Watch {
 public:
  Watch() { boot(); }
  void boot() {
    NotifyManager::Options options;
    options.kv = &kv;
    options.clock = &clock;
    options.transport = &transport;
    options.external_url = "http://am.example";
    options.seed = 7;
    manager = std::make_unique<NotifyManager>(std::move(options));
    opened = manager->open();
  }
  void apply(Config config) {
    config_ = config;
    applied = manager->apply(std::move(config));
  }
  // kill -9: the object goes without a word to the store.
  void kill_and_restart() {
    MemoryKv before = kv;
    manager.reset();
    kv = before;
    transport.held.clear();
    boot();
    apply(config_);
  }
  // Time passes in steps, as the loop would be woken.
  void run_for(Duration d, Duration step = std::chrono::milliseconds(100)) {
    const Timestamp end = clock.now() + d;
    manager->step(clock.now());
    while (clock.now() < end) {
      clock.set(std::min(end, clock.now() + step));
      manager->step(clock.now());
    }
  }
  void post(Labels labels, std::optional<Duration> ends_in = std::nullopt,
            Annotations annotations = {}) {
    PostedAlert alert;
    alert.labels = std::move(labels);
    alert.annotations = std::move(annotations);
    alert.starts_at = clock.now();
    if (ends_in) {
      alert.ends_at = clock.now() + *ends_in;
      if (ends_in->count() < 0) alert.starts_at = clock.now() + *ends_in - std::chrono::seconds(1);
    }
    posted = manager->put_alerts({alert});
  }
  size_t sent() const { return transport.sent.size(); }

  MemoryKv kv;
  test::ManualClock clock;
  FakeTransport transport;
  std::unique_ptr<NotifyManager> manager;
  Status opened, applied, posted;

 private:
  Config config_;
};

inline ReceiverConfig webhook_receiver(const std::string& name, bool send_resolved = true) {
  WebhookConfig webhook;
  webhook.url = Secret("http://hook.example/" + name);
  webhook.send_resolved = send_resolved;
  return {name, {}, {webhook}};
}

// One webhook receiver "ops", grouped by alertname; 1 s, 5 s, 7 s.
inline Config small_config() {
  Config config;
  config.route.receiver = "ops";
  config.route.group_by = {{"alertname"}};
  config.route.group_wait = std::chrono::seconds(1);
  config.route.group_interval = std::chrono::seconds(5);
  config.route.repeat_interval = std::chrono::seconds(7);
  config.receivers.push_back(webhook_receiver("ops"));
  return config;
}

}  // namespace vagt::notify
