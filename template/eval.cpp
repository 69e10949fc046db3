#include "template/eval.h"

#include <fmt/core.h>

#include <vector>

#include "base/labels.h"
#include "template/builtins.h"
#include "template/field.h"
#include "template/value.h"

namespace vagt::tmpl {
namespace {

enum class Flow : uint8_t { Next, Break, Continue };

// Unwinds a failed run; it never leaves this file.
struct Failure {
  Status status;
};

class Evaluator {
 public:
  Evaluator(const EvalContext& context) : context_(context) {}

  Result<std::string> run(const Tree& tree, const TemplateValue& data) {
    try {
      tree_ = &tree;
      variables_.push_back({"$", data});
      for (const auto& [name, field] : context_.variables) {
        Result<TemplateValue> value = field_of(data, field, context_.missing);
        if (!value) return std::move(value).error();
        variables_.push_back({name, std::move(*value)});
      }
      walk_list(*tree.root, data);
      return std::move(out_);
    } catch (Failure& failure) {
      return std::move(failure.status);
    }
  }

 private:
  struct Variable {
    std::string_view name;
    TemplateValue value;
  };

  // -- errors and limits
  // -----------------------------------------------------------------------------------------
  [[noreturn]] void fail(const Node& node, std::string_view message,
                         Code code = Code::InvalidArgument) const {
    std::string shown = print_node(node);
    constexpr size_t kMaxShown = 200;
    if (shown.size() > kMaxShown) {
      size_t cut = kMaxShown;
      while ((static_cast<unsigned char>(shown[cut]) & 0xc0) == 0x80) --cut;
      shown = shown.substr(0, cut) + "...";
    }
    throw Failure{
        Status(code, fmt::format("template: {}: executing {} at <{}>: {}", tree_->where(node.pos),
                                 quote(tree_->name), shown, message))};
  }

  void step(const Node& node) {
    if (++steps_ > context_.limits.max_steps) {
      fail(node, fmt::format("exceeded {} steps", context_.limits.max_steps), Code::LimitExceeded);
    }
  }

  void write(const Node& node, std::string_view text) {
    if (out_.size() + text.size() > context_.limits.max_output_bytes) {
      fail(node, fmt::format("output exceeds {} bytes", context_.limits.max_output_bytes),
           Code::LimitExceeded);
    }
    out_ += text;
  }

  // -- statements
  // ------------------------------------------------------------------------------------------------
  Flow walk_list(const Node& list, const TemplateValue& dot) {
    for (const NodePtr& node : list.children) {
      if (const Flow flow = walk(*node, dot); flow != Flow::Next) return flow;
    }
    return Flow::Next;
  }

  Flow walk(const Node& node, const TemplateValue& dot) {
    step(node);
    switch (node.kind) {
      case NodeKind::Text:
        write(node, node.text);
        return Flow::Next;
      case NodeKind::Action:
        action(node, dot);
        return Flow::Next;
      case NodeKind::If:
      case NodeKind::With:
        return branch(node, dot);
      case NodeKind::Range:
        return range(node, dot);
      case NodeKind::Template:
        call_template(node, dot);
        return Flow::Next;
      case NodeKind::Break:
        return Flow::Break;
      case NodeKind::Continue:
        return Flow::Continue;
      case NodeKind::List:
        return walk_list(node, dot);
      default:
        fail(node, "unknown node");
    }
  }

  void action(const Node& node, const TemplateValue& dot) {
    TemplateValue value = pipeline(*node.pipe, dot);
    if (!node.pipe->names.empty()) return;
    if (node.escapers.empty()) {
      if (const auto* text = get_if<std::string>(value)) return write(node, *text);
      return write(node, print_action(value));
    }
    for (const Escaper escape : node.escapers) value = TemplateValue(escape(value));
    write(node, std::get<std::string>(value.storage()));
  }

  Flow branch(const Node& node, const TemplateValue& dot) {
    const size_t scope = variables_.size();
    const TemplateValue value = pipeline(*node.pipe, dot);
    Flow flow = Flow::Next;
    if (is_true(value)) {
      flow = walk_list(*node.list, node.kind == NodeKind::With ? value : dot);
    } else if (node.otherwise) {
      flow = walk_list(*node.otherwise, dot);
    }
    variables_.resize(scope);
    return flow;
  }

