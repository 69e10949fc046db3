#include "template/html_escape.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/labels.h"
#include "template/html_context.h"
#include "template/html_escapers.h"

namespace vagt::tmpl {
namespace {

using html::Context;
using html::Delim;
using html::State;
using html::UrlPart;

// Unwinds a failed analysis; it never leaves this file.
struct EscapeFailure {
  std::string message;
};

struct LoopContexts {
  std::vector<Context> breaks, continues;
};

class Analysis {
 public:
  Analysis(const TreeMap& own, const TreeMap& shared) : own_(own), shared_(shared) {}

  Result<TreeMap> run(const Tree& root) {
    try {
      const Context end = escape_tree(root, root.name, Context());
      if (end.state != State::Text) {
        throw EscapeFailure{fmt::format("html/template:{}: ends in a non-text context: {}",
                                        root.source, end.describe())};
      }
      return std::move(trees_);
    } catch (const EscapeFailure& failure) {
      return Status::invalid(failure.message);
    }
  }

 private:
  [[noreturn]] void fail(const Node& node, std::string_view message) const {
    throw EscapeFailure{fmt::format("html/template:{}: {}", tree_->where(node.pos), message)};
  }
  Context checked(const Node& node, Context c) const {
    if (c.state == State::Error) fail(node, c.error);
    return c;
  }

  // Makes the copy of `tree` for the context `c` under `name`; the context behind it.
  Context escape_tree(const Tree& tree, const std::string& name, const Context& c) {
    ends_.emplace(name, c);  // what a recursive call may assume
    auto copy = std::make_shared<Tree>();
    copy->name = tree.name, copy->source = tree.source, copy->text = tree.text,
    copy->root = tree.root->clone();
    const Tree* outer = std::exchange(tree_, copy.get());
    LoopContexts* const loop = std::exchange(loop_, nullptr);
    Context end = list(*copy->root, c);
    const Context assumed = ends_.at(name);
    if (used_early_.count(name) != 0 && !(assumed == end)) {
      fail(*copy->root,
           fmt::format("cannot compute output context for template {}", quote(tree.name)));
    }
    tree_ = outer, loop_ = loop;
    ends_[name] = end;
    done_.insert(name);
    trees_[name] = std::move(copy);
    return end;
  }

  Context list(Node& node, Context c) {
    for (const NodePtr& child : node.children) {
      if (c.state == State::Dead) break;
      c = escape(*child, c);
    }
    return c;
  }

  Context escape(Node& node, const Context& c) {
    switch (node.kind) {
      case NodeKind::Text:
        return text(node, c);
      case NodeKind::Action:
        return action(node, c);
      case NodeKind::If:
        return branch(node, c, "if");
      case NodeKind::With:
        return branch(node, c, "with");
      case NodeKind::Range:
        return branch(node, c, "range");
      case NodeKind::Template:
        return call(node, c);
      case NodeKind::Break:
        return leave(c, loop_ == nullptr ? nullptr : &loop_->breaks);
      case NodeKind::Continue:
        return leave(c, loop_ == nullptr ? nullptr : &loop_->continues);
      case NodeKind::List:
        return list(node, c);
      default:
        return c;
    }
  }

  static Context leave(const Context& c, std::vector<Context>* to) {
    if (to != nullptr) to->push_back(c);
    Context dead;
    dead.state = State::Dead;
    return dead;
  }

  Context branch(Node& node, const Context& c, std::string_view name) {
    const bool loops = node.kind == NodeKind::Range;
    LoopContexts loop;
    LoopContexts* const outer = loops ? std::exchange(loop_, &loop) : loop_;
    Context first = list(*node.list, c);
    if (loops) {
      for (const std::vector<Context>* ends : {&loop.breaks, &loop.continues}) {
        for (const Context& end : *ends) first = checked(node, html::join(first, end, name));
      }
      const Context again = dry_list(*node.list, first);
      first = checked(node, html::join(first, again, name));
      loop_ = outer;
    }
    const Context second = node.otherwise ? list(*node.otherwise, c) : c;
    return checked(node, html::join(first, second, name));
  }

  // The context behind a second run of a loop's body, without changing the body.
  Context dry_list(const Node& node, const Context& c) {
    const NodePtr copy = node.clone();
    strip_escapers(*copy);
    return list(*copy, c);
  }
  static void strip_escapers(Node& node) {
    node.escapers.clear();
    for (const NodePtr& child : node.children) strip_escapers(*child);
    for (const NodePtr* part : {&node.list, &node.otherwise}) {
      if (*part) strip_escapers(**part);
    }
  }

  Context call(Node& node, const Context& c) {
    const std::string plain = node.text.substr(0, node.text.find('\x01'));
    const Tree* called = find(plain);
    if (called == nullptr) fail(node, fmt::format("no such template {}", quote(plain)));
    const std::string name = c == Context() ? plain : plain + '\x01' + c.describe();
    node.text = name;
    const auto known = ends_.find(name);
    if (known != ends_.end()) {
      if (done_.count(name) == 0) used_early_.insert(name);
      return known->second;
    }
    if (++depth_ > 200) fail(node, "templates nested too deeply");
    const Context end = escape_tree(*called, name, c);
    --depth_;
    return end;
  }

  const Tree* find(const std::string& name) const {
    const auto own = own_.find(name);
    const auto shared = shared_.find(name);
    if (own != own_.end() && (shared == shared_.end() || !is_empty_tree(*own->second->root)))
      return own->second.get();
    return shared == shared_.end() ? nullptr : shared->second.get();
  }

