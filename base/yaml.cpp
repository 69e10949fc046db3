#include "base/yaml.h"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/base64.h"
#include "base/labels.h"

namespace vagt::base {
namespace {

// Leaves the event parser from inside a handler; caught in parse_yaml.
struct Refused {
  Status status;
};

std::string place(const std::string& file, int line, int column) {
  return fmt::format("{}:{}:{}", file, line, column);
}

// Position of the byte at `offset`, both from 1.
std::pair<int, int> position_of(std::string_view text, size_t offset) {
  int line = 1, column = 1;
  for (const char c : text.substr(0, offset)) {
    ++column;
    if (c == '\n') ++line, column = 1;
  }
  return {line, column};
}

// go-yaml refuses these too: "control characters are not allowed".
bool is_forbidden_control(unsigned char c) {
  return (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7F;
}

Status check_characters(std::string_view text, const std::string& file) {
  size_t line_start = 0;
  while (line_start < text.size()) {
    const size_t newline = text.find('\n', line_start);
    const size_t end = newline == std::string_view::npos ? text.size() : newline;
    const std::string_view line = text.substr(line_start, end - line_start);
    size_t bad = 0;
    while (bad < line.size() && !is_forbidden_control(static_cast<unsigned char>(line[bad]))) ++bad;
    const bool control = bad < line.size();
    if (control || !is_valid_utf8(line)) {
      const auto [number, column] = position_of(text, line_start + (control ? bad : 0));
      return Status::invalid(fmt::format(
          "{}: yaml: {}", place(file, number, column),
          control ? "control characters are not allowed" : "invalid UTF-8 in this line"));
    }
    line_start = end + 1;
  }
  return {};
}

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

}  // namespace

// Turns yaml-cpp's events into the tree. Containers under construction are on a stack; a finished
// node moves into its parent.
class YamlBuilder final : public YAML::EventHandler {
 public:
  YamlBuilder(std::shared_ptr<const std::string> file, const YamlLimits& limits)
      : file_(std::move(file)), limits_(limits) {}

