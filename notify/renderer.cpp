#include "notify/renderer.h"

#include <glob.h>

#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "base/mutex.h"
#include "template/escape_text.h"

namespace vagt::notify {
namespace {

using RouteLabel = std::function<Result<std::string>(const std::string&)>;

std::vector<std::string> expand(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> out;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return out;
}

}  // namespace

// The function table is the set's, so a function can only tell by its thread whose text is running.
struct TemplateLibrary::Scope {
  base::Mutex mutex;
  std::map<std::thread::id, const RouteLabel*> running VAGT_GUARDED_BY(mutex);

  const RouteLabel* exchange(const RouteLabel* now) {
    base::MutexLock lock(mutex);
    const RouteLabel*& mine = running[std::this_thread::get_id()];
    const RouteLabel* before = std::exchange(mine, now);
    if (now == nullptr) running.erase(std::this_thread::get_id());
    return before;
  }
  const RouteLabel* find() {
    base::MutexLock lock(mutex);
    const auto it = running.find(std::this_thread::get_id());
    return it == running.end() ? nullptr : it->second;
  }
};

TemplateLibrary::TemplateLibrary(tmpl::TemplateSet set, std::shared_ptr<Scope> scope)
    : set_(std::move(set)), scope_(std::move(scope)) {}

Result<std::shared_ptr<const TemplateLibrary>> TemplateLibrary::load(
    const std::vector<std::string>& files) {
  auto scope = std::make_shared<Scope>();
  tmpl::FunctionTable functions = tmpl::alertmanager_functions();
  functions["routeLabels"] =
      [scope](std::span<const tmpl::TemplateValue> args) -> Result<tmpl::TemplateValue> {
    const auto* name = args.size() == 1 ? std::get_if<std::string>(&args[0].storage()) : nullptr;
    if (name == nullptr) return Status::invalid("routeLabels wants one name");
    const RouteLabel* route_label = scope->find();
    if (route_label == nullptr) return tmpl::TemplateValue(std::string());
    VAGT_TRY(std::string value, (*route_label)(*name));
    return tmpl::TemplateValue(std::move(value));
  };
  tmpl::TemplateSet set(std::move(functions), tmpl::MissingKey::Zero);
  VAGT_CHECK_OK(set.add("default.tmpl", default_text_templates()));
  VAGT_CHECK_OK(set.add("email.tmpl", default_html_template()));
  for (const std::string& pattern : files) {
    for (const std::string& path : expand(pattern)) {
      std::ifstream in(path, std::ios::binary);
      std::stringstream text;
      text << in.rdbuf();
      if (!in) return Status::io("cannot read template file").at(path);
      VAGT_CHECK_OK(set.add(path, text.str()));
    }
  }
  return std::shared_ptr<const TemplateLibrary>(
      new TemplateLibrary(std::move(set), std::move(scope)));
}

Result<std::string> TemplateLibrary::run(const std::string& source, const tmpl::TemplateValue& data,
                                         const RouteLabel& route_label, tmpl::Escape escape) const {
  const RouteLabel* outer =
      scope_->exchange(&route_label);  // route labels may run texts themselves
  auto out = set_.render(source, data, escape);
  scope_->exchange(outer);
  return out;
}

Renderer::Renderer(const TemplateLibrary& library, const Notification& n)
    : library_(library),
      n_(n),
      data_(template_data(n).to_value()),
      mark_repeat_(n.perhaps_repeated) {}

Result<std::string> Renderer::run(std::string_view field, const std::string& source,
                                  tmpl::Escape escape) {
  if (source.find("{{") == std::string::npos) return source;
  const RouteLabel route_label = [this](const std::string& name) -> Result<std::string> {
    const auto it = n_.route_labels.find(name);
    return it == n_.route_labels.end() ? std::string() : it->second;
  };
  auto out = library_.run(source, data_, route_label, escape);
  if (!out.ok()) {
    Status status = std::move(out).error();
    errors_.push_back(std::string(field) + ": " + status.message());
    return std::move(status).at(field);
  }
  return out;
}

std::string Renderer::readable(std::string_view field, const std::string& source,
                               tmpl::Escape escape) {
  if (source.empty()) return {};
  const bool html = escape == tmpl::Escape::Html;
  if (!n_.plain_note.empty()) {
    const std::string plain = n_.plain_note + "\n" + plain_summary(n_);
    return html ? "<pre>" + tmpl::escape_html(plain) + "</pre>" : plain;
  }
  auto out = run(field, source, escape);
  if (out.ok()) return std::move(out).value();
  const std::string plain = "The template of " + std::string(field) +
                            " failed, this is a plain account: " + out.error().message() + "\n" +
                            plain_summary(n_);
  return html ? "<pre>" + tmpl::escape_html(plain) + "</pre>" : plain;
}

std::string Renderer::marked(std::string text) {
  if (text.empty() || !std::exchange(mark_repeat_, false)) return text;
  return "(perhaps a repeat) " + text;
}

std::string Renderer::text(std::string_view field, const std::string& source) {
  return marked(readable(field, source, tmpl::Escape::None));
}

std::string Renderer::html(std::string_view field, const std::string& source) {
  return marked(readable(field, source, tmpl::Escape::Html));
}

std::string Renderer::part(std::string_view field, const std::string& source) {
  auto out = run(field, source, tmpl::Escape::None);
  return out.ok() ? std::move(out).value() : std::string();
}

Result<std::string> Renderer::required(std::string_view field, const std::string& source) {
  return run(field, source, tmpl::Escape::None);
}

std::map<std::string, std::string> render_route_labels(
    const TemplateLibrary& library, const Notification& n,
    const std::map<std::string, std::string>& sources) {
  std::map<std::string, std::string> done;
  if (sources.empty()) return done;
  const tmpl::TemplateValue data = template_data(n).to_value();
  std::set<std::string> running;
  RouteLabel value = [&](const std::string& name) -> Result<std::string> {
    if (const auto it = done.find(name); it != done.end()) return it->second;
    const auto source = sources.find(name);
    if (source == sources.end()) return std::string();
    if (!running.insert(name).second) {
      return Status::invalid("route label " + name + " refers to itself");
    }
    auto out = library.run(source->second, data, value, tmpl::Escape::None);
    running.erase(name);
    if (out.ok()) done[name] = *out;
    return out;
  };
  for (const auto& [name, source] : sources) {
    if (auto out = value(name); !out.ok()) done[name] = "(" + out.error().message() + ")";
  }
  return done;
}

}  // namespace vagt::notify
