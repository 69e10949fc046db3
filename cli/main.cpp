#include <cstdlib>
#include <iostream>

#include "cli/program.h"

int main(int argc, char** argv) {
  const char* const home = std::getenv("HOME");
  return vagt::cli::run_program({argv + 1, argv + argc}, home == nullptr ? "" : home,
                                {std::cout, std::cerr, std::cin});
}
