#include "tsdb/sealed_index.h"

#include <algorithm>

#include "tsdb/journal.h"

namespace vagt::tsdb {
namespace {

void parse_ids(std::string_view list, std::vector<SeriesId>& out) {
  for (ByteReader in(list); !in.done();) {
    const SeriesId id = in.varint();
    if (in.ok()) out.push_back(id);
  }
}

void sort_unique(std::vector<SeriesId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

bool is_narrow(const Matcher& matcher) {
  return matcher.op() == MatchOp::Equal ||
         (matcher.op() == MatchOp::Regex && !matcher.regex()->literals().empty());
}

}  // namespace

Status SealedIndex::collect_value(Day day, std::string_view name, std::string_view value,
                                  std::vector<SeriesId>& out) const {
  VAGT_TRY(const auto list, db_.get(Family::Postings, postings_key(day, name, value)));
  if (list) parse_ids(*list, out);
  return {};
}

// Walks the values of a name; a literal prefix bounds the walk.
Status SealedIndex::collect_values(Day day, const Matcher& matcher,
                                   std::vector<SeriesId>& out) const {
  const std::string name = postings_name_prefix(day, matcher.name());
  std::string from = name;
  if (matcher.op() == MatchOp::Regex) from += matcher.regex()->prefix();
  auto scan = db_.scan(Family::Postings);
  for (scan->seek(from); scan->valid() && scan->key().substr(0, from.size()) == from; scan->next())
    if (matcher.matches(scan->key().substr(name.size()))) parse_ids(scan->value(), out);
  return scan->status();
}

Status SealedIndex::collect(Day day, const Matcher& matcher, std::vector<SeriesId>& out) const {
  if (matcher.op() == MatchOp::Equal) {
    VAGT_CHECK_OK(collect_value(day, matcher.name(), matcher.value(), out));
  } else if (is_narrow(matcher)) {
    for (const std::string& literal : matcher.regex()->literals())
      VAGT_CHECK_OK(collect_value(day, matcher.name(), literal, out));
  } else {
    VAGT_CHECK_OK(collect_values(day, matcher, out));
  }
  sort_unique(out);
  return {};
}

Status SealedIndex::select(Day day, std::span<const Matcher> matchers,
                           std::set<SeriesId>& out) const {
  // Lookups first; a walk over all values of a name only when nothing narrower is given.
  std::vector<const Matcher*> used;
  for (const Matcher& matcher : matchers)
    if (!matcher.matches_empty() && is_narrow(matcher)) used.push_back(&matcher);
  if (used.empty())
    for (const Matcher& matcher : matchers)
      if (!matcher.matches_empty()) used.push_back(&matcher);
  if (used.empty()) {
    VAGT_TRY(const auto ids, all(day));
    out.insert(ids.begin(), ids.end());
    return {};
  }
  std::vector<SeriesId> result;
  for (size_t i = 0; i < used.size(); ++i) {
    std::vector<SeriesId> ids, both;
    VAGT_CHECK_OK(collect(day, *used[i], ids));
    if (i == 0) {
      result = std::move(ids);
    } else {
      std::set_intersection(result.begin(), result.end(), ids.begin(), ids.end(),
                            std::back_inserter(both));
      result = std::move(both);
    }
    if (result.empty()) return {};
  }
  out.insert(result.begin(), result.end());
  return {};
}

Result<std::optional<Labels>> SealedIndex::labels(SeriesId id) const {
  VAGT_TRY(const auto stored, db_.get(Family::Series, series_key(id)));
  if (!stored) return std::optional<Labels>();
  auto labels = decode_labels(*stored);
  if (!labels) return Status(Code::Corruption, "the labels of series " + std::to_string(id));
  return labels;
}

Result<std::vector<SeriesId>> SealedIndex::all(Day day) const {
  std::vector<SeriesId> ids;
  VAGT_CHECK_OK(collect_value(day, "", "", ids));
  sort_unique(ids);
  return ids;
}

void PostingsBatch::add(Day day, SeriesId id, const Labels& labels) {
  put_varint(lists_[postings_key(day, "", "")], id);
  for (const Label& label : labels.items())
    put_varint(lists_[postings_key(day, label.name, label.value)], id);
}

void PostingsBatch::write(Batch& batch) const {
  for (const auto& [key, ids] : lists_) batch.append(Family::Postings, key, ids);
}

}  // namespace vagt::tsdb