  Flow range(const Node& node, const TemplateValue& dot) {
    const size_t scope = variables_.size();
    const TemplateValue value = pipeline(*node.pipe, dot);
    size_t rounds = 0;
    Flow flow = Flow::Next;
    const auto body = [&](const TemplateValue& key, const TemplateValue& element) {
      step(node);
      ++rounds;
      set_range_variables(node, scope, key, element);
      flow = walk_list(*node.list, element);
      variables_.resize(scope + (node.pipe->assigns ? 0 : node.pipe->names.size()));
      return flow != Flow::Break;
    };
    if (!each(value, body)) fail(*node.pipe, "range can't iterate over " + print_value(value));
    variables_.resize(scope);
    if (rounds == 0 && node.otherwise) return walk_list(*node.otherwise, dot);
    return Flow::Next;
  }

  void set_range_variables(const Node& node, size_t scope, const TemplateValue& key,
                           const TemplateValue& element) {
    const std::vector<std::string>& names = node.pipe->names;
    const bool both = names.size() > 1;
    for (size_t i = 0; i < names.size(); ++i) {
      const TemplateValue& value = both && i == 0 ? key : element;
      if (node.pipe->assigns) {
        assign(names[i], value);
      } else {
        variables_[scope + i].value = value;
      }
    }
  }

  template <class F>
  static bool each(const TemplateValue& value, F body) {
    if (const ValueMap* map = map_of(value)) {
      for (const auto& [key, element] : *map) {
        if (!body(TemplateValue(key), element)) break;
      }
      return true;
    }
    if (const ValueList* list = list_of(value)) {
      for (size_t i = 0; i < list->size(); ++i) {
        if (!body(TemplateValue(static_cast<int64_t>(i)), (*list)[i])) break;
      }
      return true;
    }
    if (const auto* count = get_if<int64_t>(value)) {
      for (int64_t i = 0; i < *count; ++i) {
        if (!body(TemplateValue(i), TemplateValue(i))) break;
      }
      return true;
    }
    return value.is_nil();
  }

  void call_template(const Node& node, const TemplateValue& dot) {
    const Tree* called = find(node.text);
    if (called == nullptr) fail(node, fmt::format("template {} not defined", quote(node.text)));
    if (++depth_ > context_.limits.max_depth) {
      fail(node, fmt::format("exceeded maximum template depth ({})", context_.limits.max_depth),
           Code::LimitExceeded);
    }
    TemplateValue data = node.pipe ? pipeline(*node.pipe, dot) : TemplateValue();
    std::vector<Variable> outer = std::exchange(variables_, {});
    const Tree* caller = std::exchange(tree_, called);
    variables_.push_back({"$", data});
    walk_list(*called->root, data);
    tree_ = caller;
    variables_ = std::move(outer);
    --depth_;
  }

  const Tree* find(const std::string& name) const {
    for (const TreeMap* map : {context_.own, context_.shared}) {
      if (map == nullptr) continue;
      const auto found = map->find(name);
      // An empty definition does not hide one that says something.
      if (found != map->end() &&
          (map == context_.shared || !is_empty_tree(*found->second->root) ||
           context_.shared == nullptr || context_.shared->count(name) == 0)) {
        return found->second.get();
      }
    }
    return nullptr;
  }

  // -- variables
  // -------------------------------------------------------------------------------------------------
  void assign(const std::string& name, const TemplateValue& value) {
    for (auto it = variables_.rbegin(); it != variables_.rend(); ++it) {
      if (it->name == name) {
        it->value = value;
        return;
      }
    }
  }
  const TemplateValue& variable(const Node& node) const {
    for (auto it = variables_.rbegin(); it != variables_.rend(); ++it) {
      if (it->name == node.names[0]) return it->value;
    }
    fail(node, "undefined variable: " + node.names[0]);
  }

  // -- expressions
  // -----------------------------------------------------------------------------------------------
  TemplateValue pipeline(const Node& pipe, const TemplateValue& dot) {
    TemplateValue value;
    bool first = true;
    for (const NodePtr& command : pipe.children) {
      value = this->command(*command, dot, first ? nullptr : &value);
      first = false;
    }
    for (const std::string& name : pipe.names) {
      if (pipe.assigns)
        assign(name, value);
      else
        variables_.push_back({name, value});
    }
    return value;
  }

