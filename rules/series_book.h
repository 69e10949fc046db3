// The series one rule wrote, so that those it no longer writes get their staleness marker.
#pragma once

#include <unordered_map>
#include <vector>

#include "base/labels.h"
#include "tsdb/store.h"

namespace vagt::rules {

class SeriesBook {
 public:
  struct Entry {
    tsdb::SeriesRef ref = tsdb::SeriesRef::None;
    uint64_t round = 0;
    const Labels* labels = nullptr;  // the key in the book
  };

  void begin_round() { ++round_; }
  // Notes that the series is written in this round. The entry lives until it is swept.
  Entry* touch(const Labels& labels) {
    auto [it, fresh] = entries_.try_emplace(labels);
    it->second.labels = &it->first;
    return touch(&it->second);
  }
  Entry* touch(Entry* entry) {
    entry->round = round_;
    return entry;
  }
  // Removes and returns the series that this round did not write.
  std::vector<std::pair<Labels, tsdb::SeriesRef>> sweep() {
    std::vector<std::pair<Labels, tsdb::SeriesRef>> gone;
    for (auto it = entries_.begin(); it != entries_.end();) {
      if (it->second.round == round_) {
        ++it;
        continue;
      }
      gone.emplace_back(it->first, it->second.ref);
      it = entries_.erase(it);
    }
    return gone;
  }
  size_t size() const { return entries_.size(); }

 private:
  std::unordered_map<Labels, Entry, LabelsHash> entries_;
  uint64_t round_ = 0;
};

// One batch of rule results for the store: finds series, appends, retries a retired reference.
class ResultWriter {
 public:
  ResultWriter(tsdb::Store& store, Timestamp at) : store_(store), at_(at) {}
  // A sample that is refused is counted and does not hold up the rest; commit() answers with the
  // first series that could not be made.
  void write(SeriesBook::Entry& entry, double value);
  void end(const Labels& labels, tsdb::SeriesRef ref);  // staleness marker
  Status commit();
  size_t samples() const { return samples_; }
  size_t dropped() const { return dropped_; }

 private:
  void append(const Labels& labels, tsdb::SeriesRef& ref, double value);
  tsdb::Store& store_;
  const Timestamp at_;
  std::unique_ptr<tsdb::Appender> appender_;
  size_t samples_ = 0, dropped_ = 0;
  Status first_error_;
};

}  // namespace vagt::rules
