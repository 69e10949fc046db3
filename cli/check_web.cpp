#include "cli/check_web.h"

#include <ostream>

#include "net/web_config.h"

namespace vagt::cli {

int check_web(Context& context, const CheckWeb& check) {
  bool has_failed = false;
  for (const std::string& file : check.files) {
    const auto opened = net::open_web_config(file, base::Logger());
    if (opened) {
      context.err << file << " SUCCESS\n";
    } else {
      context.err << file << " FAILED: " << opened.error().message() << "\n";
      has_failed = true;
    }
  }
  return has_failed ? kFailure : kSuccess;
}

}  // namespace vagt::cli
