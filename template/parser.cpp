#include "template/parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/labels.h"
#include "template/builtins.h"
#include "template/lexer.h"
#include "template/number_literal.h"
#include "template/unicode.h"

namespace vagt::tmpl {
namespace {

constexpr int kMaxNesting = 500;

// Unwinds a failed parse; it never leaves this file.
struct ParseFailure {
  uint32_t pos;
  std::string message;
};

class Parser {
 public:
  Parser(std::string_view name, std::string_view text, const ParseContext& context)
      : context_(context),
        source_(name),
        text_(std::make_shared<const std::string>(text)),
        items_(lex(*text_)),
        variables_{"$"} {
    variables_.insert(variables_.end(), context.variables.begin(), context.variables.end());
  }

  Result<TreeMap> run() {
    try {
      parse_top();
      return std::move(trees_);
    } catch (const ParseFailure& failure) {
      const Tree here{source_, source_, text_, nullptr};
      return Status::invalid(
          fmt::format("template: {}: {}", here.where(failure.pos), failure.message));
    }
  }

 private:
  // -- tokens
  // ----------------------------------------------------------------------------------------------------
  // Behind the last token (Eof or Error) stand endless copies of it, so that backing up always
  // undoes a next().
  const Item& peek() const { return items_[std::min(at_, items_.size() - 1)]; }
  const Item& peek_non_space() {
    while (peek().type == Token::Space) ++at_;
    return peek();
  }
  const Item& next() {
    const Item& item = peek();
    ++at_;
    return item;
  }
  const Item& next_non_space() {
    peek_non_space();
    return next();
  }
  const Item& expect(Token type, std::string_view context) {
    const Item& item = next_non_space();
    if (item.type != type) unexpected(item, context);
    return item;
  }
  [[noreturn]] void fail(uint32_t pos, std::string message) const {
    throw ParseFailure{pos, std::move(message)};
  }
  [[noreturn]] void unexpected(const Item& item, std::string_view context) const {
    if (item.type == Token::Error) fail(item.pos, item.text);
    fail(item.pos, fmt::format("unexpected {} in {}", describe(item), context));
  }
  static NodePtr make(NodeKind kind, uint32_t pos) {
    auto node = std::make_unique<Node>();
    node->kind = kind, node->pos = pos;
    return node;
  }

  // -- templates
  // -------------------------------------------------------------------------------------------------
  void parse_top() {
    NodePtr root = make(NodeKind::List, 0);
    while (peek().type != Token::Eof) {
      if (peek().type == Token::LeftDelim && item_after_delim().type == Token::Define) {
        next(), next_non_space();
        parse_definition();
        continue;
      }
      NodePtr node = text_or_action();
      if (node->kind == NodeKind::List && node->text == "end")
        fail(node->pos, "unexpected {{end}}");
      if (node->kind == NodeKind::List && node->text == "else")
        fail(node->pos, "unexpected {{else}}");
      root->children.push_back(std::move(node));
    }
    add(source_, std::move(root));
  }

  const Item& item_after_delim() const {
    size_t i = at_ + 1;
    while (i + 1 < items_.size() && items_[i].type == Token::Space) ++i;
    return items_[std::min(i, items_.size() - 1)];
  }

  void add(const std::string& name, NodePtr root) {
    auto tree = std::make_shared<Tree>();
    tree->name = name, tree->source = source_, tree->text = text_, tree->root = std::move(root);
    const auto old = trees_.find(name);
    if (old == trees_.end() || is_empty_tree(*old->second->root)) {
      trees_[name] = std::move(tree);
    } else if (!is_empty_tree(*tree->root)) {
      fail(peek().pos, fmt::format("template: multiple definition of template {}", quote(name)));
    }
  }

  std::string template_name(const Item& item, std::string_view context) const {
    std::string name;
    if (item.type != Token::String && item.type != Token::RawString) unexpected(item, context);
    if (!unquote(item.text, name)) fail(item.pos, "invalid syntax");
    return name;
  }

  // A body with variables of its own: a definition or a block.
  NodePtr separate_body(std::string_view context) {
    const std::vector<std::string> outer = std::exchange(variables_, {"$"});
    const int ranges = std::exchange(ranges_, 0);
    std::string end;
    NodePtr body = item_list(end);
    if (end != "end") fail(body->pos, fmt::format("unexpected {{{{else}}}} in {}", context));
    variables_ = outer, ranges_ = ranges;
    return body;
  }

  void parse_definition() {
    const std::string name = template_name(next_non_space(), "define clause");
    expect(Token::RightDelim, "define clause");
    add(name, separate_body("define clause"));
  }

