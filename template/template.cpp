#include "template/template.h"

#include <atomic>
#include <unordered_map>

#include "base/mutex.h"
#include "template/eval.h"
#include "template/html_escape.h"
#include "template/parser.h"

namespace vagt::tmpl {
namespace {

constexpr size_t kMaxCachedTexts = 4096;

// A text made ready to run.
struct Program {
  TreePtr root;
  TreeMap own;      // its definitions
  TreeMap escaped;  // Html: every template it reaches, per context
};
using ProgramPtr = std::shared_ptr<const Program>;

struct CacheKey {
  std::string name, text;
  Escape escape;
  bool operator==(const CacheKey&) const = default;
};
struct CacheHash {
  size_t operator()(const CacheKey& key) const {
    return std::hash<std::string>()(key.text) * 31 + std::hash<std::string>()(key.name) +
           static_cast<size_t>(key.escape);
  }
};

}  // namespace

struct TemplateSet::Impl {
  std::shared_ptr<const FunctionTable> functions;  // trees point into it
  MissingKey missing;
  TreeMap shared;
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::string> variable_names;

  mutable base::Mutex mutex;
  mutable std::unordered_map<CacheKey, ProgramPtr, CacheHash> cache VAGT_GUARDED_BY(mutex);

  Result<ProgramPtr> prepare(std::string_view name, std::string_view text, Escape escape) const {
    auto program = std::make_shared<Program>();
    VAGT_TRY(TreeMap trees, parse_template(name, text, {functions.get(), variable_names}));
    const auto own_root = trees.find(name);
    program->root = own_root->second;
    trees.erase(own_root);
    program->own = std::move(trees);
    if (escape == Escape::Html) {
      VAGT_TRY(program->escaped, escape_templates(*program->root, program->own, shared));
      program->root = program->escaped.at(std::string(name));
    }
    return ProgramPtr(std::move(program));
  }

  Result<ProgramPtr> program(std::string_view name, std::string_view text, Escape escape) const {
    CacheKey key{std::string(name), std::string(text), escape};
    {
      base::MutexLock lock(mutex);
      if (const auto found = cache.find(key); found != cache.end()) return found->second;
    }
    VAGT_TRY(ProgramPtr made, prepare(name, text, escape));
    base::MutexLock lock(mutex);
    if (cache.size() >= kMaxCachedTexts) cache.clear();
    cache.emplace(std::move(key), made);
    return made;
  }
};

TemplateSet::TemplateSet(FunctionTable functions, MissingKey missing)
    : impl_(std::make_shared<Impl>()) {
  impl_->functions = std::make_shared<const FunctionTable>(std::move(functions));
  impl_->missing = missing;
}
TemplateSet::TemplateSet(const TemplateSet& other) : impl_(std::make_shared<Impl>()) {
  impl_->functions = other.impl_->functions;
  impl_->missing = other.impl_->missing;
  impl_->shared = other.impl_->shared;
  impl_->variables = other.impl_->variables;
  impl_->variable_names = other.impl_->variable_names;
}
TemplateSet::TemplateSet(TemplateSet&&) noexcept = default;
TemplateSet::~TemplateSet() = default;

Status TemplateSet::add(std::string_view name, std::string_view text) {
  VAGT_TRY(TreeMap trees, parse_template(name, text, {impl_->functions.get(), {}}));
  for (auto& [key, tree] : trees) {
    TreePtr& slot = impl_->shared[key];
    if (!slot || !is_empty_tree(*tree->root)) slot = tree;
  }
  base::MutexLock lock(impl_->mutex);
  impl_->cache.clear();
  return {};
}

bool TemplateSet::defines(std::string_view name) const {
  return impl_->shared.find(name) != impl_->shared.end();
}

void TemplateSet::declare(std::vector<std::pair<std::string, std::string>> variables) {
  impl_->variables = std::move(variables);
  impl_->variable_names.clear();
  for (const auto& variable : impl_->variables) impl_->variable_names.push_back(variable.first);
  base::MutexLock lock(impl_->mutex);
  impl_->cache.clear();
}

Result<std::string> TemplateSet::render(std::string_view text, const TemplateValue& data,
                                        Escape escape, const Limits& limits) const {
  return render(text, data, RenderOptions{escape, limits, {}});
}

Result<std::string> TemplateSet::render(std::string_view text, const TemplateValue& data,
                                        const RenderOptions& options) const {
  if (text.find("{{") == std::string_view::npos && options.escape == Escape::None &&
      text.size() <= options.limits.max_output_bytes) {
    return std::string(text);
  }
  VAGT_TRY(const ProgramPtr program, impl_->program(options.name, text, options.escape));
  const bool html = options.escape == Escape::Html;
  const EvalContext context{html ? &program->escaped : &program->own,
                            html ? nullptr : &impl_->shared, impl_->missing, options.limits,
                            impl_->variables};
  return evaluate(*program->root, data, context);
}

namespace {

Status check_names(const Node& node, const Tree& tree, const TreeMap& own, const TreeMap& shared) {
  if (node.kind == NodeKind::Template && own.find(node.text) == own.end() &&
      shared.find(node.text) == shared.end()) {
    return Status::invalid("template: " + tree.where(node.pos) + ": template " + quote(node.text) +
                           " not defined");
  }
  for (const NodePtr& child : node.children) VAGT_CHECK_OK(check_names(*child, tree, own, shared));
  for (const NodePtr* part : {&node.list, &node.otherwise}) {
    if (*part) VAGT_CHECK_OK(check_names(**part, tree, own, shared));
  }
  return {};
}

}  // namespace

Status TemplateSet::check(std::string_view text, std::string_view name) const {
  VAGT_TRY(const TreeMap trees,
           parse_template(name, text, {impl_->functions.get(), impl_->variable_names}));
  for (const auto& entry : trees)
    VAGT_CHECK_OK(check_names(*entry.second->root, *entry.second, trees, impl_->shared));
  return {};
}

Status TemplateSet::check_syntax(std::string_view text, std::string_view name) const {
  return parse_template(name, text, {impl_->functions.get(), impl_->variable_names}).status();
}

}  // namespace vagt::tmpl
