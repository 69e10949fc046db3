#include "base/json_writer.h"

#include <cassert>
#include <charconv>
#include <cmath>

namespace vagt::base {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool is_plain(unsigned char c) { return c >= 0x20 && c != '"' && c != '\\'; }

void append_escape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

void append_valid(std::string& out, std::string_view text) {
  size_t run = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_plain(static_cast<unsigned char>(text[i]))) continue;
    out += text.substr(run, i - run);
    append_escape(out, static_cast<unsigned char>(text[i]));
    run = i + 1;
  }
  out += text.substr(run);
}

// Length of the well-formed character at the start of `text`; 0: malformed.
size_t character_length(std::string_view text) {
  for (size_t n = 1; n <= 4 && n <= text.size(); ++n)
    if (is_valid_utf8(text.substr(0, n))) return n;
  return 0;
}

// One replacement character per bad byte, as Go has it.
void append_repaired(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const size_t n = character_length(text);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      append_valid(out, text.substr(0, n));
    }
    text.remove_prefix(n == 0 ? 1 : n);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  if (is_valid_utf8(text)) {
    append_valid(out, text);
  } else {
    append_repaired(out, text);
  }
  out += '"';
}

void JsonWriter::separate() {
  if (need_comma_) out_ += ',';
  need_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  out_ += '{';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  out_ += '}';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  out_ += '[';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  out_ += ']';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_json_string(out_, name);
  out_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  append_json_string(out_, text);
  return *this;
}

JsonWriter& JsonWriter::number(double v) {
  assert(std::isfinite(v));
  separate();
  const double magnitude = std::fabs(v);
  const bool scientific = magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21);
  char buffer[64];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof buffer, v,
                    scientific ? std::chars_format::scientific : std::chars_format::fixed);
  out_.append(buffer, error == std::errc() ? end : buffer);
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t v) {
  separate();
  char buffer[24];
  out_.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool v) { return raw(v ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

JsonWriter& JsonWriter::labels(const Labels& labels) {
  begin_object();
  for (const Label& label : labels.items()) key(label.name).string(label.value);
  return end_object();
}

}  // namespace vagt::base
