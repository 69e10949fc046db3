#include "notify/record.h"

namespace vagt::notify {

RecordWriter& RecordWriter::number(uint64_t v) {
  while (v >= 0x80) {
    out_.push_back(static_cast<char>((v & 0x7f) | 0x80));
    v >>= 7;
  }
  out_.push_back(static_cast<char>(v));
  return *this;
}

RecordWriter& RecordWriter::time(Timestamp t) {
  const int64_t ms = to_millis(t);
  // Zigzag: the zero time of year 1 is negative.
  return number((static_cast<uint64_t>(ms) << 1) ^ static_cast<uint64_t>(ms >> 63));
}

RecordWriter& RecordWriter::text(std::string_view s) {
  number(s.size());
  out_.append(s);
  return *this;
}

RecordWriter& RecordWriter::map(const std::map<std::string, std::string>& m) {
  number(m.size());
  for (const auto& [name, value] : m) text(name).text(value);
  return *this;
}

RecordWriter& RecordWriter::labels(const Labels& labels) {
  number(labels.size());
  for (const Label& label : labels.items()) text(label.name).text(label.value);
  return *this;
}

RecordReader::RecordReader(std::string_view in) : in_(in) {
  if (number() != 1) bad_ = true;
}

uint64_t RecordReader::number() {
  uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bad_ || in_.empty()) break;
    const auto byte = static_cast<uint8_t>(in_.front());
    in_.remove_prefix(1);
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return v;
  }
  bad_ = true;
  return 0;
}

size_t RecordReader::count() {
  const uint64_t n = number();
  if (n > in_.size()) bad_ = true;
  return bad_ ? 0 : static_cast<size_t>(n);
}

Timestamp RecordReader::time() {
  const uint64_t z = number();
  return from_millis(static_cast<int64_t>(z >> 1) ^ -static_cast<int64_t>(z & 1));
}

std::string RecordReader::text() {
  const size_t n = count();
  std::string out(in_.substr(0, n));
  in_.remove_prefix(n);
  return out;
}

std::map<std::string, std::string> RecordReader::map() {
  std::map<std::string, std::string> out;
  for (size_t n = count(); n > 0 && !bad_; --n) {
    std::string name = text();
    out[std::move(name)] = text();
  }
  return out;
}

Status RecordReader::status() const {
  if (bad_ || !in_.empty()) return {Code::Corruption, "record is cut short or of another version"};
  return {};
}

}  // namespace vagt::notify
