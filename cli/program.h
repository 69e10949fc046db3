// vagtctl: reads the command line and runs one verb.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace vagt::cli {

struct Streams {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
};

// `arguments` without the program's name; `home` is where configuration files are looked for.
// Returns the exit code.
int run_program(std::vector<std::string> arguments, const std::string& home, Streams streams);

}  // namespace vagt::cli
