// Works out, for every action of a template, which escapes its place in the HTML document needs.
#pragma once

#include "base/status.h"
#include "template/tree.h"

namespace vagt::tmpl {

// Copies of `root` and of every template it reaches, with escapers filled in, comments removed and
// calls renamed to the copy for their context. InvalidArgument: "html/template:NAME:LINE:COLUMN:
// …".
Result<TreeMap> escape_templates(const Tree& root, const TreeMap& own, const TreeMap& shared);

}  // namespace vagt::tmpl
