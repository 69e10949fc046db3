// The HELP, TYPE and UNIT of a page's families. Targets of one job mostly have the same: equal
// lists are kept once.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "exposition/negotiate.h"
#include "tsdb/store.h"

namespace vagt::scrape {

struct MetricMetadata {
  std::string metric;
  tsdb::Metadata metadata;
  friend bool operator==(const MetricMetadata&, const MetricMetadata&) = default;
};
using MetadataList = std::vector<MetricMetadata>;  // by metric, each once
using MetadataPtr = std::shared_ptr<const MetadataList>;

// Reads the comment lines only; of a line given twice the later counts. A page that does not parse
// yields what it has.
MetadataList collect_metadata(std::string_view body, exposition::Format format);

class MetadataTable {
 public:
  // The list itself or an equal one that somebody still holds.
  MetadataPtr intern(MetadataList list) VAGT_EXCLUDES(mutex_);

 private:
  base::Mutex mutex_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const MetadataList>> lists_
      VAGT_GUARDED_BY(mutex_);
};

}  // namespace vagt::scrape
