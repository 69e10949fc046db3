// vagtctl config show, cluster show
#pragma once

#include "cli/context.h"

namespace vagt::cli {

struct NoOptions {};
int config_show(Context& context, const NoOptions&);
int cluster_show(Context& context, const NoOptions&);

}  // namespace vagt::cli
