// Alertmanager's API v2 as the verbs use it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/time.h"
#include "cli/context.h"

namespace vagt::cli {

using TextMap = std::map<std::string, std::string>;
using Params = std::vector<std::pair<std::string, std::string>>;

struct AlertView {
  TextMap labels, annotations;
  Timestamp starts_at{}, ends_at{};
  std::string generator_url, state;
};

struct SilenceMatcher {
  std::string name, value;
  bool is_regex = false, is_equal = true;
};
struct SilenceView {
  std::string id;
  std::vector<SilenceMatcher> matchers;
  Timestamp starts_at{}, ends_at{}, updated_at{};
  std::string created_by, comment, state;
  std::string json;  // as the server gave it
};

struct StatusView {
  std::string config_text, uptime, cluster_status, cluster_name;
  std::vector<std::pair<std::string, std::string>> versions;  // buildUser, goVersion, …
  std::vector<std::pair<std::string, std::string>> peers;     // name, address
  std::string config_json, cluster_json;                      // whole answer; its cluster part
};

struct AlertPost {
  TextMap labels, annotations;
  std::optional<Timestamp> starts_at, ends_at;
  std::string generator_url;
};

class AlertmanagerApi {
 public:
  static Result<AlertmanagerApi> connect(Context& context);

  // The filters of GET /alerts. `json`, when given, takes the answer's text.
  Result<std::vector<AlertView>> alerts(const Params& params, std::string* json = nullptr);
  Status post_alert(const AlertPost& alert);
  Result<std::vector<SilenceView>> silences(const Params& params);
  Result<SilenceView> silence(const std::string& id);
  // Creates, or updates when it has an id. Gives the id. NotFound: there is no silence of that id.
  Result<std::string> post_silence(const SilenceView& silence);
  Status expire_silence(const std::string& id);
  Result<StatusView> status();

 private:
  AlertmanagerApi(Context& context, std::shared_ptr<const net::HttpClientConfig> profile,
                  Duration timeout)
      : context_(&context), profile_(std::move(profile)), timeout_(timeout) {}
  // `operation` is the name the API description gives the call; it stands in error texts.
  Result<std::string> call(const std::string& method, const std::string& path,
                           const std::string& shown_path, const std::string& operation,
                           std::string body = "");

  Context* context_;
  std::shared_ptr<const net::HttpClientConfig> profile_;
  Duration timeout_;
};

// A JSON array of silences, as `silence query -o json` prints it.
Result<std::vector<SilenceView>> parse_silences(const std::string& json);
std::string query_string(const Params& params);

}  // namespace vagt::cli
