// What PageReader keeps once a page departs from the last one.
#include <algorithm>
#include <bit>

#include "base/sample.h"
#include "scrape/page_reader.h"

namespace vagt::scrape {

using Kind = SeriesCache::Line::Kind;

PageChanges& PageReader::changes() {
  if (!changes_) {
    changes_.emplace();
    const auto& lines = cache_.lines_;
    const size_t known = std::min(predicted_, lines.size());
    changes_->lines.assign(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(known));
    changes_->seen.assign(lines.size(), false);
    std::fill_n(changes_->seen.begin(), known, true);
  }
  return *changes_;
}

void PageReader::remember(const Line& line, size_t index) {
  if (!changes_) return;
  changes_->seen[index] = true;
  changes_->lines.push_back(line);
}

// From now on every series written is noted, those before included.
void PageReader::count_written() {
  PageChanges& now = changes();
  if (now.is_counting) return;
  now.is_counting = true;
  for (const Line& line : now.lines) {
    if (line.kind == Kind::Sample) now.written.insert(line.ref);
  }
}

std::optional<size_t> PageReader::look_up(uint64_t hash, uint32_t length) {
  const auto& lines = cache_.lines_;
  if (lines.empty()) return std::nullopt;
  auto& index = changes().index;
  const auto slot_of = [&index](uint64_t h) { return (h ^ h >> 32) & (index.size() - 1); };
  if (index.empty()) {
    index.assign(std::bit_ceil(lines.size() * 2), 0);
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].length == 0) continue;
      size_t slot = slot_of(lines[i].hash);
      while (index[slot] != 0) slot = (slot + 1) & (index.size() - 1);
      index[slot] = static_cast<uint32_t>(i + 1);
    }
  }
  std::optional<size_t> seen;
  for (size_t slot = slot_of(hash); index[slot] != 0; slot = (slot + 1) & (index.size() - 1)) {
    const size_t i = index[slot] - 1;
    if (lines[i].hash != hash || lines[i].length != length) continue;
    if (!changes_->seen[i]) return i;  // of equal lines the first that is still to come
    seen = i;
  }
  return seen;
}

// Series of the last page that this one does not have end here.
void PageReader::end_vanished() {
  if (!changes_ && predicted_ >= cache_.lines_.size()) return;
  PageChanges& now = changes();
  for (size_t i = 0; i < now.seen.size(); ++i) {
    const Line& line = cache_.lines_[i];
    if (now.seen[i]) continue;
    if (line.kind == Kind::Metadata) is_metadata_changed_ = true;
    if (line.kind != Kind::Sample || line.repeats || line.untracked || !cache_.is_live_) continue;
    if (now.is_counting && now.written.contains(line.ref))
      continue;  // the same series in another spelling
    static_cast<void>(appender_.append(line.ref, {at_, stale_marker()}));
  }
}

}  // namespace vagt::scrape
