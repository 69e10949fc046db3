// Amazon SNS: Publish, signed with Signature Version 4.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "net/http_client.h"
#include "notify/notifier.h"

namespace vagt::notify {

struct SnsConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string api_url, topic_arn, target_arn, phone_number;
  std::string region, access_key, profile, role_arn;
  Secret secret_key;
  std::string subject = R"({{ template "sns.default.subject" . }})",
              message = R"({{ template "sns.default.message" . }})";
  std::map<std::string, std::string> attributes;
};
std::unique_ptr<Notifier> make_sns_notifier(const SnsConfig& config);

// AWS Signature Version 4 of a POST: the Authorization header. Pure, for its own test.
struct SigV4 {
  std::string access_key, region, service;
  Secret secret_key;
};
std::string sign_v4(const SigV4& keys, const std::string& host, const std::string& path,
                    const std::string& body, Timestamp now);

}  // namespace vagt::notify
