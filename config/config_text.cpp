// A section as text: exact, for comparing, and as YAML with its secrets masked, for showing.
#include <algorithm>
#include <array>

#include "base/json_writer.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlNode;

constexpr std::array<std::string_view, 20> kSecretKeys = {"password",
                                                          "private_key",
                                                          "service_account_key",
                                                          "bearer_token",
                                                          "credentials",
                                                          "client_secret",
                                                          "token",
                                                          "secret",
                                                          "secrets",
                                                          "secret_key",
                                                          "api_key",
                                                          "api_token",
                                                          "auth_token",
                                                          "service_key",
                                                          "application_secret",
                                                          "application_credential_secret",
                                                          "consumer_key",
                                                          "proxy_connect_header",
                                                          "refresh_token",
                                                          "access_key_secret"};
// Below these keys stand names of the user's own.
constexpr std::array<std::string_view, 4> kFreeKeys = {"labels", "external_labels",
                                                       "required_matchers", "params"};

template <size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_secret_key(std::string_view key, std::string_view parent) {
  if (is_in(kFreeKeys, parent)) return false;
  return is_in(kSecretKeys, key) || (key == "key" && parent == "tls_config");
}

// "http://user:secret@host" without the password.
std::string without_password(const std::string& text) {
  const size_t scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const size_t host_end = std::min(text.find_first_of("/?#", scheme + 3), text.size());
  const size_t at = text.rfind('@', host_end);
  const size_t colon = text.find(':', scheme + 3);
  if (at == std::string::npos || at < scheme || colon == std::string::npos || colon > at)
    return text;
  return text.substr(0, colon + 1) + "<secret>" + text.substr(at);
}

// Plain where YAML reads the same text back whatever it looks like, else in double quotes.
void append_text(std::string& out, std::string_view text, bool quoted) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./$()+").find(c) != std::string_view::npos;
  };
  const bool plain = !text.empty() && !quoted && text.front() != '-' &&
                     std::all_of(text.begin(), text.end(), is_plain);
  plain ? static_cast<void>(out += text) : base::append_json_string(out, text);
}

struct Frame {
  std::string_view key;
  size_t indent = 0;
  bool is_masked = false;  // every scalar below is a secret
};

// Recursion ends with the reader's depth limit.
void append_node(std::string& out, const YamlNode& node, const Frame& frame, bool in_list) {
  const std::string pad(frame.indent, ' ');
  bool first = true;
  if (node.is_map()) {
    for (const YamlNode::Entry& entry : node.entries()) {
      out += first && in_list ? "" : pad;
      first = false;
      append_text(out, entry.key, false);
      out += ':';
      const YamlNode& value = entry.value;
      const bool is_masked = frame.is_masked || is_secret_key(entry.key, frame.key);
      const bool is_block = (value.is_map() && !value.entries().empty()) ||
                            (value.is_sequence() && !value.items().empty());
      out += is_block ? "\n" : " ";
      append_node(out, value, {entry.key, frame.indent + (value.is_map() ? 2 : 0), is_masked},
                  false);
    }
    if (node.entries().empty()) out += "{}\n";
  } else if (node.is_sequence()) {
    for (const YamlNode& item : node.items()) {
      out += pad + "- ";
      append_node(out, item, {frame.key, frame.indent + 2, frame.is_masked}, true);
    }
    if (node.items().empty()) out += "[]\n";
  } else if (node.is_null()) {
    out += "null\n";
  } else if (frame.is_masked) {
    out += "<secret>\n";
  } else {
    append_text(out, without_password(node.scalar()), node.quoted());
    out += '\n';
  }
}

void append_canonical(std::string& out, const YamlNode& node) {
  if (node.is_map()) {
    out += '{';
    for (const YamlNode::Entry& entry : node.entries()) {
      base::append_json_string(out, entry.key);
      out += ':';
      append_canonical(out, entry.value);
    }
    out += '}';
  } else if (node.is_sequence()) {
    out += '[';
    for (const YamlNode& item : node.items()) append_canonical(out, item), out += ',';
    out += ']';
  } else if (node.is_null()) {
    out += '~';
  } else {
    base::append_json_string(out, node.scalar());
  }
}

}  // namespace

std::string canonical_text(const YamlNode& node) {
  std::string out;
  append_canonical(out, node);
  return out;
}

std::string masked_yaml(const YamlNode& node) {
  std::string out;
  if (node.is_null()) return out;
  append_node(out, node, {}, false);
  return out;
}

}  // namespace vagt::config
