// vagtctl template render: what a receiver would be sent.
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct TemplateRender {
  std::vector<std::string> globs;
  std::string text, type = "text", data_file;  // type: text or html; data: a webhook's JSON
};
int template_render(Context& context, const TemplateRender& render);

}  // namespace vagt::cli
