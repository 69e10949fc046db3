// What a page says of single events behind its series.
#include <bit>

#include "scrape/page_reader.h"
#include "scrape/text_hash.h"

namespace vagt::scrape {

// The labels of the entry's series, read anew: a recognised line carries none.
Result<std::optional<Labels>> PageReader::labels_of_entry() const {
  const std::string alone = std::string(parser_.entry().text) + " 0\n";
  exposition::Parser series(alone, exposition::Format::Text);
  if (!series.next()) return series.status();
  return sample_labels(series.entry(), current_family(), target_, rules_);
}

// An exemplar stays on the page until the next event; only a new one is worth reading labels.
void PageReader::note_exemplar(tsdb::SeriesRef ref, Timestamp sample_time) {
  const exposition::Exemplar& found = parser_.exemplar();
  const uint64_t hash = text_hash(found.text, cache_.seed_) ^
                        std::bit_cast<uint64_t>(found.value) * 0x9E3779B97F4A7C15u ^
                        static_cast<uint64_t>(found.has_timestamp ? found.timestamp_ms : 0);
  const auto known = cache_.exemplars_.find(static_cast<uint64_t>(ref));
  if (known != cache_.exemplars_.end() && known->second == hash) return;
  auto series = labels_of_entry();
  if (!series || !*series) return;
  Labels::Pairs pairs;
  for (const exposition::RawLabel& label : found.labels) {
    std::string name, value;
    exposition::unescape(label.raw_name, name);
    exposition::unescape(label.raw_value, value);
    pairs.emplace_back(std::move(name), std::move(value));
  }
  auto labels = Labels::make(std::move(pairs));
  if (!labels) return;  // a name twice
  tsdb::Exemplar exemplar{std::move(*labels), found.value, sample_time, found.has_timestamp};
  if (found.has_timestamp) exemplar.t = from_millis(found.timestamp_ms);
  exemplars_.push_back({ref, hash, std::move(**series), std::move(exemplar)});
  ++counts_.exemplars;
}

}  // namespace vagt::scrape
