#include "tsdb/disk_lookup.h"

#include <algorithm>

namespace vagt::tsdb {
namespace {

constexpr size_t kMostCached = 1u << 19;  // samples, 8 MiB

}  // namespace

std::optional<double> DiskLookup::find(SeriesId id, int64_t t) {
  const Day day = day_of(t);
  const auto it = cache_.find(id);
  if (it == cache_.end() || it->second.day != day) {
    {
      base::MutexLock lock(core_.days_mutex_);
      if (!core_.days_.contains(day)) return std::nullopt;
    }
    if (cached_ > kMostCached) clear();
    SeriesDay& fresh = cache_[id];
    cached_ -= fresh.samples.size();
    fresh = SeriesDay{day, {}};
    load(id, fresh);
    cached_ += fresh.samples.size() + 8;
  }
  const RawColumns& samples = cache_[id].samples;
  const auto at = std::lower_bound(samples.t.begin(), samples.t.end(), t);
  if (at == samples.t.end() || *at != t) return std::nullopt;
  return samples.v[static_cast<size_t>(at - samples.t.begin())];
}

void DiskLookup::load(SeriesId id, SeriesDay& out) {
  if (scan_ == nullptr) scan_ = core_.db_->scan(Family::Chunks);
  const std::string prefix = chunk_prefix(out.day, id);
  std::vector<Series::Run> runs;
  for (scan_->seek(prefix); scan_->valid() && scan_->key().substr(0, prefix.size()) == prefix;
       scan_->next()) {
    Series::Run run;
    const auto key = parse_chunk_key(scan_->key());
    if (!key || !decode_chunk(scan_->value(), run.columns)) continue;
    run.order = key->order;
    runs.push_back(std::move(run));
  }
  merge_runs(runs, out.samples);
}

void DiskLookup::clear() {
  cache_.clear();
  cached_ = 0;
  scan_.reset();
}

}  // namespace vagt::tsdb
