// The parser in both formats, and the series cache against it: whatever comes, no crash, no hang,
// and a page read through the cache of another page yields what a fresh reading yields.
//
// Input: one byte (bit 0: OpenMetrics), then two pages separated by a NUL byte.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include "scrape/series_cache.h"

namespace {

using namespace vagt;

// Refs by labels, shared by all readings of one input.
struct Names {
  std::map<Labels, tsdb::SeriesRef> refs;
};

class ListingAppender final : public tsdb::Appender {
 public:
  explicit ListingAppender(Names& names) : names_(names) {}
  Result<tsdb::SeriesRef> series(const Labels& labels) override {
    return names_.refs.try_emplace(labels, static_cast<tsdb::SeriesRef>(names_.refs.size() + 1))
        .first->second;
  }
  Code append(tsdb::SeriesRef ref, Sample sample) override {
    if (!is_stale(sample.v)) samples.emplace_back(ref, std::bit_cast<uint64_t>(sample.v));
    return Code::Ok;
  }
  void metadata(std::string_view, const tsdb::Metadata&) override {}
  Status commit() override { return {}; }

  std::vector<std::pair<tsdb::SeriesRef, uint64_t>> samples;

 private:
  Names& names_;
};

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto format =
      (data[0] & 1) != 0 ? exposition::Format::OpenMetrics : exposition::Format::Text;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t cut = std::min(input.find('\0'), input.size());
  const std::string_view pages[] = {input.substr(0, cut),
                                    input.substr(std::min(cut + 1, input.size()))};
  const scrape::SampleRules rules;
  Names names;
  scrape::SeriesCache cache(1);
  for (const std::string_view page : {pages[0], pages[1], pages[0], pages[0]}) {
    ListingAppender through_cache(names), afresh(names);
    scrape::PageCounts counts, fresh_counts;
    auto staged =
        cache.ingest(page, format, from_millis(1), Labels(), rules, through_cache, counts);
    auto fresh = scrape::SeriesCache(2).ingest(page, format, from_millis(1), Labels(), rules,
                                               afresh, fresh_counts);
    check(staged.ok() == fresh.ok());
    if (!staged) {
      check(!staged.error().message().empty());
      continue;
    }
    check(through_cache.samples == afresh.samples);
    check(counts.scraped == fresh_counts.scraped && counts.kept == fresh_counts.kept &&
          counts.repeated == fresh_counts.repeated);
    cache.accept(std::move(*staged));
  }
  return 0;
}