  // -- lists
  // -----------------------------------------------------------------------------------------------------
  NodePtr item_list(std::string& ended_by) {
    if (++nesting_ > kMaxNesting) fail(peek().pos, "too deeply nested");
    NodePtr list = make(NodeKind::List, peek_non_space_pos());
    while (peek().type != Token::Eof) {
      NodePtr node = text_or_action();
      if (node->kind == NodeKind::List) {
        ended_by = node->text;
        --nesting_;
        return list;
      }
      list->children.push_back(std::move(node));
    }
    fail(peek().pos, "unexpected EOF");
  }
  uint32_t peek_non_space_pos() { return peek_non_space().pos; }

  // A List node with text "end" or "else" stands for these words.
  NodePtr text_or_action() {
    const Item& item = next_non_space();
    if (item.type == Token::Text) {
      NodePtr node = make(NodeKind::Text, item.pos);
      node->text = item.text;
      return node;
    }
    if (item.type == Token::LeftDelim) return action();
    unexpected(item, "input");
  }

  NodePtr action() {
    const Item& item = next_non_space();
    switch (item.type) {
      case Token::Block:
        return block();
      case Token::Break:
        return loop_word(item, NodeKind::Break);
      case Token::Continue:
        return loop_word(item, NodeKind::Continue);
      case Token::Else:
        return end_word(item, "else");
      case Token::End:
        return end_word(item, "end");
      case Token::If:
        return control(NodeKind::If, item.pos);
      case Token::Range:
        return control(NodeKind::Range, item.pos);
      case Token::With:
        return control(NodeKind::With, item.pos);
      case Token::Template:
        return template_call();
      default:
        break;
    }
    --at_;
    NodePtr node = make(NodeKind::Action, item.pos);
    node->pipe = pipeline("command", Token::RightDelim, false);
    return node;
  }

  NodePtr loop_word(const Item& item, NodeKind kind) {
    const uint32_t pos = item.pos;
    const std::string word = item.text;
    if (const Item& end = next_non_space(); end.type != Token::RightDelim)
      unexpected(end, "{{" + word + "}}");
    if (ranges_ == 0) fail(pos, "{{" + word + "}} outside {{range}}");
    return make(kind, pos);
  }

  NodePtr end_word(const Item& item, std::string_view word) {
    NodePtr node = make(NodeKind::List, item.pos);
    node->text = word;
    if (word == "else") {
      const Token after = peek_non_space().type;
      if (after == Token::If || after == Token::With) return node;  // control() takes it from here
    }
    expect(Token::RightDelim, word);
    return node;
  }

  NodePtr control(NodeKind kind, uint32_t pos) {
    static constexpr std::string_view kNames[] = {"if", "range", "with"};
    const std::string_view name = kNames[static_cast<int>(kind) - static_cast<int>(NodeKind::If)];
    const size_t scope = variables_.size();
    NodePtr node = make(kind, pos);
    node->pipe = pipeline(name, Token::RightDelim, kind == NodeKind::Range);
    if (kind == NodeKind::Range) ++ranges_;
    std::string end;
    node->list = item_list(end);
    if (kind == NodeKind::Range) --ranges_;
    if (end == "else") parse_else(*node, name);
    variables_.resize(scope);
    return node;
  }

  void parse_else(Node& node, std::string_view name) {
    const Token chained = peek_non_space().type;
    if (chained == Token::If || chained == Token::With) {
      const Item word = next_non_space();
      const NodeKind kind = chained == Token::If ? NodeKind::If : NodeKind::With;
      if (kind != node.kind) unexpected(word, name);
      node.otherwise = make(NodeKind::List, word.pos);
      if (++nesting_ > kMaxNesting) fail(word.pos, "too deeply nested");
      node.otherwise->children.push_back(control(kind, word.pos));
      --nesting_;
      return;
    }
    std::string end;
    const uint32_t pos = peek().pos;
    node.otherwise = item_list(end);
    if (end != "end") fail(pos, "expected end; found {{else}}");
  }

  NodePtr template_call() {
    const Item& item = next_non_space();
    NodePtr node = make(NodeKind::Template, item.pos);
    node->text = template_name(item, "template clause");
    if (peek_non_space().type == Token::RightDelim) {
      next();
    } else {
      node->pipe = pipeline("template clause", Token::RightDelim, false);
    }
    return node;
  }

  NodePtr block() {
    const Item& item = next_non_space();
    NodePtr node = make(NodeKind::Template, item.pos);
    node->text = template_name(item, "block clause");
    node->pipe = pipeline("block clause", Token::RightDelim, false);
    add(node->text, separate_body("block clause"));
    return node;
  }

