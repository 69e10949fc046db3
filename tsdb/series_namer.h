// Brings series their labels while the journal is replayed into them.
#pragma once

#include <thread>
#include <utility>
#include <vector>

#include "tsdb/database.h"
#include "tsdb/handoff.h"
#include "tsdb/head.h"

namespace vagt::tsdb {

// Two threads beside the caller's: one reads labels, one indexes them. They start with the first
// series. The head's slots are reserved by the caller; finish() before any query.
class SeriesNamer {
 public:
  SeriesNamer(const Database& db, Head& head) : db_(db), head_(head) {}
  ~SeriesNamer() { finish(); }

  void add(SeriesId id, Slot slot);  // ids mostly ascending: they are read by a scan
  // Waits for all. Gives the slots that got no name: their labels are lost.
  std::vector<Slot> finish();

 private:
  struct Asked {
    SeriesId id;
    Slot slot;
  };
  using Named = std::pair<Slot, Labels>;
  static constexpr size_t kBatch = 1024;
  void start();
  void read_labels();
  void index();

  const Database& db_;
  Head& head_;
  std::vector<Asked> batch_;
  Handoff<std::vector<Asked>> asked_{SIZE_MAX};  // the journal never waits
  Handoff<std::vector<Named>> read_{4};
  std::vector<Slot> nameless_;  // owned by the reading thread until it is joined
  std::vector<Slot> refused_;   // by the indexing one, likewise
  std::jthread reader_, indexer_;
};

}  // namespace vagt::tsdb
