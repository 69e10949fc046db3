// Prometheus's API v1 as the verbs ask it. Inside cli only.
#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/alertmanager_api.h"
#include "cli/context.h"

namespace vagt::cli {

class PrometheusApi {
 public:
  // InvalidArgument: --http.config.file is bad.
  static Result<PrometheusApi> connect(Context& context, const std::string& server);
  void add_header(std::string name, std::string value) {
    headers_.emplace_back(std::move(name), std::move(value));
  }
  // Of one request; 2 minutes unless set.
  void set_timeout(Duration timeout) { timeout_ = timeout; }
  // The answer's "data"; its warnings go to standard error, errors are worded as promtool's.
  Result<boost::json::value> post(const std::string& path, const Params& params);
  Result<boost::json::value> get(const std::string& path, const Params& params);

 private:
  PrometheusApi(Context& context, std::string server,
                std::shared_ptr<const net::HttpClientConfig> profile)
      : context_(&context), server_(std::move(server)), profile_(std::move(profile)) {}
  net::HttpRequest make_request(const std::string& method, const std::string& target) const;
  Result<boost::json::value> call(net::HttpRequest request, const char* verb,
                                  const std::string& path);

  Context* context_;
  std::string server_;
  std::shared_ptr<const net::HttpClientConfig> profile_;
  std::vector<std::pair<std::string, std::string>> headers_;
  Duration timeout_ = std::chrono::minutes(2);
};

}  // namespace vagt::cli
