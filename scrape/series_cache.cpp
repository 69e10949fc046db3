#include "scrape/series_cache.h"

#include <algorithm>

#include "base/sample.h"
#include "scrape/page_reader.h"

namespace vagt::scrape {

Result<SeriesCache::Staged> SeriesCache::ingest(std::string_view body, exposition::Format format,
                                                Timestamp at, const Labels& target,
                                                const SampleRules& rules, tsdb::Appender& appender,
                                                PageCounts& counts,
                                                const std::stop_token& stop) const {
  return PageReader(*this, body, format, at, target, rules, appender, counts).read(stop);
}

SeriesCache::Staged SeriesCache::mark_stale(Timestamp at, tsdb::Appender& appender) const {
  if (is_live_) {
    for (const Line& line : lines_) {
      if (line.kind != Line::Kind::Sample || line.repeats || line.untracked) continue;
      // A series that is gone or newer elsewhere needs no marker.
      static_cast<void>(appender.append(line.ref, {at, stale_marker()}));
    }
  }
  Staged staged;
  staged.is_live = false;
  return staged;
}

void SeriesCache::accept(Staged staged) {
  is_live_ = staged.is_live;
  // Series come and go; a hash too few only means that one is offered again.
  if (exemplars_.size() > lines_.size() + staged.exemplars.size()) exemplars_.clear();
  for (const FoundExemplar& found : staged.exemplars)
    exemplars_[static_cast<uint64_t>(found.ref)] = found.hash;
  if (!staged.is_changed) return;
  lines_ = std::move(staged.lines);
  lines_.shrink_to_fit();
  has_repeats_ =
      std::any_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.repeats; });
}

void SeriesCache::forget_texts() {
  for (Line& line : lines_) line.length = 0;  // no line is that short
}

}  // namespace vagt::scrape