  TemplateValue command(const Node& node, const TemplateValue& dot, const TemplateValue* final) {
    step(node);
    const Node& first = *node.children[0];
    const bool has_args = node.children.size() > 1 || final != nullptr;
    switch (first.kind) {
      case NodeKind::Identifier:
        return function(first, node, dot, final);
      case NodeKind::Field:
        return fields(first, dot, first.names, 0, node, dot, final);
      case NodeKind::Variable:
        if (first.names.size() == 1 && has_args) not_a_function(first);
        return fields(first, variable(first), first.names, 1, node, dot, final);
      case NodeKind::Chain:
        return fields(first, operand(*first.children[0], dot), first.names, 0, node, dot, final);
      case NodeKind::Pipe:
        if (has_args) not_a_function(first);
        return pipeline(first, dot);
      case NodeKind::Nil:
        fail(first, "nil is not a command");
      default:
        break;
    }
    if (has_args) not_a_function(first);
    return operand(first, dot);
  }

  [[noreturn]] void not_a_function(const Node& node) const {
    fail(node, "can't give argument to non-function " + print_node(node));
  }

  TemplateValue operand(const Node& node, const TemplateValue& dot) {
    switch (node.kind) {
      case NodeKind::Dot:
        return dot;
      case NodeKind::Nil:
        return {};
      case NodeKind::Bool:
      case NodeKind::Number:
      case NodeKind::String:
        return node.constant;
      case NodeKind::Field:
        return fields(node, dot, node.names, 0, node, dot, nullptr);
      case NodeKind::Variable:
        return fields(node, variable(node), node.names, 1, node, dot, nullptr);
      case NodeKind::Chain:
        return fields(node, operand(*node.children[0], dot), node.names, 0, node, dot, nullptr);
      case NodeKind::Pipe:
        return pipeline(node, dot);
      case NodeKind::Identifier:
        return function(node, node, dot, nullptr);
      default:
        fail(node, "can't handle " + print_node(node));
    }
  }

  // The arguments of a command: its operands behind the first, and what the pipe hands on.
  std::vector<TemplateValue> arguments(const Node& command, const TemplateValue& dot,
                                       const TemplateValue* final) {
    std::vector<TemplateValue> args;
    if (command.kind == NodeKind::Command) {
      args.reserve(command.children.size());
      for (size_t i = 1; i < command.children.size(); ++i)
        args.push_back(operand(*command.children[i], dot));
    }
    if (final != nullptr) args.push_back(*final);
    return args;
  }

  TemplateValue fields(const Node& node, TemplateValue value, const std::vector<std::string>& names,
                       size_t from, const Node& command, const TemplateValue& dot,
                       const TemplateValue* final) {
    for (size_t i = from; i < names.size(); ++i) {
      const bool last = i + 1 == names.size();
      const bool called =
          last &&
          ((command.kind == NodeKind::Command && command.children.size() > 1) || final != nullptr);
      Result<TemplateValue> next = called
                                       ? method_of(value, names[i], arguments(command, dot, final))
                                       : field_of(value, names[i], context_.missing);
      if (!next) fail(node, next.error().message());
      value = std::move(*next);
    }
    return value;
  }

  TemplateValue function(const Node& name, const Node& command, const TemplateValue& dot,
                         const TemplateValue* final) {
    if (name.function == nullptr && (name.builtin == kBuiltinAnd || name.builtin == kBuiltinOr)) {
      return and_or(name, command, dot, final);
    }
    const std::vector<TemplateValue> args = arguments(command, dot, final);
    Result<TemplateValue> value =
        name.function != nullptr ? (*name.function)(args) : call_builtin(name.builtin, args);
    if (value) return std::move(*value);
    const std::string& message = value.error().message();
    const bool usage =
        message.starts_with("wrong number of args") || message.starts_with("wrong type for value");
    if (usage) fail(name, message);
    fail(command, fmt::format("error calling {}: {}", name.text, message), value.error().code());
  }

  TemplateValue and_or(const Node& name, const Node& command, const TemplateValue& dot,
                       const TemplateValue* final) {
    const size_t operands = command.kind == NodeKind::Command ? command.children.size() : 1;
    if (operands == 1 && final == nullptr) {
      fail(name, wrong_count(name.text, "at least 1", 0).message());
    }
    TemplateValue value;
    for (size_t i = 1; i < operands; ++i) {
      value = operand(*command.children[i], dot);
      if (is_true(value) == (name.builtin == kBuiltinOr)) return value;
    }
    return final != nullptr ? *final : value;
  }

  const EvalContext& context_;
  const Tree* tree_ = nullptr;
  std::vector<Variable> variables_;
  std::string out_;
  size_t steps_ = 0, depth_ = 0;
};

}  // namespace

Result<std::string> evaluate(const Tree& tree, const TemplateValue& data,
                             const EvalContext& context) {
  return Evaluator(context).run(tree, data);
}

}  // namespace vagt::tmpl