  // -- pipelines
  // -------------------------------------------------------------------------------------------------
  NodePtr pipeline(std::string_view context, Token end, bool range) {
    if (++nesting_ > kMaxNesting) fail(peek().pos, "too deeply nested");
    NodePtr pipe = make(NodeKind::Pipe, peek_non_space_pos());
    declarations(*pipe, context, range);
    while (true) {
      const Item& item = next_non_space();
      if (item.type == end) break;
      if (!starts_operand(item.type)) unexpected(item, context);
      --at_;
      pipe->children.push_back(command());
    }
    --nesting_;
    check_pipeline(*pipe, context);
    return pipe;
  }

  static bool starts_operand(Token type) {
    switch (type) {
      case Token::Bool:
      case Token::CharConstant:
      case Token::Dot:
      case Token::Field:
      case Token::Identifier:
      case Token::Number:
      case Token::Nil:
      case Token::RawString:
      case Token::String:
      case Token::Variable:
      case Token::LeftParen:
        return true;
      default:
        return false;
    }
  }

  void declarations(Node& pipe, std::string_view context, bool range) {
    while (peek_non_space().type == Token::Variable) {
      const size_t start = at_;
      const Item variable = next();
      const Item& after = next_non_space();
      const bool comma = after.type == Token::Char && after.text == ",";
      if (after.type == Token::Declare || after.type == Token::Assign) {
        pipe.names.push_back(variable.text);
        pipe.assigns = after.type == Token::Assign;
        if (pipe.assigns) {
          for (const std::string& name : pipe.names) check_variable(name, variable.pos);
        } else {
          variables_.insert(variables_.end(), pipe.names.begin(), pipe.names.end());
        }
        return;
      }
      if (!comma) {
        at_ = start;
        return;
      }
      pipe.names.push_back(variable.text);
      if (range && pipe.names.size() < 2) {
        const Token next_type = peek_non_space().type;
        if (next_type == Token::Variable || next_type == Token::RightDelim ||
            next_type == Token::RightParen)
          continue;
        fail(variable.pos, "range can only initialize variables");
      }
      fail(variable.pos, fmt::format("too many declarations in {}", context));
    }
  }

  void check_pipeline(const Node& pipe, std::string_view context) const {
    if (pipe.children.empty()) fail(pipe.pos, fmt::format("missing value for {}", context));
    for (size_t i = 1; i < pipe.children.size(); ++i) {
      switch (pipe.children[i]->children[0]->kind) {
        case NodeKind::Bool:
        case NodeKind::Dot:
        case NodeKind::Nil:
        case NodeKind::Number:
        case NodeKind::String:
          fail(pipe.children[i]->pos,
               fmt::format("non executable command in pipeline stage {}", i + 1));
        default:
          break;
      }
    }
  }

  NodePtr command() {
    NodePtr node = make(NodeKind::Command, peek_non_space_pos());
    while (true) {
      peek_non_space();
      if (NodePtr value = operand()) node->children.push_back(std::move(value));
      const Item& item = next();
      if (item.type == Token::Space) continue;
      if (item.type == Token::RightDelim || item.type == Token::RightParen) {
        --at_;
      } else if (item.type != Token::Pipe) {
        unexpected(item, "operand");
      }
      break;
    }
    if (node->children.empty()) fail(node->pos, "empty command");
    return node;
  }

  NodePtr operand() {
    NodePtr node = term();
    if (!node || peek().type != Token::Field) return node;
    NodePtr chain = make(NodeKind::Chain, peek().pos);
    while (peek().type == Token::Field) chain->names.push_back(next().text.substr(1));
    switch (node->kind) {
      case NodeKind::Field:
      case NodeKind::Variable:
        node->names.insert(node->names.end(), chain->names.begin(), chain->names.end());
        return node;
      case NodeKind::Bool:
      case NodeKind::String:
      case NodeKind::Number:
      case NodeKind::Nil:
      case NodeKind::Dot:
        fail(chain->pos, fmt::format("unexpected . after term {}", quote(print_node(*node))));
      default:
        break;
    }
    chain->children.push_back(std::move(node));
    return chain;
  }

  NodePtr term() {
    const Item& item = next_non_space();
    switch (item.type) {
      case Token::Identifier:
        return identifier(item);
      case Token::Dot:
        return make(NodeKind::Dot, item.pos);
      case Token::Nil:
        return make(NodeKind::Nil, item.pos);
      case Token::Variable:
        return variable(item);
      case Token::Field: {
        NodePtr node = make(NodeKind::Field, item.pos);
        node->names.push_back(item.text.substr(1));
        return node;
      }
      case Token::Bool: {
        NodePtr node = make(NodeKind::Bool, item.pos);
        node->text = item.text, node->constant = item.text == "true";
        return node;
      }
      case Token::CharConstant:
      case Token::Number:
        return number(item);
      case Token::LeftParen:
        return pipeline("parenthesized pipeline", Token::RightParen, false);
      case Token::String:
      case Token::RawString:
        return string(item);
      default:
        break;
    }
    --at_;
    return nullptr;
  }

