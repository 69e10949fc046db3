// The read path: series from the head and from the days on disk, joined and ordered by labels.
#include <algorithm>
#include <unordered_set>

#include "tsdb/core.h"
#include "tsdb/sealed_index.h"

namespace vagt::tsdb {
namespace {

struct Entry {
  Labels labels;
  Slot slot = HeadIndex::kNone;  // kNone: only on disk
  uint32_t generation = 0;
  SeriesId id = 0;
};

struct Range {
  int64_t mint, maxt;
  bool empty() const { return mint > maxt; }
};

// A reader's registration; closing it lets sealed chunks leave memory.
class Snapshot {
 public:
  Snapshot(StoreCore& core, int64_t maxt) : core_(core) {
    base::MutexLock lock(core.apply_mutex_);
    sequence_ = core.visible_.load(std::memory_order_acquire);
    ticket_ = core.readers_.open(sequence_, maxt);
  }
  ~Snapshot() { core_.readers_.close(ticket_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  uint64_t sequence() const { return sequence_; }

 private:
  StoreCore& core_;
  uint64_t sequence_;
  Readers::Ticket ticket_;
};

// Samples of one series, from memory and disk, as the snapshot has them.
class SeriesReader {
 public:
  SeriesReader(StoreCore& core, uint64_t sequence, Range range)
      : core_(core), sequence_(sequence), range_(range) {}

  Status read(const Entry& entry, RawColumns& out) {
    runs_.clear();
    int64_t disk_until = INT64_MAX;
    if (entry.slot != HeadIndex::kNone) {
      base::MutexLock lock(core_.head_.shard(entry.slot));
      const Series& series = core_.head_.at(entry.slot);
      // A series retired meanwhile has all its samples on disk.
      if (series.generation.load(std::memory_order_acquire) == entry.generation) {
        series.collect(range_.mint, range_.maxt, runs_);
        disk_until = series.disk_last_t();
      }
    }
    if (disk_until >= range_.mint) VAGT_CHECK_OK(read_disk(entry));
    out.clear();
    if (runs_.size() == 1) {
      std::swap(out, runs_.front().columns);
    } else {
      merge_runs(runs_, out);
    }
    if (entry.slot != HeadIndex::kNone) hide_later(entry.slot, out);
    return {};
  }

 private:
  Status read_disk(const Entry& entry) {
    if (!days_) days_ = core_.days_between(range_.mint, range_.maxt);
    if (days_->empty()) return {};
    if (scan_ == nullptr) scan_ = core_.db_->scan(Family::Chunks);
    for (const Day day : *days_) {
      const std::string prefix = chunk_prefix(day, entry.id);
      for (scan_->seek(prefix); scan_->valid() && scan_->key().substr(0, prefix.size()) == prefix;
           scan_->next()) {
        const auto key = parse_chunk_key(scan_->key());
        if (key && key->first_t > range_.maxt) break;
        if (!key || !take_chunk(*key, scan_->value()))
          return {Code::Corruption, "a chunk of " + entry.labels.to_string() + " is damaged"};
      }
      if (const Status status = scan_->status(); !status.ok())
        return {status.code(), entry.labels.to_string() + ": " + status.message()};
    }
    return {};
  }

  bool take_chunk(const ChunkKey& key, std::string_view bytes) {
    const auto span = chunk_span(bytes);
    if (!span) return false;
    if (span->last_t < range_.mint) return true;
    Series::Run run;
    run.order = key.order;
    if (!decode(bytes, run.columns)) return false;
    if (run.columns.size() == 0) return true;
    runs_.push_back(std::move(run));
    return true;
  }

  bool decode(std::string_view bytes, RawColumns& out) {
    ChunkMarks marks;
    if (!takes_marks(bytes))
      return decode_chunk_between(bytes, range_.mint, range_.maxt, marks, out);
    const uint64_t key = MarkCache::key_of(bytes);
    if (const auto known = core_.marks_.find(key)) marks = *known;
    const size_t before = marks.size();
    if (!decode_chunk_between(bytes, range_.mint, range_.maxt, marks, out)) return false;
    if (marks.size() > before) core_.marks_.put(key, std::move(marks));
    return true;
  }

  void hide_later(Slot slot, RawColumns& out) const {
    const std::vector<int64_t> later = core_.readers_.hidden(sequence_, slot);
    if (later.empty()) return;
    RawColumns kept;
    for (size_t i = 0; i < out.size(); ++i)
      if (!std::binary_search(later.begin(), later.end(), out.t[i])) kept.push(out.t[i], out.v[i]);
    out = std::move(kept);
  }

  StoreCore& core_;
  const uint64_t sequence_;
  const Range range_;
  std::vector<Series::Run> runs_;
  std::optional<std::set<Day>> days_;
  std::unique_ptr<Scan> scan_;
};

class RocksCursor final : public SeriesCursor {
 public:
  RocksCursor(SeriesReader reader, std::vector<Entry> entries, Status status)
      : reader_(std::move(reader)), entries_(std::move(entries)), status_(std::move(status)) {}

  bool next() override {
    while (at_ < entries_.size()) {
      const Status read = reader_.read(entries_[at_++], columns_);
      offset_ = 0;
      if (!read.ok()) {
        if (status_.ok()) status_ = read;  // the other series are still told
        continue;
      }
      if (columns_.size() > 0) return true;
    }
    return false;
  }
  const Labels& labels() const override { return entries_[at_ - 1].labels; }
  bool read(SampleColumns& out, size_t max) override {
    const size_t n = std::min(max, columns_.size() - offset_);
    out.t.reserve(out.t.size() + n);
    for (size_t i = offset_; i < offset_ + n; ++i) out.t.push_back(from_millis(columns_.t[i]));
    const auto begin = columns_.v.begin() + static_cast<std::ptrdiff_t>(offset_);
    out.v.insert(out.v.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
    offset_ += n;
    return n > 0;
  }
  Status status() const override { return status_; }

 private:
  SeriesReader reader_;
  const std::vector<Entry> entries_;  // in Labels order
  Status status_;
  size_t at_ = 0;  // one beyond the current
  size_t offset_ = 0;
  RawColumns columns_;
};

class RocksQuerier final : public Querier {
 public:
  RocksQuerier(StoreCore& core, int64_t mint, int64_t maxt)
      : core_(core), snapshot_(core, maxt), range_{mint, maxt} {
    // What retention has given up is not shown, even while its day is still there.
    if (const auto horizon = retention_horizon(core.bounds(false)))
      range_.mint = std::max(range_.mint, to_millis(*horizon));
    if (const Day dropped = core.drop_before_.load(); dropped != INT32_MIN)
      range_.mint = std::max(range_.mint, int64_t{dropped} * kDayMillis);
  }

  std::unique_ptr<SeriesCursor> select(std::span<const Matcher> matchers,
                                       const SelectHints& hints) override {
    const Range range{std::max(range_.mint, to_millis(hints.start)),
                      std::min(range_.maxt, to_millis(hints.end))};
    std::vector<Entry> entries;
    Status status;
    if (!range.empty()) status = find(matchers, range, entries);
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.labels < b.labels; });
    return std::make_unique<RocksCursor>(SeriesReader(core_, snapshot_.sequence(), range),
                                         std::move(entries), status);
  }

  Result<std::vector<std::string>> label_values(std::string_view name,
                                                std::span<const Matcher> matchers) override {
    std::set<std::string, std::less<>> values;
    VAGT_CHECK_OK(visit_labels(matchers, [&](const Label& label) {
      if (label.name == name && !values.contains(label.value)) values.emplace(label.value);
    }));
    return std::vector<std::string>(values.begin(), values.end());
  }

  Result<std::vector<std::string>> label_names(std::span<const Matcher> matchers) override {
    std::set<std::string, std::less<>> names;
    VAGT_CHECK_OK(visit_labels(matchers, [&](const Label& label) {
      if (!names.contains(label.name)) names.emplace(label.name);
    }));
    return std::vector<std::string>(names.begin(), names.end());
  }

 private:
  // Series whose labels match: the head's, and those that only the days of the range know.
  Status find(std::span<const Matcher> matchers, Range range, std::vector<Entry>& out) {
    for (Head::Match& match : core_.head_.select(matchers))
      out.push_back({std::move(match.labels), match.slot, match.generation, match.id});
    if (core_.retired_max_.load(std::memory_order_relaxed) < range.mint) return {};
    std::unordered_set<SeriesId> known;
    for (const Entry& entry : out) known.insert(entry.id);
    SealedIndex index(*core_.db_);
    std::set<SeriesId> ids;
    for (const Day day : core_.days_between(range.mint, range.maxt))
      VAGT_CHECK_OK(index.select(day, matchers, ids));
    for (const SeriesId id : ids) {
      if (known.contains(id)) continue;
      VAGT_TRY(const auto labels, index.labels(id));
      if (labels && matches_all(matchers, *labels))
        out.push_back({*labels, HeadIndex::kNone, 0, id});
    }
    return {};
  }

  template <class F>
  Status visit_labels(std::span<const Matcher> matchers, F f) {
    std::vector<Entry> entries;
    if (range_.empty()) return {};
    VAGT_CHECK_OK(find(matchers, range_, entries));
    for (const Entry& entry : entries) {
      if (!may_have_samples(entry)) continue;
      for (const Label& label : entry.labels.items()) f(label);
    }
    return {};
  }

  // Without decoding; whole days count as covered.
  bool may_have_samples(const Entry& entry) const {
    if (entry.slot == HeadIndex::kNone) return true;
    base::MutexLock lock(core_.head_.shard(entry.slot));
    const Series& series = core_.head_.at(entry.slot);
    if (series.generation.load(std::memory_order_acquire) != entry.generation) return false;
    if (series.disk_last_t() >= range_.mint) return true;
    return series.overlaps(range_.mint, range_.maxt);
  }

  StoreCore& core_;
  const Snapshot snapshot_;
  Range range_;
};

}  // namespace

std::set<Day> StoreCore::days_between(int64_t mint, int64_t maxt) const {
  base::MutexLock lock(days_mutex_);
  const int64_t highest = int64_t{INT32_MAX} * kDayMillis, lowest = -highest;
  return {days_.lower_bound(day_of(std::clamp(mint, lowest, highest))),
          days_.upper_bound(day_of(std::clamp(maxt, lowest, highest)))};
}

std::unique_ptr<Querier> StoreCore::querier(Timestamp mint, Timestamp maxt) {
  return std::make_unique<RocksQuerier>(*this, to_millis(mint), to_millis(maxt));
}

}  // namespace vagt::tsdb
