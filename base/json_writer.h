// Writes JSON straight into a string, no tree in between.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/labels.h"

namespace vagt::base {

// Commas are placed by the writer; nesting is the caller's promise (asserted in debug builds).
//   JsonWriter w(out);
//   w.begin_object().key("status").string("success").key("data").begin_array().end_array().end_object();
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  // Invalid UTF-8 becomes U+FFFD; <, > and & stay as they are, as in Prometheus's API.
  JsonWriter& string(std::string_view text);
  JsonWriter& number(double v);  // finite only
  JsonWriter& integer(int64_t v);
  JsonWriter& boolean(bool v);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);    // already JSON
  JsonWriter& labels(const Labels& labels);  // {"a":"b"}

 private:
  void separate();
  std::string& out_;
  bool need_comma_ = false;
};

void append_json_string(std::string& out, std::string_view text);

}  // namespace vagt::base
