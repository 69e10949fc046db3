// Walks a page of metrics once and yields its entries as views into it: text 0.0.4 and 1.0.0,
// OpenMetrics 1.0.
//
// The grammar is that of Prometheus 3.14 (model/textparse), with two liberties in the text formats,
// each of which leaves a warning: lines may end in CR LF, and `-nan` (C's printf) is NaN.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "exposition/negotiate.h"

namespace vagt::exposition {

enum class MetricType : uint8_t {
  Unknown,
  Counter,
  Gauge,
  Histogram,
  GaugeHistogram,
  Summary,
  Info,
  StateSet,
};
std::string_view metric_type_name(MetricType type);  // "gaugehistogram"

enum class EntryKind : uint8_t { Help, Type, Unit, Comment, Sample };

// A label as it stands in the page. `raw` texts have their escapes; see unescape().
struct RawLabel {
  std::string_view raw_name, raw_value;
  bool name_has_escapes = false, value_has_escapes = false;
};

struct Exemplar {
  std::string_view text;  // `{trace_id="x"}`
  std::vector<RawLabel> labels;
  double value = 0;
  int64_t timestamp_ms = 0;
  bool has_timestamp = false;
};

struct Entry {
  EntryKind kind = EntryKind::Comment;
  // Sample: the series text from the first byte of name or brace to the last; else the line without
  // its end.
  std::string_view text;
  std::string_view raw_name;  // metric name: of a sample, HELP, TYPE or UNIT
  bool name_has_escapes = false;
  std::string_view rest;  // help text with its escapes, unit
  MetricType type = MetricType::Unknown;
  std::span<const RawLabel> labels;  // without the name; valid until the next call
  double value = 0;
  int64_t timestamp_ms = 0;
  bool has_timestamp = false;
  bool has_exemplar = false;
};

struct Warnings {
  uint64_t crlf_lines = 0, signed_nans = 0;
};

class Parser {
 public:
  // `body` outlives the parser.
  Parser(std::string_view body, Format format);

  // False at the end and on an error: see status().
  bool next();
  const Entry& entry() const { return entry_; }
  const Exemplar& exemplar() const { return exemplar_; }  // when entry().has_exemplar
  // InvalidArgument: `line 2: expected value after metric, got "…" while parsing: "…"`.
  const Status& status() const { return status_; }
  const Warnings& warnings() const { return warnings_; }

  // For callers who know what comes next (a cache of the last page). position() is where the next
  // line begins.
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }
  bool at_end() const { return at_ == end_; }
  // Skips `bytes`: a whole line the caller recognised, its line end not included. False: no line
  // end stands there and nothing was skipped.
  bool skip_line(size_t bytes);
  // Reads value, timestamp and exemplar behind a series text of `bytes` the caller recognised;
  // entry().labels is empty and raw_name unset. Where the line turns out to be another, this is
  // next() and raw_name is set.
  bool next_known_series(size_t bytes);

 private:
  bool fail(std::string_view what, const char* line, const char* at);
  bool read_comment();
  bool read_metadata(EntryKind kind, const char* line);
  bool read_metadata_text(EntryKind kind, const char* line);
  bool read_series();
  bool read_braces(std::vector<RawLabel>& labels, bool may_name, const char* line);
  bool read_quoted(std::string_view& raw, bool& has_escapes);
  bool read_label_value(RawLabel& label, const char* line);
  bool read_tail(const char* line);
  bool read_text_tail(const char* line);
  bool read_open_metrics_tail(const char* line);
  bool read_exemplar(const char* line);
  bool read_value(double& value, std::string_view word, const char* line);
  bool read_float_timestamp(int64_t& ms, std::string_view what, const char* line);
  bool end_line(std::string_view expected, const char* line);
  void skip_blanks();
  bool open_metrics() const { return format_ == Format::OpenMetrics; }
  std::string_view word() const;  // OpenMetrics: up to a space or the line's end

  const char *begin_, *at_, *end_;
  const Format format_;
  bool saw_eof_ = false;
  Entry entry_;
  Exemplar exemplar_;
  std::vector<RawLabel> labels_;
  Status status_;
  Warnings warnings_;
};

// Replaces \\, \n and \" by what they mean; other backslashes stay. Appends to `out`.
void unescape(std::string_view raw, std::string& out);

}  // namespace vagt::exposition