  NodePtr identifier(const Item& item) const {
    NodePtr node = make(NodeKind::Identifier, item.pos);
    node->text = item.text;
    node->builtin = find_builtin(item.text);
    const auto found = context_.functions->find(item.text);
    if (found != context_.functions->end()) node->function = &found->second;
    if (node->function == nullptr && node->builtin < 0) {
      fail(item.pos, fmt::format("function {} not defined", quote(item.text)));
    }
    return node;
  }

  void check_variable(const std::string& name, uint32_t pos) const {
    if (std::find(variables_.begin(), variables_.end(), name) == variables_.end()) {
      fail(pos, fmt::format("undefined variable {}", quote(name)));
    }
  }

  NodePtr variable(const Item& item) const {
    NodePtr node = make(NodeKind::Variable, item.pos);
    node->names.push_back(item.text);
    check_variable(item.text, item.pos);
    return node;
  }

  NodePtr number(const Item& item) const {
    NodePtr node = make(NodeKind::Number, item.pos);
    node->text = item.text;
    Result<NumberLiteral> literal =
        parse_number_literal(item.text, item.type == Token::CharConstant);
    if (!literal) fail(item.pos, literal.error().message());
    node->constant = literal->value, node->integral = literal->integral;
    return node;
  }

  NodePtr string(const Item& item) const {
    NodePtr node = make(NodeKind::String, item.pos);
    if (!unquote(item.text, node->text)) fail(item.pos, "invalid syntax");
    node->constant = node->text;
    return node;
  }

  const ParseContext context_;
  const std::string source_;
  const std::shared_ptr<const std::string> text_;
  const std::vector<Item> items_;
  std::vector<std::string> variables_;
  TreeMap trees_;
  size_t at_ = 0;
  int nesting_ = 0, ranges_ = 0;
};

std::optional<char32_t> hex_escape(std::string_view& rest, size_t digits) {
  if (rest.size() < digits) return std::nullopt;
  char32_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    const char c = rest[i];
    const int digit = c >= '0' && c <= '9'                 ? c - '0'
                      : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                           : -1;
    if (digit < 0) return std::nullopt;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  rest.remove_prefix(digits);
  return value;
}

// What follows a backslash; `mark` is the quote that may be escaped.
bool unescape(std::string_view& rest, char mark, std::string& out) {
  constexpr std::string_view kLetters = "abfnrtv\\", kValues = "\a\b\f\n\r\t\v\\";
  if (rest.empty()) return false;
  const char c = rest[0];
  if (c == mark || kLetters.find(c) != std::string_view::npos) {
    out.push_back(c == mark ? c : kValues[kLetters.find(c)]);
    rest.remove_prefix(1);
    return true;
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    rest.remove_prefix(1);
    const auto value = hex_escape(rest, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (!value || (c != 'x' && *value > 0x10ffff)) return false;
    if (c == 'x')
      out.push_back(static_cast<char>(*value));
    else
      append_utf8(out, *value);
    return true;
  }
  if (c < '0' || c > '3' || rest.size() < 3) return false;
  unsigned value = 0;
  for (size_t i = 0; i < 3; ++i) {
    if (rest[i] < '0' || rest[i] > '7') return false;
    value = value * 8 + static_cast<unsigned>(rest[i] - '0');
  }
  out.push_back(static_cast<char>(value));
  rest.remove_prefix(3);
  return true;
}

}  // namespace

bool unquote(std::string_view literal, std::string& out) {
  out.clear();
  if (literal.size() < 2 || literal.front() != literal.back()) return false;
  const char mark = literal.front();
  std::string_view rest = literal.substr(1, literal.size() - 2);
  if (mark == '`') {
    for (const char c : rest) {
      if (c != '\r') out.push_back(c);
    }
    return true;
  }
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '\\') {
      if (!unescape(rest, mark, out)) return false;
    } else if (c == '\n' || c == mark) {
      return false;
    } else {
      out.push_back(c);
    }
  }
  return true;
}

Result<TreeMap> parse_template(std::string_view name, std::string_view text,
                               const ParseContext& context) {
  return Parser(name, text, context).run();
}

}  // namespace vagt::tmpl
