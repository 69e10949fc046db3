// WeChat Work: a token, then a message.
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

struct WechatConfig {
  bool send_resolved = false;
  net::HttpClientConfig http;
  Secret api_secret;
  std::string api_secret_file, api_url, corp_id;  // api_url with a trailing slash
  std::string message = R"({{ template "wechat.default.message" . }})",
              to_user = R"({{ template "wechat.default.to_user" . }})",
              to_party = R"({{ template "wechat.default.to_party" . }})",
              to_tag = R"({{ template "wechat.default.to_tag" . }})",
              agent_id = R"({{ template "wechat.default.agent_id" . }})", message_type = "text";
};
std::unique_ptr<Notifier> make_wechat_notifier(const WechatConfig& config);

}  // namespace vagt::notify
