// Runs a receiver's templates over one notification and remembers what failed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "notify/notification.h"
#include "notify/template_data.h"
#include "template/template.h"

namespace vagt::notify {

// The default templates and the user's files, parsed once per configuration. Shared, immutable.
class TemplateLibrary {
 public:
  // `files` are paths or globs; later definitions win. InvalidArgument: NAME:LINE:COLUMN.
  static Result<std::shared_ptr<const TemplateLibrary>> load(const std::vector<std::string>& files);
  const tmpl::TemplateSet& set() const { return set_; }

  // Runs a text over data; `routeLabels "x"` asks `route_label`. Any thread.
  Result<std::string> run(const std::string& source, const tmpl::TemplateValue& data,
                          const std::function<Result<std::string>(const std::string&)>& route_label,
                          tmpl::Escape escape) const;

 private:
  struct Scope;  // what routeLabels answers from while a text runs
  TemplateLibrary(tmpl::TemplateSet set, std::shared_ptr<Scope> scope);
  tmpl::TemplateSet set_;
  std::shared_ptr<Scope> scope_;
};

class Renderer {
 public:
  Renderer(const TemplateLibrary& library, const Notification& n);

  // A text for people. When it fails, the answer is a plain account that names field and error.
  std::string text(std::string_view field, const std::string& source);
  std::string html(std::string_view field, const std::string& source);
  // A small part whose failure must not show in its place (a colour, an icon): "" then.
  std::string part(std::string_view field, const std::string& source);
  // What the message cannot do without (an address, a key): InvalidArgument names field and error.
  Result<std::string> required(std::string_view field, const std::string& source);

  // "title: template: :1:3: …", in order of occurrence.
  const std::vector<std::string>& errors() const { return errors_; }
  const Notification& notification() const { return n_; }

 private:
  Result<std::string> run(std::string_view field, const std::string& source, tmpl::Escape escape);
  std::string marked(std::string text);
  std::string readable(std::string_view field, const std::string& source, tmpl::Escape escape);
  const TemplateLibrary& library_;
  const Notification& n_;
  tmpl::TemplateValue data_;
  std::vector<std::string> errors_;
  bool mark_repeat_;  // the first text of this message says that it may be a repeat
};

// Route labels rendered for a group: templates may refer to each other through routeLabels "x";
// a cycle or failure gives an error in place of the value.
std::map<std::string, std::string> render_route_labels(
    const TemplateLibrary& library, const Notification& n,
    const std::map<std::string, std::string>& sources);

// The text of the built-in definitions.
std::string_view default_text_templates();
std::string_view default_html_template();

}  // namespace vagt::notify
