#include "notify/durable_writer.h"

#include "base/worker_pool.h"

namespace vagt::notify {
namespace {

constexpr auto kRetryEvery = std::chrono::seconds(1);

void append(KvBatch& to, const KvBatch& from) {
  for (const auto& op : from.operations()) {
    if (op.value) {
      to.put(op.key, *op.value);
    } else {
      to.erase(op.key);
    }
  }
}

}  // namespace

DurableWriter::DurableWriter(KvStore* kv, NotifyMetrics& metrics, base::Logger log)
    : kv_(kv), metrics_(metrics), log_(std::move(log)) {}

DurableWriter::~DurableWriter() { stop(); }

void DurableWriter::start() {
  if (kv_ == nullptr || thread_.joinable()) return;
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void DurableWriter::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void DurableWriter::write(KvBatch batch, std::vector<Done> done) {
  if (batch.empty() && done.empty()) return;
  if (thread_.joinable()) {
    requests_.post({std::move(batch), std::move(done)});
    return;
  }
  std::vector<Request> one;
  one.push_back({std::move(batch), std::move(done)});
  commit(std::move(one));
}

void DurableWriter::run(std::stop_token stop) {
  base::set_thread_name("notify-write");
  for (bool last = false; !last;) {
    last = stop.stop_requested();
    const auto wait = unwritten_.empty() ? std::chrono::hours(1) : std::chrono::hours(0);
    auto arrived =
        requests_.wait_until(std::chrono::steady_clock::now() + wait +
                                 (unwritten_.empty() ? std::chrono::seconds(0) : kRetryEvery),
                             stop);
    std::vector<Request> requests(std::make_move_iterator(arrived.begin()),
                                  std::make_move_iterator(arrived.end()));
    if (!requests.empty() || !unwritten_.empty()) commit(std::move(requests));
  }
}

void DurableWriter::commit(std::vector<Request> requests) {
  for (const Request& request : requests) append(unwritten_, request.batch);
  Status status;
  if (kv_ != nullptr && !unwritten_.empty()) status = kv_->write(unwritten_, KvStore::Sync::Yes);
  if (status.ok()) {
    if (failing_) log_.info("notification state is written again");
    failing_ = false;
    unwritten_.clear();
  } else {
    metrics_.store_failures.add();
    if (!failing_) {
      log_.error("notification state cannot be written; paging goes on from memory",
                 {{"error", status.message()}});
    }
    failing_ = true;
  }
  for (const Request& request : requests) {
    for (const Done& done : request.done) done(status);
  }
}

}  // namespace vagt::notify
