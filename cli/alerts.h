// vagtctl alert query | add
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct AlertQuery {
  std::vector<std::string> matchers;
  bool inhibited = false, silenced = false, active = false, unprocessed = false;
  std::string receiver;  // a regular expression
};
int alert_query(Context& context, const AlertQuery& query);

struct AlertAdd {
  std::vector<std::string> labels, annotations;  // name=value
  std::string generator_url, start, end;         // instants: RFC 3339
};
int alert_add(Context& context, const AlertAdd& add);

}  // namespace vagt::cli
