#include "engine/api/remote_write.h"

#include <fmt/core.h>
#include <snappy.h>
#include <algorithm>

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

namespace vagt::engine::api {
namespace {

// Walks the fields of one protobuf message; views into the body.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : bytes_(bytes) {}

  // False: the end, or malformed (see ok()).
  bool next() {
    if (bytes_.empty() || !ok_) return false;
    const uint64_t tag = varint();
    field_ = static_cast<uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        number_ = varint();
        break;
      case 1:
        number_ = fixed64();
        break;
      case 2:
        text_ = take(varint());
        break;
      case 5:
        take(4);
        break;
      default:
        ok_ = false;
    }
    return ok_;
  }
  bool ok() const { return ok_; }
  uint32_t field() const { return field_; }
  uint64_t number() const { return number_; }
  std::string_view text() const { return text_; }

 private:
  uint64_t varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  uint64_t fixed64() {
    const std::string_view raw = take(8);
    uint64_t value = 0;
    if (raw.size() == 8) std::memcpy(&value, raw.data(), 8);
    return value;
  }
  std::string_view take(uint64_t n) {
    if (n > bytes_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return taken;
  }

  std::string_view bytes_, text_;
  uint64_t number_ = 0;
  uint32_t field_ = 0;
  bool ok_ = true;
};

Status malformed(std::string_view what) {
  return Status::invalid(fmt::format("malformed remote write: {}", what));
}

Status decode_sample(std::string_view bytes, std::vector<Sample>& out) {
  Sample sample{from_millis(0), 0};
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) sample.v = std::bit_cast<double>(fields.number());
    if (fields.field() == 2) sample.t = from_millis(static_cast<int64_t>(fields.number()));
  }
  if (!fields.ok()) return malformed("sample");
  if (std::isnan(sample.v) && !is_stale(sample.v)) sample.v = normal_nan();
  out.push_back(sample);
  return {};
}

Status decode_label(std::string_view bytes, Labels::Pairs& out) {
  std::string name, value;
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) name = fields.text();
    if (fields.field() == 2) value = fields.text();
  }
  if (!fields.ok()) return malformed("label");
  out.emplace_back(std::move(name), std::move(value));
  return {};
}

// InvalidArgument: labels that no series can have.
Result<Labels> checked_labels(Labels::Pairs pairs) {
  for (const auto& [name, value] : pairs)
    if (!is_utf8_name(name) || !is_valid_utf8(value))
      return Status::invalid(fmt::format("invalid label {}={}", quote(name), quote(value)));
  VAGT_TRY(Labels labels, Labels::make(std::move(pairs)));
  if (!labels.has(kMetricName))
    return Status::invalid(fmt::format("series {} has no metric name", labels.to_string()));
  return labels;
}

// One series into the request; with bad labels it is counted as refused and the rest goes on.
Status decode_series(std::string_view bytes, WriteRequest& request) {
  WriteSeries series;
  Labels::Pairs pairs;
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) VAGT_CHECK_OK(decode_label(fields.text(), pairs));
    if (fields.field() == 2) VAGT_CHECK_OK(decode_sample(fields.text(), series.samples));
    if (fields.field() == 4) series.histograms = true;
  }
  if (!fields.ok()) return malformed("time series");
  Result<Labels> labels = checked_labels(std::move(pairs));
  if (!labels.ok()) {
    if (request.first_refusal.ok()) request.first_refusal = labels.error();
    request.refused += series.samples.size();
    return {};
  }
  series.labels = std::move(labels).value();
  request.series.push_back(std::move(series));
  return {};
}

std::string_view metric_type_name(uint64_t number) {
  constexpr std::string_view kNames[] = {"unknown",        "counter", "gauge", "histogram",
                                         "gaugehistogram", "summary", "info",  "stateset"};
  return number < std::size(kNames) ? kNames[number] : kNames[0];
}

Status decode_metadata(std::string_view bytes, WriteRequest& request) {
  std::string name;
  tsdb::Metadata data{"unknown", "", ""};
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) data.type = metric_type_name(fields.number());
    if (fields.field() == 2) name = fields.text();
    if (fields.field() == 4) data.help = fields.text();
    if (fields.field() == 5) data.unit = fields.text();
  }
  if (!fields.ok()) return malformed("metadata");
  if (!name.empty()) request.metadata.emplace_back(std::move(name), std::move(data));
  return {};
}

std::string_view refusal_text(Code code) {
  switch (code) {
    case Code::OutOfOrder:
      return "out of order sample";
    case Code::OutOfBounds:
      return "out of bounds";
    case Code::Duplicate:
      return "duplicate sample for timestamp";
    case Code::LimitExceeded:
      return "series limit exceeded";
    default:
      return code_name(code);
  }
}

// The series' samples; a refused one is counted with the reason of the first.
Status append_series(const WriteSeries& series, tsdb::Appender& appender, WriteOutcome& outcome) {
  const auto refuse = [&](Code code, size_t n, std::string_view why) {
    outcome.refused += n;
    if (outcome.first_refusal.ok() && n > 0)
      outcome.first_refusal =
          Status(code, fmt::format("{}: series {}", why, series.labels.to_string()));
  };
  if (series.histograms) refuse(Code::InvalidArgument, 1, "native histograms are not stored");
  const auto ref = appender.series(series.labels);
  if (!ref.ok()) {
    refuse(ref.error().code(), series.samples.size(), ref.error().message());
    return {};
  }
  for (const Sample& sample : series.samples) {
    const Code code = appender.append(*ref, sample);
    if (code == Code::Ok) {
      ++outcome.stored;
    } else {
      refuse(code, 1, refusal_text(code));
    }
  }
  return {};
}

}  // namespace

size_t inflated_size(std::string_view body, size_t most) {
  size_t inflated = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &inflated)) return 0;
  return std::min(inflated, most);
}

Result<WriteRequest> decode_write_request(std::string_view body, size_t max_bytes) {
  size_t inflated = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &inflated))
    return malformed("not snappy");
  if (inflated > max_bytes)
    return Status(
        Code::LimitExceeded,
        fmt::format("remote write of {} bytes is over the limit of {}", inflated, max_bytes));
  std::string bytes;
  if (!snappy::Uncompress(body.data(), body.size(), &bytes))
    return malformed("cut or damaged snappy");
  WriteRequest request;
  ProtoReader fields(bytes);
  while (fields.next()) {
    if (fields.field() == 1) VAGT_CHECK_OK(decode_series(fields.text(), request));
    if (fields.field() == 3) VAGT_CHECK_OK(decode_metadata(fields.text(), request));
  }
  if (!fields.ok()) return malformed("write request");
  return request;
}

Result<WriteOutcome> append_write_request(const WriteRequest& request, tsdb::Store& store) {
  WriteOutcome outcome{0, request.refused, request.first_refusal};
  const auto appender = store.appender();
  for (const WriteSeries& series : request.series)
    VAGT_CHECK_OK(append_series(series, *appender, outcome));
  for (const auto& [metric, data] : request.metadata) appender->metadata(metric, data);
  VAGT_CHECK_OK(appender->commit());
  return outcome;
}

}  // namespace vagt::engine::api
