// A parsed JSON value as Go's encoder writes it: numbers without exponents, <, > and & escaped.
// Inside cli only.
#pragma once

#include <boost/json/value.hpp>
#include <string>

namespace vagt::cli {

std::string json_text(const boost::json::value& value);

}  // namespace vagt::cli
