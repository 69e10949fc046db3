// A password, token or URL with one in it. Prints as <secret>; reading the text is spelled out.
#pragma once

#include <string>
#include <utility>

namespace vagt {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }
  bool empty() const { return text_.empty(); }
  // What configuration pages and logs show.
  std::string masked() const { return text_.empty() ? "" : "<secret>"; }
  friend bool operator==(const Secret&, const Secret&) = default;

 private:
  std::string text_;
};

}  // namespace vagt
