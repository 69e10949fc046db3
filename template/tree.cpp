#include "template/tree.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/labels.h"

namespace vagt::tmpl {

NodePtr Node::clone() const {
  auto copy = std::make_unique<Node>();
  copy->kind = kind, copy->pos = pos, copy->text = text, copy->names = names,
  copy->assigns = assigns;
  copy->constant = constant, copy->integral = integral, copy->function = function,
  copy->builtin = builtin;
  copy->escapers = escapers;
  for (const NodePtr& child : children) copy->children.push_back(child->clone());
  if (pipe) copy->pipe = pipe->clone();
  if (list) copy->list = list->clone();
  if (otherwise) copy->otherwise = otherwise->clone();
  return copy;
}

std::string Tree::where(uint32_t pos) const {
  const std::string_view before = std::string_view(*text).substr(0, pos);
  const size_t newline = before.rfind('\n');
  const size_t column =
      newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return fmt::format("{}:{}:{}", source, line, column);
}

namespace {

std::string print_children(const Node& node, std::string_view separator) {
  std::string out;
  for (const NodePtr& child : node.children) {
    if (!out.empty()) out += separator;
    const bool nested = child->kind == NodeKind::Pipe;
    out += nested ? "(" + print_node(*child) + ")" : print_node(*child);
  }
  return out;
}

std::string print_pipe(const Node& node) {
  std::string out;
  for (const std::string& name : node.names) out += (out.empty() ? "" : ", ") + name;
  if (!out.empty()) out += node.assigns ? " = " : " := ";
  return out + print_children(node, " | ");
}

std::string print_names(const Node& node, std::string_view lead) {
  std::string out;
  for (size_t i = 0; i < node.names.size(); ++i)
    out += (i == 0 ? std::string(lead) : ".") + node.names[i];
  return out;
}

}  // namespace

std::string print_node(const Node& node) {
  switch (node.kind) {
    case NodeKind::List:
      return print_children(node, "");
    case NodeKind::Text:
      return node.text;
    case NodeKind::Action:
      return "{{" + print_node(*node.pipe) + "}}";
    case NodeKind::If:
      return "{{if " + print_node(*node.pipe) + "}}";
    case NodeKind::Range:
      return "{{range " + print_node(*node.pipe) + "}}";
    case NodeKind::With:
      return "{{with " + print_node(*node.pipe) + "}}";
    case NodeKind::Break:
      return "{{break}}";
    case NodeKind::Continue:
      return "{{continue}}";
    case NodeKind::Template:
      return "{{template " + quote(node.text) + (node.pipe ? " " + print_node(*node.pipe) : "") +
             "}}";
    case NodeKind::Pipe:
      return print_pipe(node);
    case NodeKind::Command:
      return print_children(node, " ");
    case NodeKind::Identifier:
    case NodeKind::Number:
      return node.text;
    case NodeKind::String:
      return quote(node.text);
    case NodeKind::Dot:
      return ".";
    case NodeKind::Nil:
      return "nil";
    case NodeKind::Bool:
      return node.text;
    case NodeKind::Field:
      return print_names(node, ".");
    case NodeKind::Variable:
      return print_names(node, "");
    case NodeKind::Chain: {
      const std::string inner = print_node(*node.children[0]);
      const bool pipe = node.children[0]->kind == NodeKind::Pipe;
      return (pipe ? "(" + inner + ")" : inner) + print_names(node, ".");
    }
  }
  return "";
}

bool is_empty_tree(const Node& node) {
  return std::all_of(node.children.begin(), node.children.end(), [](const NodePtr& child) {
    return child->kind == NodeKind::Text &&
           child->text.find_first_not_of(" \t\r\n") == std::string::npos;
  });
}

}  // namespace vagt::tmpl
