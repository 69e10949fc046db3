#include "cli/check_config.h"

#include <unistd.h>

#include <filesystem>
#include <ostream>

#include "config/alertmanager_config.h"
#include "config/prometheus_config.h"

namespace vagt::cli {
namespace {

using config::PrometheusConfig;

// A credential or certificate that a scrape would need and could not read.
void check_readable(const std::string& job, const std::string& path,
                    std::vector<std::string>& errors) {
  if (path.empty() || ::access(path.c_str(), R_OK) == 0) return;
  errors.push_back("job " + job + ": error checking file \"" + path +
                   "\": not there, or not readable");
}

void check_http_files(const std::string& job, const net::HttpClientConfig& http,
                      std::vector<std::string>& errors) {
  if (http.authorization) check_readable(job, http.authorization->credentials_file, errors);
  if (http.basic_auth) {
    check_readable(job, http.basic_auth->username_file, errors);
    check_readable(job, http.basic_auth->password_file, errors);
  }
  if (http.oauth2) check_readable(job, http.oauth2->client_secret_file, errors);
  check_readable(job, http.tls.ca_file, errors);
  check_readable(job, http.tls.cert_file, errors);
  check_readable(job, http.tls.key_file, errors);
}

// What a pager needs, said plainly.
void check_paging(Context& context, const PrometheusConfig& config,
                  std::vector<std::string>& errors) {
  if (config.notify_file.empty()) {
    if (!config.alerting.alertmanagers.empty()) return;
    context.err << " WARNING: nobody will be paged: there is neither an alerting: section nor a "
                   "notify_file:\n"
                   "          (vagtd's flag --alertmanager.config may still name one)\n";
    return;
  }
  const auto notify = config::load_alertmanager_config(config.notify_file);
  if (!notify) {
    errors.push_back(notify.error().message());
    return;
  }
  const auto findings = config::check_alertmanager_config(*notify);
  for (const std::string& error : findings.errors)
    errors.push_back(config.notify_file + ": " + error);
  for (const auto* list : {&findings.warnings, &findings.hints})
    for (const std::string& warning : *list) context.err << " WARNING: " << warning << "\n";
}

// The rule files there are; errors that make the configuration useless are added.
std::vector<std::string> check_files(Context& context, const PrometheusConfig& config,
                                     std::vector<std::string>& errors) {
  for (const std::string& pattern : config.rule_files) {
    const bool is_glob = pattern.find_first_of("*?[") != std::string::npos;
    std::error_code error;
    if (!is_glob && !std::filesystem::exists(pattern, error)) {
      errors.push_back("\"" + pattern + "\" does not point to an existing file");
    }
    if (is_glob && config::expand_globs({pattern}).empty()) {
      context.err << " WARNING: no rule file matches \"" << pattern << "\"\n";
    }
  }
  for (const auto& job : config.scrape_configs) check_http_files(job.job_name, job.http, errors);
  for (const auto& target : config.alerting.alertmanagers) {
    check_http_files("alertmanagers", target.http, errors);
  }
  check_paging(context, config, errors);
  return config::expand_globs(config.rule_files);
}

struct Outcome {
  bool failed = false;
  std::vector<std::string> rule_files;
};

Outcome check_file(Context& context, const std::string& file, const CheckConfig& check) {
  context.out << "Checking " << file << std::endl;  // before what goes to standard error
  const auto config = config::load_prometheus_config(file, {.agent_mode = check.agent});
  if (!config) {
    context.err << "  FAILED: " << config.error().message() << "\n";
    if (config::load_alertmanager_config(file))
      context.err << "  This is an alertmanager.yml: vagtctl check-config " << file << "\n";
    return {true, {}};
  }
  for (const std::string& notice : config->notices) context.err << " NOTICE: " << notice << "\n";
  Outcome outcome;
  std::vector<std::string> errors;
  if (!check.syntax_only) outcome.rule_files = check_files(context, *config, errors);
  if (!errors.empty()) {
    outcome.failed = true;
    for (const std::string& error : errors) context.err << "  FAILED: " << error << "\n";
    return outcome;
  }
  if (!outcome.rule_files.empty()) {
    context.out << "  SUCCESS: " << outcome.rule_files.size() << " rule files found\n";
  }
  context.out << " SUCCESS: " << file << " is valid prometheus config file syntax\n";
  return outcome;
}

}  // namespace

int check_config(Context& context, const CheckConfig& check) {
  if (const Status status = check_lint_name(check.lint.checks); !status.ok())
    return context.fail(status);
  for (const std::string& file : check.files) {
    std::error_code error;
    if (!std::filesystem::exists(file, error))
      return context.fail("path '" + file + "' does not exist");
  }
  RulesVerdict verdict;
  for (const std::string& file : check.files) {
    const Outcome outcome = check_file(context, file, check);
    context.out << "\n";
    const RulesVerdict rules =
        check_rule_files(context, {outcome.rule_files, check.lint, check.features, false}, "     ");
    verdict.failed = verdict.failed || outcome.failed || rules.failed;
    verdict.has_lint_findings = verdict.has_lint_findings || rules.has_lint_findings;
  }
  return verdict.exit_code(check.lint);
}

}  // namespace vagt::cli
