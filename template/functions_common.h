// Functions that Prometheus's and Alertmanager's templates share.
#pragma once

#include "template/template.h"

namespace vagt::tmpl {

// toUpper, toLower, match, reReplaceAll, safeHtml, humanizeDuration, and url helpers.
void add_common_functions(FunctionTable& table);

}  // namespace vagt::tmpl
