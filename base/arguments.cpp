#include "base/arguments.h"

namespace vagt::base {

std::vector<std::string> with_empty_values(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    const bool is_empty = word.starts_with("--") && word.find('=') == word.size() - 1;
    out.push_back(is_empty ? word.substr(0, word.size() - 1) : word);
    if (is_empty) out.emplace_back();
  }
  return out;
}

}  // namespace vagt::base
