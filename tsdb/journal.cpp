#include "tsdb/journal.h"

#include <vector>

namespace vagt::tsdb {

std::optional<JournalSample> JournalReader::next() {
  if (in_.done()) return std::nullopt;
  const auto control = static_cast<char>(short_values_ ? in_.byte() : 0);
  const bool next_id = (control & JournalWriter::kNextId) != 0;
  last_id_ += next_id ? 1 : static_cast<uint64_t>(in_.zigzagged());
  if ((control & JournalWriter::kSameTime) == 0) last_t_ = wrap_add(last_t_, in_.zigzagged());
  const double v = short_values_ ? in_.high_bits64(control & JournalWriter::kLength) : in_.bits64();
  if (!in_.ok()) return std::nullopt;
  return JournalSample{last_id_, last_t_, v};
}

std::string encode_labels(const Labels& labels) {
  std::string out;
  for (const Label& label : labels.items()) {
    put_sized(out, label.name);
    put_sized(out, label.value);
  }
  return out;
}

std::optional<Labels> decode_labels(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<Label> items;
  items.reserve(16);
  while (!in.done()) {
    const std::string_view name = in.sized(), value = in.sized();
    if (!in.ok() || value.empty() || (!items.empty() && !(items.back().name < name)))
      return std::nullopt;
    items.push_back({name, value});
  }
  return Labels::from_sorted(items);
}

std::string encode_metadata(const Metadata& metadata) {
  std::string out;
  put_sized(out, metadata.type);
  put_sized(out, metadata.help);
  put_sized(out, metadata.unit);
  return out;
}

std::optional<Metadata> decode_metadata(std::string_view bytes) {
  ByteReader in(bytes);
  Metadata metadata;
  metadata.type = in.sized();
  metadata.help = in.sized();
  metadata.unit = in.sized();
  if (!in.ok()) return std::nullopt;
  return metadata;
}

}  // namespace vagt::tsdb
