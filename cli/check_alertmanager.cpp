#include "cli/check_alertmanager.h"

#include <filesystem>
#include <iterator>
#include <ostream>

#include "config/alertmanager_config.h"
#include "config/prometheus_config.h"
#include "notify/renderer.h"

namespace vagt::cli {
namespace {

Result<notify::Config> load(Context& context, const std::string& file) {
  if (file != "/dev/stdin") return config::load_alertmanager_config(file);
  const std::string text{std::istreambuf_iterator<char>(context.in),
                         std::istreambuf_iterator<char>()};
  return config::parse_alertmanager_config(text, file);
}

// Prints what was found; true when all of it is good.
bool report(Context& context, const notify::Config& config) {
  context.out << "Found:\n - global config\n - route\n"
              << " - " << config.inhibit_rules.size() << " inhibit rules\n"
              << " - " << config.receivers.size() << " receivers\n"
              << " - " << config.templates.size() << " templates\n";
  const auto findings = config::check_alertmanager_config(config);
  if (context.options.is_verbose) {  // amtool prints nothing here, and scripts compare
    for (const auto* list : {&findings.warnings, &findings.hints})
      for (const std::string& text : *list) context.err << "WARNING: " << text << "\n";
  }
  if (config.templates.empty() && findings.errors.empty()) return true;
  const auto library = notify::TemplateLibrary::load(config.templates);
  if (!library) context.out << "  FAILED: " << library.error().message() << "\n";
  for (const std::string& error : findings.errors) context.out << "  FAILED: " << error << "\n";
  const bool is_good = library.ok() && findings.errors.empty();
  if (is_good) context.out << "  SUCCESS\n";
  return is_good;
}

}  // namespace

std::string without_place(const std::string& message, const std::string& file) {
  if (!message.starts_with(file + ":")) return message;
  const size_t end = message.find(": ", file.size());
  const bool is_place =
      end != std::string::npos && message.find_first_not_of("0123456789:", file.size()) == end + 1;
  return is_place ? message.substr(end + 2) : message;
}

int check_alertmanager(Context& context, const CheckAlertmanager& check) {
  for (const std::string& file : check.files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      return context.fail("path '" + file + "' does not exist");
    }
  }
  const auto files = check.files.empty() ? std::vector<std::string>{"/dev/stdin"} : check.files;
  size_t failed = 0;
  for (const std::string& file : files) {
    context.out << "Checking '" << file << "'";
    const auto config = load(context, file);
    if (config) {
      context.out << "  SUCCESS\n";
      if (!report(context, *config)) ++failed;
    } else {
      context.out << "  FAILED: " << without_place(config.error().message(), file) << "\n";
      context.err << config.error().message() << "\n";
      if (file != "/dev/stdin" && config::load_prometheus_config(file))
        context.err << "This is a prometheus.yml: vagtctl check config " << file << "\n";
      ++failed;
    }
    context.out << "\n";
  }
  if (failed == 0) return kSuccess;
  return context.fail("failed to validate " + std::to_string(failed) + " file(s)");
}

}  // namespace vagt::cli
