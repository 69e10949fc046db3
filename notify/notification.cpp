#include "notify/notification.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "notify/route.h"

namespace vagt::notify {
namespace {

template <class Get>
std::map<std::string, std::string> common(const Notification& n, Get get) {
  std::map<std::string, std::string> shared;
  bool first = true;
  for (const NotificationAlert& item : n.alerts) {
    const std::map<std::string, std::string> own = get(*item.alert);
    if (first) {
      shared = own;
      first = false;
      continue;
    }
    for (auto it = shared.begin(); it != shared.end();) {
      const auto found = own.find(it->first);
      it = found != own.end() && found->second == it->second ? std::next(it) : shared.erase(it);
    }
    if (shared.empty()) break;
  }
  return shared;
}

bool payload_before(const Labels& a, const Labels& b) {
  for (const std::string_view name : {"job", "instance"}) {
    const std::string_view x = a.get(name), y = b.get(name);
    if (x.empty() != y.empty()) return y.empty();  // those that have it come first
    if (x != y) return x < y;
  }
  return label_set_before(a, b);
}

// Bytes of the first `limit` runes.
size_t prefix_of_runes(std::string_view text, size_t limit) {
  size_t at = 0;
  while (at < text.size() && limit > 0) {
    ++at;
    while (at < text.size() && (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) ++at;
    --limit;
  }
  return at;
}

}  // namespace

bool label_set_before(const Labels& a, const Labels& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  const auto x = a.items(), y = b.items();
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    if (x[i].name == y[i].name) return x[i].value < y[i].value;
    // The set without the smaller name is missing it, and missing comes first.
    return y[i].name < x[i].name;
  }
  return false;
}

std::string Notification::reason_text() const {
  std::string text(notify::reason_text(reason));
  if (perhaps_repeated) text += ", perhaps a repeat";
  return text;
}

bool Notification::any_firing() const {
  return std::any_of(alerts.begin(), alerts.end(),
                     [](const NotificationAlert& a) { return a.firing; });
}

std::map<std::string, std::string> common_labels(const Notification& n) {
  return common(n, [](const NotifyAlert& a) { return a.labels.to_map(); });
}
std::map<std::string, std::string> common_annotations(const Notification& n) {
  return common(n, [](const NotifyAlert& a) { return a.annotations; });
}

void sort_for_payload(std::vector<AlertPtr>& alerts) {
  std::stable_sort(alerts.begin(), alerts.end(), [](const AlertPtr& a, const AlertPtr& b) {
    return payload_before(a->labels, b->labels);
  });
}

std::string hashed_key(const std::string& group_key) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  EVP_Digest(group_key.data(), group_key.size(), digest.data(), &length, EVP_sha256(), nullptr);
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (unsigned int i = 0; i < length; ++i) {
    out.push_back(kHex[digest[i] >> 4]);
    out.push_back(kHex[digest[i] & 15]);
  }
  return out;
}

std::string quote_regex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

size_t count_runes(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::string truncate_runes(std::string_view text, size_t limit) {
  if (count_runes(text) <= limit) return std::string(text);
  if (limit == 0) return {};
  return std::string(text.substr(0, prefix_of_runes(text, limit - 1))) + "…";
}

std::string truncate_bytes(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  constexpr std::string_view kMark = "…";
  if (limit < kMark.size()) return {};
  size_t end = limit - kMark.size();
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)).append(kMark);
}

std::string plain_summary(const Notification& n) {
  size_t firing = 0;
  for (const NotificationAlert& item : n.alerts) firing += item.firing ? 1 : 0;
  std::string out = "[" +
                    std::string(firing > 0 ? "FIRING:" + std::to_string(firing) : "RESOLVED") +
                    "] " + label_set_text(n.group_labels);
  constexpr size_t kShown = 20;
  size_t shown = 0;
  for (const NotificationAlert& item : n.alerts) {
    if (shown++ == kShown) {
      out += "\n… and " + std::to_string(n.alerts.size() - kShown) + " more";
      break;
    }
    out += "\n" + std::string(item.firing ? "firing " : "resolved ") +
           label_set_text(item.alert->labels);
    for (const auto& [name, value] : item.alert->annotations) out += "\n  " + name + ": " + value;
  }
  return out;
}

}  // namespace vagt::notify
