#include <algorithm>
#include <map>
#include <set>

#include "base/arguments.h"
#include "cli/command_line.h"

namespace vagt::cli {
namespace {

using Words = std::vector<std::string>;

// Global flags that take a value, which may be the next word.
bool takes_value(const std::string& word) {
  static const std::set<std::string> kFlags = {
      "-o",           "--output",      "--alertmanager.url",
      "--timeout",    "--date.format", "--http.config.file",
      "--config.file"};
  return kFlags.contains(word);
}

// The next word that is neither a global flag nor the value of one.
size_t next_word(const Words& words, size_t at) {
  while (at < words.size() && words[at].starts_with('-') && words[at].size() > 1) {
    const bool is_help = words[at] == "-h" || words[at] == "--help";
    if (is_help) return at;
    at += takes_value(words[at]) ? 2 : 1;
  }
  return std::min(at, words.size());
}

struct Group {
  const char* default_verb;
  std::set<std::string> verbs;
};

}  // namespace

std::vector<std::string> complete_arguments(Words words) {
  static const std::map<std::string, Group> kGroups = {
      {"alert", {"query", {"query", "add"}}},
      {"silence", {"query", {"query", "add", "expire", "import", "update"}}},
      {"cluster", {"show", {"show"}}},
      {"config", {"show", {"show", "routes"}}},
      {"routes", {"show", {"show", "test"}}},
  };
  words = base::with_empty_values(words);
  size_t at = next_word(words, 0);
  if (at < words.size() && words[at] == "help") {
    words.erase(words.begin() + static_cast<ptrdiff_t>(at));
    words.emplace_back("--help");
    return words;
  }
  while (at < words.size()) {
    const auto group = kGroups.find(words[at]);
    if (group == kGroups.end()) break;
    // Only flags of every verb are skipped: `alert --silenced` needs its verb before the flag.
    const size_t next = next_word(words, at + 1);
    const std::string word = next < words.size() ? words[next] : "";
    if (word == "-h" || word == "--help") break;
    if (!group->second.verbs.contains(word)) {
      words.insert(words.begin() + static_cast<ptrdiff_t>(at) + 1, group->second.default_verb);
      break;
    }
    at = next;
    if (word != "routes") break;
  }
  return words;
}

}  // namespace vagt::cli
