// Command-line words, made fit for CLI11.
#pragma once

#include <string>
#include <vector>

namespace vagt::base {

// CLI11 takes `--flag=` for a flag whose value is missing; to the programs whose flags we take it
// is one whose value is empty. Splits such a word in two: "--flag", "".
std::vector<std::string> with_empty_values(const std::vector<std::string>& words);

}  // namespace vagt::base