  // -- text
  // ------------------------------------------------------------------------------------------------------
  Context text(Node& node, Context c) {
    const std::string_view s = node.text;
    std::string out;
    size_t written = 0, i = 0;
    bool edited = false;
    while (i < s.size()) {
      size_t read = 0;
      const Context next = checked(node, html::after_text(c, s.substr(i), read));
      const size_t end = i + read;
      if (c.state == State::Text || c.state == State::RcData) {
        escape_stray_brackets(s, i, end, next.state != c.state, out, written, edited);
      } else if (html::is_comment(c.state) && c.delim == Delim::None) {
        if (c.state == State::JsBlockCmt) {
          out += s.substr(written, end - written).find_first_of("\n\r") != std::string_view::npos
                     ? "\n"
                     : " ";
        } else if (c.state == State::CssBlockCmt) {
          out += " ";
        }
        written = end, edited = true;
      }
      if (c.state != next.state && html::is_comment(next.state) && next.delim == Delim::None) {
        const size_t start = end - (next.state == State::Comment ? 4 : 2);
        out += s.substr(written, start - written);
        written = end, edited = true;
      }
      c = next;
      i = end;
    }
    if (edited) {
      if (!html::is_comment(c.state) || c.delim != Delim::None) out += s.substr(written);
      node.text = std::move(out);
    }
    return c;
  }

  // A "<" that begins no tag is text.
  static void escape_stray_brackets(std::string_view s, size_t begin, size_t end, bool leaves,
                                    std::string& out, size_t& written, bool& edited) {
    if (leaves) {
      const size_t tag = s.substr(0, end).rfind('<');
      if (tag != std::string_view::npos && tag >= begin) end = tag;
    }
    for (size_t j = begin; j < end; ++j) {
      if (s[j] != '<') continue;
      std::string head(s.substr(j, 9));
      for (char& ch : head) ch = static_cast<char>(ch >= 'a' && ch <= 'z' ? ch - 32 : ch);
      if (head == "<!DOCTYPE") continue;
      out += s.substr(written, j - written);
      out += "&lt;";
      written = j + 1, edited = true;
    }
  }

  // -- actions
  // ---------------------------------------------------------------------------------------------------
  Context action(Node& node, const Context& before) {
    if (!node.pipe->names.empty()) return before;
    Context c = html::nudge(before);
    std::vector<Escaper> escapers;
    switch (c.state) {
      case State::Url:
      case State::CssDqStr:
      case State::CssSqStr:
      case State::CssDqUrl:
      case State::CssSqUrl:
      case State::CssUrl:
        url_escapers(node, c, escapers);
        break;
      case State::Js:
        escapers.push_back(html::js_value);
        c.js_ctx = html::JsCtx::DivOp;
        break;
      case State::JsDqStr:
      case State::JsSqStr:
        escapers.push_back(html::js_string);
        break;
      case State::JsTmplLit:
        escapers.push_back(html::js_template_literal);
        break;
      case State::JsRegexp:
        escapers.push_back(html::js_regexp);
        break;
      case State::Css:
        escapers.push_back(html::css_value);
        break;
      case State::Text:
        escapers.push_back(html::text);
        break;
      case State::RcData:
        escapers.push_back(html::rcdata);
        break;
      case State::AttrName:
      case State::Tag:
        c.state = State::AttrName;
        escapers.push_back(html::attr_name);
        break;
      case State::Srcset:
        escapers.push_back(html::srcset);
        break;
      default:
        if (html::is_comment(c.state)) escapers.push_back(html::comment);
    }
    if (c.delim == Delim::SpaceOrTagEnd) {
      escapers.push_back(html::attr_unquoted);
    } else if (c.delim != Delim::None) {
      escapers.push_back(html::attr);
    }
    node.escapers = without_repeated(*node.pipe, std::move(escapers));
    return c;
  }

  void url_escapers(const Node& node, const Context& c, std::vector<Escaper>& escapers) const {
    if (c.url_part == UrlPart::Unknown) {
      fail(node, fmt::format("{} appears in an ambiguous context within a URL", print_node(node)));
    }
    if (c.url_part == UrlPart::QueryOrFrag) return escapers.push_back(html::url_query);
    if (c.url_part == UrlPart::None) escapers.push_back(html::url_filter);
    const bool string = c.state == State::CssDqStr || c.state == State::CssSqStr;
    escapers.push_back(string ? html::css_string : html::url_normal);
  }

  // `html` or `urlquery` at the end of the pipeline stands for the escape of the same kind.
  static std::vector<Escaper> without_repeated(const Node& pipe, std::vector<Escaper> escapers) {
    const Node& last = *pipe.children.back()->children[0];
    if (last.kind != NodeKind::Identifier || last.function != nullptr) return escapers;
    const auto drop = [&](Escaper escaper) {
      escapers.erase(std::remove(escapers.begin(), escapers.end(), escaper), escapers.end());
    };
    if (last.text == "html") {
      drop(html::text), drop(html::rcdata), drop(html::attr);
    } else if (last.text == "urlquery") {
      drop(html::url_query), drop(html::url_normal);
    }
    return escapers;
  }

  const TreeMap& own_;
  const TreeMap& shared_;
  const Tree* tree_ = nullptr;
  LoopContexts* loop_ = nullptr;
  TreeMap trees_;
  std::map<std::string, Context> ends_;
  std::set<std::string> done_, used_early_;
  int depth_ = 0;
};

}  // namespace

Result<TreeMap> escape_templates(const Tree& root, const TreeMap& own, const TreeMap& shared) {
  return Analysis(own, shared).run(root);
}

}  // namespace vagt::tmpl
