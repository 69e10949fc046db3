// YAML with positions: every node knows its line and column; bad input is refused, not guessed at.
//
// Built on yaml-cpp's event parser with our own tree: duplicate keys, a second document, invalid
// UTF-8, too deep or too large documents and alias bombs are errors; `<<` merges.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::base {

struct YamlLimits {
  size_t max_bytes = 16u << 20;
  size_t max_depth = 64;
  size_t max_nodes = 2'000'000;  // after alias expansion
};

class YamlNode {
 public:
  enum class Kind : uint8_t { Null, Scalar, Sequence, Map };
  struct Entry;

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::Null; }
  bool is_scalar() const { return kind_ == Kind::Scalar; }
  bool is_sequence() const { return kind_ == Kind::Sequence; }
  bool is_map() const { return kind_ == Kind::Map; }
  int line() const { return line_; }      // from 1
  int column() const { return column_; }  // from 1
  const std::string& file() const;        // as given to the parser
  // "file.yml:12:3", for Status::at.
  std::string where() const;
  // An InvalidArgument at this place.
  Status error(std::string message) const;

  const std::string& scalar() const {
    return scalar_;
  }                                        // text after quoting and escapes; "" unless Scalar
  bool quoted() const { return quoted_; }  // a quoted scalar is always a string
  std::span<const YamlNode> items() const { return items_; }  // Sequence
  std::span<const Entry> entries() const;                     // Map, in file order
  const YamlNode* find(std::string_view key) const;           // Map; null when absent

  // Typed reading; InvalidArgument with the place and what was expected.
  Result<std::string> as_string() const;
  Result<bool> as_bool()
      const;  // true/false (YAML 1.1 spellings yes/no/on/off too, as Go's yaml.v2 has them)
  Result<int64_t> as_int() const;
  Result<double> as_double() const;
  Result<Duration> as_duration() const;  // Prometheus duration
  Result<uint64_t> as_bytes()
      const;  // "0", "512MB", "1.5GiB" (powers of 1024, as Prometheus's units)

 private:
  friend class YamlBuilder;
  Kind kind_ = Kind::Null;
  bool quoted_ = false;
  int line_ = 1, column_ = 1;
  std::shared_ptr<const std::string> file_;
  std::string scalar_;
  std::vector<YamlNode> items_;
  std::vector<Entry> entries_;
};

struct YamlNode::Entry {
  std::string key;
  int line = 1, column = 1;  // of the key
  YamlNode value;
};

// Here because Entry is complete only now.
inline std::span<const YamlNode::Entry> YamlNode::entries() const { return entries_; }

// An empty document is a Null node. `file` names the source in messages.
Result<YamlNode> parse_yaml(std::string_view text, std::string file, const YamlLimits& limits = {});
Result<YamlNode> load_yaml_file(const std::string& path, const YamlLimits& limits = {});

// Reads one map section field by field and reports what nobody asked for.
//
//   YamlFields f(node);                       // a Null node is an empty map
//   f.read("scrape_interval", config.scrape_interval);
//   VAGT_CHECK_OK(f.finish());                // the first bad value, else an unknown key
class YamlFields {
 public:
  explicit YamlFields(const YamlNode& node);
  // Absent keys leave `out` alone. A present null is Go's zero value for the type.
  YamlFields& read(std::string_view key, std::string& out);
  YamlFields& read(std::string_view key, Secret& out);
  YamlFields& read(std::string_view key, bool& out);
  YamlFields& read(std::string_view key, int64_t& out);
  YamlFields& read(std::string_view key, uint64_t& out);  // a plain count, not bytes
  YamlFields& read(std::string_view key, double& out);
  YamlFields& read(std::string_view key, Duration& out);
  YamlFields& read(std::string_view key, std::vector<std::string>& out);
  YamlFields& read(std::string_view key, std::map<std::string, std::string>& out);
  template <class T>
  YamlFields& read(std::string_view key, std::optional<T>& out) {
    if (T value{}; take(key) != nullptr) {
      read(key, value);
      out = std::move(value);
    }
    return *this;
  }
  YamlFields& read_bytes(std::string_view key, uint64_t& out);
  // The node itself, marked as known; null when absent.
  const YamlNode* take(std::string_view key);
  // Records an error found by the caller; the first one wins.
  YamlFields& fail(Status status);
  bool ok() const { return status_.ok(); }
  // The first error; else an unknown key ("field sscrape_interval not found …; did you mean
  // scrape_interval?"). `type_name` is what Prometheus calls the struct in that message.
  Status finish(std::string_view type_name = "config");

 private:
  const YamlNode* node_of(std::string_view key);
  template <class T, class F>
  YamlFields& read_with(std::string_view key, T& out, F convert);
  const YamlNode& node_;
  std::set<std::string, std::less<>> known_;
  Status status_;
};

// The member of `known` that `word` is most likely a misspelling of; "" when none is near (edit
// distance <= 1/3 of it).
std::string nearest_word(std::string_view word, const std::set<std::string, std::less<>>& known);

}  // namespace vagt::base
