#include "scrape/page_metadata.h"

#include <cstring>
#include <map>

#include "exposition/parse.h"

namespace vagt::scrape {
namespace {

using exposition::EntryKind;

void note(const exposition::Entry& entry, std::map<std::string, tsdb::Metadata>& found) {
  if (entry.kind == EntryKind::Comment || entry.kind == EntryKind::Sample) return;
  std::string metric;
  exposition::unescape(entry.raw_name, metric);
  tsdb::Metadata& metadata =
      found.try_emplace(metric, tsdb::Metadata{"unknown", "", ""}).first->second;
  if (entry.kind == EntryKind::Type) {
    metadata.type = exposition::metric_type_name(entry.type);
  } else {
    std::string& text = entry.kind == EntryKind::Help ? metadata.help : metadata.unit;
    text.clear();
    exposition::unescape(entry.rest, text);
  }
}

uint64_t hash_of(const MetadataList& list) {
  uint64_t hash = list.size();
  const auto mix = [&hash](const std::string& text) {
    hash = hash * 31 + std::hash<std::string>()(text);
  };
  for (const MetricMetadata& m : list) {
    mix(m.metric), mix(m.metadata.type), mix(m.metadata.help), mix(m.metadata.unit);
  }
  return hash;
}

}  // namespace

MetadataList collect_metadata(std::string_view body, exposition::Format format) {
  std::map<std::string, tsdb::Metadata> found;
  while (!body.empty()) {
    const size_t end = body.find('\n');
    std::string_view line = body.substr(0, end == std::string_view::npos ? body.size() : end + 1);
    body.remove_prefix(line.size());
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] != '#') continue;
    exposition::Parser parser(line, format);
    if (parser.next()) note(parser.entry(), found);
  }
  MetadataList list;
  list.reserve(found.size());
  for (auto& [metric, metadata] : found) list.push_back({metric, std::move(metadata)});
  return list;
}

MetadataPtr MetadataTable::intern(MetadataList list) {
  const uint64_t hash = hash_of(list);
  base::MutexLock lock(mutex_);
  const auto [begin, end] = lists_.equal_range(hash);
  for (auto it = begin; it != end;) {
    if (MetadataPtr held = it->second.lock()) {
      if (*held == list) return held;
      ++it;
    } else {
      it = lists_.erase(it);
    }
  }
  auto kept = std::make_shared<const MetadataList>(std::move(list));
  lists_.emplace(hash, kept);
  return kept;
}

}  // namespace vagt::scrape
