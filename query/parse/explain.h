// Words for a text that the grammar refuses.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "query/parse.h"
#include "query/parse/syntax.h"

namespace vagt::query::syntax {

// "LINE:COLUMN: parse error: message"; columns count bytes, from 1.
Status error_at(std::string_view text, size_t byte, std::string_view message);

// Why `list` is refused at the token `furthest`: the token, what was being read, and what could
// stand there.
Status explain(const TokenList& list, size_t furthest, std::string_view text,
               const ParseOptions& options);

}  // namespace vagt::query::syntax
