// Matrix: a message event in a room.
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

struct MatrixConfig {
  bool send_resolved = true;
  net::HttpClientConfig http;
  std::string homeserver_url, room_id, access_token_file, message_type = "m.text";
  Secret access_token;
  std::string text = R"({{ template "matrix.default.text" . }})", html;
};
std::unique_ptr<Notifier> make_matrix_notifier(const MatrixConfig& config);

}  // namespace vagt::notify
