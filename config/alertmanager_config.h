// alertmanager.yml: loaded, checked and completed into notify's structs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "notify/matchers.h"
#include "notify/notify_config.h"

namespace vagt::config {

struct AlertmanagerLoadOptions {
  notify::MatcherSyntax syntax = notify::MatcherSyntax::Fallback;  // --enable-feature
};

// Errors begin with file:line:column and contain Alertmanager's complaint. Template files and
// secret files are not opened.
Result<notify::Config> load_alertmanager_config(const std::string& path,
                                                const AlertmanagerLoadOptions& options = {});
// The same for text; relative paths are taken from the folder of `path`.
Result<notify::Config> parse_alertmanager_config(std::string_view text, const std::string& path,
                                                 const AlertmanagerLoadOptions& options = {});

// What loads but would not page as meant, in words that name receiver and field: missing templates,
// receivers nobody routes to, repeats that cannot come when asked, inhibitions that mute too much.
// `errors` are what `check config` refuses, `warnings` what it mentions, `hints` what it mentions
// though most files have it and few mean harm: nothing to log at every start. Reads the template
// files.
struct AlertmanagerFindings {
  std::vector<std::string> errors, warnings, hints;
};
AlertmanagerFindings check_alertmanager_config(const notify::Config& config);

}  // namespace vagt::config