  YamlNode& root() { return root_; }
  bool has_content() const { return !root_.is_null(); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    finish(node_at(mark, YamlNode::Kind::Null), anchor, 1);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "anchor contains itself");
    count_nodes(mark, found->second.nodes);
    YamlNode copy = found->second.node;
    finish(std::move(copy), YAML::NullAnchor, found->second.nodes);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node = node_at(mark, YamlNode::Kind::Scalar);
    node.scalar_ = value;
    apply_tag(mark, tag, node);
    finish(std::move(node), anchor, 1);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::Sequence, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, YamlNode::Kind::Map, anchor);
  }
  void OnMapEnd() override {
    merge_into(stack_.back());
    close();
  }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor;
    size_t nodes_before;                   // count when it was opened
    bool key_pending = false;              // Map: a key waits for its value
    bool merge_pending = false;            // that key is `<<`
    std::unordered_set<std::string> keys;  // Map: seen here, merged ones not among them
    std::vector<YamlNode> merges;          // Map: the values of `<<`
  };
  struct Anchored {
    YamlNode node;
    size_t nodes;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string_view message) const {
    refuse(mark.line + 1, mark.column + 1, message);
  }
  [[noreturn]] void refuse(int line, int column, std::string_view message) const {
    throw Refused{Status::invalid(
        fmt::format("{}: line {}: {}", place(*file_, line, column), line, message))};
  }

  void count_nodes(const YAML::Mark& mark, size_t n) {
    nodes_ += n;
    if (nodes_ <= limits_.max_nodes) return;
    throw Refused{
        Status(Code::LimitExceeded,
               fmt::format("{}: yaml: more than {} nodes after expanding aliases",
                           place(*file_, mark.line + 1, mark.column + 1), limits_.max_nodes))};
  }

  YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) {
    count_nodes(mark, 1);
    YamlNode node;
    node.kind_ = kind;
    node.line_ = mark.line + 1;
    node.column_ = mark.column + 1;
    node.file_ = file_;
    return node;
  }

  // yaml-cpp gives "?" to plain scalars and "!" to quoted and block ones.
  void apply_tag(const YAML::Mark& mark, std::string_view tag, YamlNode& node) {
    if (tag == "?" || tag.empty()) return;
    if (tag.substr(0, kCoreTag.size()) != kCoreTag) {
      node.quoted_ = true;
      return;
    }
    const std::string_view type = tag.substr(kCoreTag.size());
    if (type == "str") {
      node.quoted_ = true;
    } else if (type == "binary") {
      node.quoted_ = true;
      auto bytes = decode_base64(node.scalar_);
      if (!bytes) refuse(mark, "!!binary value contains invalid base64 data");
      node.scalar_ = std::move(*bytes);
    } else if (type == "null") {
      node.kind_ = YamlNode::Kind::Null;
      node.scalar_.clear();
    } else if (type != "int" && type != "float" && type != "bool" && type != "timestamp") {
      refuse(mark, fmt::format("unsupported tag !!{}", type));
    }
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    if (stack_.size() >= limits_.max_depth) {
      throw Refused{
          Status(Code::LimitExceeded,
                 fmt::format("{}: yaml: nested deeper than {} levels",
                             place(*file_, mark.line + 1, mark.column + 1), limits_.max_depth))};
    }
    if (!stack_.empty() && stack_.back().node.is_map() && !stack_.back().key_pending)
      refuse(mark, "a map key must be a scalar");
    const size_t before = nodes_;
    stack_.push_back(Frame{node_at(mark, kind), anchor, before, false, false, {}, {}});
  }

  void close() {
    Frame frame = std::move(stack_.back());
    stack_.pop_back();
    finish(std::move(frame.node), frame.anchor, nodes_ - frame.nodes_before);
  }

  void finish(YamlNode node, YAML::anchor_t anchor, size_t nodes) {
    if (anchor != YAML::NullAnchor) {
      YAML::Mark mark;
      mark.line = node.line_ - 1;
      mark.column = node.column_ - 1;
      count_nodes(mark, nodes);  // the copy kept for aliases costs as much as the node
      anchors_.insert_or_assign(anchor, Anchored{node, nodes});
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.is_sequence()) {
      parent.node.items_.push_back(std::move(node));
    } else if (!parent.key_pending) {
      take_key(parent, std::move(node));
    } else {
      parent.key_pending = false;
      if (parent.merge_pending) {
        parent.merge_pending = false;
        parent.merges.push_back(std::move(node));
      } else {
        parent.node.entries_.back().value = std::move(node);
      }
    }
  }

  void take_key(Frame& map, YamlNode key) {
    if (!key.is_scalar() && !key.is_null())
      refuse(key.line_, key.column_, "a map key must be a scalar");
    map.key_pending = true;
    if (key.is_scalar() && !key.quoted_ && key.scalar_ == "<<") {
      map.merge_pending = true;
      return;
    }
    if (key.is_null()) key.scalar_ = "null";
    if (!map.keys.insert(key.scalar_).second)
      refuse(key.line_, key.column_, fmt::format("key \"{}\" already set in map", key.scalar_));
    map.node.entries_.push_back(
        YamlNode::Entry{std::move(key.scalar_), key.line_, key.column_, YamlNode()});
  }

  // The map's own keys win over merged ones, earlier merges over later ones.
  void merge_into(Frame& map) {
    for (const YamlNode& source : map.merges) {
      if (source.is_map()) {
        merge_map(map, source);
        continue;
      }
      if (!source.is_sequence())
        refuse(source.line_, source.column_, "map merge requires map or sequence of maps as value");
      for (const YamlNode& item : source.items_) {
        if (!item.is_map())
          refuse(item.line_, item.column_, "map merge requires map or sequence of maps as value");
        merge_map(map, item);
      }
    }
  }

  static void merge_map(Frame& map, const YamlNode& source) {
    for (const YamlNode::Entry& entry : source.entries_)
      if (map.keys.insert(entry.key).second) map.node.entries_.push_back(entry);
  }

  const std::shared_ptr<const std::string> file_;
  const YamlLimits limits_;
  YamlNode root_;
  size_t nodes_ = 0;
  std::vector<Frame> stack_;
  std::unordered_map<YAML::anchor_t, Anchored> anchors_;
};

namespace {

Result<YamlNode> build(std::string_view text, const std::string& file, const YamlLimits& limits) {
  const auto shared_file = std::make_shared<const std::string>(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    YamlBuilder first(shared_file, limits);
    parser.HandleNextDocument(first);
    // An end marker followed by nothing is not a second document.
    YamlBuilder second(shared_file, limits);
    while (parser.HandleNextDocument(second)) {
      if (second.has_content())
        return second.root().error("yaml: only one document is allowed in a file");
    }
    return std::move(first.root());
  } catch (const Refused& refused) {
    return refused.status;
  } catch (const YAML::Exception& e) {
    return Status::invalid(fmt::format("{}: yaml: line {}: {}",
                                       place(file, e.mark.line + 1, e.mark.column + 1),
                                       e.mark.line + 1, e.msg));
  }
}

}  // namespace

Result<YamlNode> parse_yaml(std::string_view text, std::string file, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes)
    return Status(Code::LimitExceeded, fmt::format("{}: {} bytes, more than the limit of {}", file,
                                                   text.size(), limits.max_bytes));
  VAGT_CHECK_OK(check_characters(text, file));
  return build(text, file, limits);
}

Result<YamlNode> load_yaml_file(const std::string& path, const YamlLimits& limits) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Status::io(fmt::format("open {}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[65536];
  while (stream.read(buffer, sizeof buffer) || stream.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(stream.gcount()));
    if (text.size() > limits.max_bytes) break;
  }
  if (stream.bad()) return Status::io(fmt::format("read {}: {}", path, std::strerror(errno)));
  return parse_yaml(text, path, limits);
}

const std::string& YamlNode::file() const {
  static const std::string kNone;
  return file_ ? *file_ : kNone;
}

std::string YamlNode::where() const { return place(file(), line_, column_); }

Status YamlNode::error(std::string message) const {
  return Status::invalid(std::move(message)).at(where());
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const Entry& entry : entries_)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

}  // namespace vagt::base
