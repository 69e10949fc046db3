#include "notify/receivers/sns.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "net/url.h"

namespace vagt::notify {
namespace {

constexpr size_t kMaxMessageBytes = 256u << 10, kMaxSmsRunes = 1600, kMaxSubjectBytes = 100;

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return out;
}

std::string sha256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return std::string(reinterpret_cast<const char*>(digest.data()), length);
}

std::string hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return std::string(reinterpret_cast<const char*>(digest.data()), length);
}

// "20150830T123600Z"
std::string amz_date(Timestamp now) {
  std::string out;
  for (const char c : format_rfc3339(std::chrono::floor<std::chrono::seconds>(now))) {
    if (c != '-' && c != ':') out.push_back(c);
  }
  return out;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A key of one profile in ~/.aws/credentials; "" when there is none.
std::string from_profile(const std::string& profile, const std::string& wanted) {
  std::string path = environment("AWS_SHARED_CREDENTIALS_FILE");
  if (path.empty()) path = environment("HOME") + "/.aws/credentials";
  std::ifstream in(path);
  std::string line;
  bool inside = false;
  while (std::getline(in, line)) {
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (line.starts_with('[')) inside = line == "[" + profile + "]";
    if (inside && line.starts_with(wanted + "=")) return line.substr(wanted.size() + 1);
  }
  return {};
}

class SnsNotifier final : public Notifier {
 public:
  explicit SnsNotifier(const SnsConfig& config)
      : config_(config), profile_(make_profile(config.http)) {}

  Result<TransferRequest> render(const Notification& n, Renderer& r) const override {
    VAGT_TRY(std::string body, form(n, r));
    VAGT_TRY(const SigV4 keys, find_keys());
    VAGT_TRY(std::string url, r.required("api_url", config_.api_url));
    if (url.empty()) url = "https://sns." + keys.region + ".amazonaws.com/";
    VAGT_TRY(const net::UrlParts parts, net::parse_url(url));
    std::string host = parts.host;
    if (!parts.port.empty()) host += ":" + parts.port;
    const std::string path = parts.path.empty() ? "/" : parts.path;
    TransferRequest request = json_post(Secret(url), body, profile_);
    auto& headers = std::get<net::HttpRequest>(request.body).headers;
    headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"},
               {"X-Amz-Date", amz_date(n.now)},
               {"Authorization", sign_v4(keys, host, path, body, n.now)}};
    return request;
  }
  SendOutcome judge(const TransferReply& reply) const override { return judge_http(reply, {429}); }

 private:
  // Configured, then the environment, then the shared credentials file.
  Result<SigV4> find_keys() const {
    SigV4 keys{config_.access_key, config_.region, "sns", config_.secret_key};
    const std::string profile = config_.profile.empty() ? "default" : config_.profile;
    if (keys.access_key.empty() && config_.profile.empty()) {
      keys.access_key = environment("AWS_ACCESS_KEY_ID");
      keys.secret_key = Secret(environment("AWS_SECRET_ACCESS_KEY"));
    }
    if (keys.access_key.empty()) {
      keys.access_key = from_profile(profile, "aws_access_key_id");
      keys.secret_key = Secret(from_profile(profile, "aws_secret_access_key"));
    }
    if (keys.region.empty()) keys.region = environment("AWS_REGION");
    if (keys.access_key.empty() || keys.secret_key.empty()) {
      return Status::invalid(
          "SNS: no credentials in the configuration, environment or ~/.aws/credentials");
    }
    if (keys.region.empty()) return Status::invalid("SNS: no region configured");
    return keys;
  }

  Result<std::string> form(const Notification& n, Renderer& r) const {
    std::string body;
    const auto add = [&](std::string_view name, std::string_view value) {
      if (!body.empty()) body += "&";
      body.append(name).append("=").append(net::url_encode(value));
    };
    add("Action", "Publish");
    add("Version", "2010-03-31");
    std::string message = r.text("message", config_.message);
    if (!config_.phone_number.empty()) {
      VAGT_TRY(std::string number, r.required("phone_number", config_.phone_number));
      add("PhoneNumber", number);
      message = truncate_runes(message, kMaxSmsRunes);
    }
    bool fifo = false;
    for (const auto& [name, source] :
         {std::pair("TopicArn", config_.topic_arn), std::pair("TargetArn", config_.target_arn)}) {
      if (source.empty()) continue;
      VAGT_TRY(std::string arn, r.required(name, source));
      fifo = fifo || (name == std::string_view("TopicArn") && arn.ends_with(".fifo"));
      add(name, arn);
    }
    const std::string whole = std::exchange(message, truncate_bytes(message, kMaxMessageBytes));
    add("Message", message);
    if (const auto subject = r.text("subject", config_.subject); !subject.empty()) {
      add("Subject", truncate_bytes(subject.substr(0, subject.find('\n')), kMaxSubjectBytes));
    }
    if (fifo) {
      add("MessageGroupId", hashed_key(n.group_key));
      add("MessageDeduplicationId", hashed_key(n.group_key + std::to_string(to_millis(n.begun))));
    }
    size_t index = 1;
    const auto attribute = [&](std::string_view name, std::string_view value) {
      const std::string prefix = "MessageAttributes.entry." + std::to_string(index++);
      add(prefix + ".Name", name);
      add(prefix + ".Value.DataType", "String");
      add(prefix + ".Value.StringValue", value);
    };
    for (const auto& [name, source] : config_.attributes) {
      VAGT_TRY(std::string value, r.required("attributes." + name, source));
      if (!value.empty()) attribute(name, value);
    }
    if (message != whole) attribute("truncated", "true");
    return body;
  }

  const SnsConfig config_;
  const net::HttpClient::Profile profile_;
};

}  // namespace

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
std::string sign_v4(const SigV4& keys, const std::string& host, const std::string& path,
                    const std::string& body, Timestamp now) {
  const std::string date = amz_date(now), day = date.substr(0, 8);
  const std::string scope = day + "/" + keys.region + "/" + keys.service + "/aws4_request";
  const std::string signed_headers = "content-type;host;x-amz-date";
  const std::string canonical =
      "POST\n" + path +
      "\n\ncontent-type:application/x-www-form-urlencoded; charset=utf-8\nhost:" + host +
      "\nx-amz-date:" + date + "\n\n" + signed_headers + "\n" + hex(sha256(body));
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + date + "\n" + scope + "\n" + hex(sha256(canonical));
  std::string key = hmac("AWS4" + keys.secret_key.reveal(), day);
  for (const std::string& part : {keys.region, keys.service, std::string("aws4_request")}) {
    key = hmac(key, part);
  }
  return "AWS4-HMAC-SHA256 Credential=" + keys.access_key + "/" + scope +
         ", SignedHeaders=" + signed_headers + ", Signature=" + hex(hmac(key, to_sign));
}

std::unique_ptr<Notifier> make_sns_notifier(const SnsConfig& config) {
  return std::make_unique<SnsNotifier>(config);
}

}  // namespace vagt::notify
