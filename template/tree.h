// The syntax tree of a template.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "template/template.h"

namespace vagt::tmpl {

struct Node;
using NodePtr = std::unique_ptr<Node>;

enum class NodeKind : uint8_t {
  // What a list holds.
  List,
  Text,
  Action,
  If,
  Range,
  With,
  Template,
  Break,
  Continue,
  // What a pipeline holds.
  Pipe,
  Command,
  Identifier,
  Dot,
  Nil,
  Bool,
  Number,
  String,
  Field,
  Variable,
  Chain,
};

// Turns a printed value into what is safe at its place in an HTML document.
using Escaper = std::string (*)(const TemplateValue& value);

struct Node {
  NodeKind kind = NodeKind::List;
  uint32_t pos = 0;  // byte offset in the template's text
  std::string
      text;  // Text: the text. Identifier, String, Template: name or value. Number: as written
  std::vector<std::string>
      names;  // Field, Chain: the fields. Variable: $name and fields. Pipe: declared variables
  std::vector<NodePtr>
      children;            // List: items. Pipe: commands. Command: operands. Chain: the operand
  bool assigns = false;    // Pipe: `=` instead of `:=`
  TemplateValue constant;  // Bool, Number, String
  bool integral = false;   // Number: has an integer value (1.0 and 1e6 too)
  const Function* function = nullptr;  // Identifier of the function table
  int builtin = -1;                    // Identifier of the language itself
  NodePtr pipe, list, otherwise;       // Action, If, Range, With, Template
  std::vector<Escaper> escapers;       // Action, after HTML escaping was worked out

  NodePtr clone() const;
};

struct Tree {
  std::string name;    // of the template
  std::string source;  // name of the text it stands in, for messages
  std::shared_ptr<const std::string> text;
  NodePtr root;

  // "NAME:LINE:COLUMN", the column as Go counts it: bytes since the line began.
  std::string where(uint32_t pos) const;
};
using TreePtr = std::shared_ptr<const Tree>;
using TreeMap = std::map<std::string, TreePtr, std::less<>>;

// Go's rendering of a node in error messages.
std::string print_node(const Node& node);
// Only white space and definitions.
bool is_empty_tree(const Node& node);

}  // namespace vagt::tmpl
