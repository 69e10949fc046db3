#include "tsdb/series_namer.h"

#include "base/worker_pool.h"
#include "tsdb/journal.h"
#include "tsdb/keys.h"

namespace vagt::tsdb {

void SeriesNamer::add(SeriesId id, Slot slot) {
  batch_.push_back({id, slot});
  if (batch_.size() < kBatch) return;
  if (!reader_.joinable()) start();
  asked_.post(std::exchange(batch_, {}));
}

void SeriesNamer::start() {
  reader_ = std::jthread([this] { read_labels(); });
  indexer_ = std::jthread([this] { index(); });
}

std::vector<Slot> SeriesNamer::finish() {
  if (!batch_.empty()) {
    if (!reader_.joinable()) start();
    asked_.post(std::exchange(batch_, {}));
  }
  asked_.close();
  if (reader_.joinable()) reader_.join();
  if (indexer_.joinable()) indexer_.join();
  nameless_.insert(nameless_.end(), refused_.begin(), refused_.end());
  refused_.clear();
  return std::exchange(nameless_, {});
}

// Ids come mostly in order, and a scan that moves on is cheaper than a lookup.
void SeriesNamer::read_labels() {
  base::set_thread_name("tsdb-labels");
  auto scan = db_.sweep(Family::Series);
  while (const auto batch = asked_.take()) {
    std::vector<Named> named;
    named.reserve(batch->size());
    for (const Asked& each : *batch) {
      const std::string key = series_key(each.id);
      if (scan->valid()) scan->next();
      if (!scan->valid() || scan->key() != key) scan->seek(key);
      std::optional<Labels> labels;
      if (scan->valid() && scan->key() == key) labels = decode_labels(scan->value());
      if (labels) {
        named.emplace_back(each.slot, std::move(*labels));
      } else {
        nameless_.push_back(each.slot);
      }
    }
    read_.post(std::move(named));
  }
  read_.close();
}

void SeriesNamer::index() {
  base::set_thread_name("tsdb-index");
  while (const auto batch = read_.take())
    for (const auto& [slot, labels] : *batch)
      if (!head_.name(slot, labels)) refused_.push_back(slot);
}

}  // namespace vagt::tsdb
