#include "cli/json_text.h"

#include <boost/json.hpp>

#include "base/json_writer.h"
#include "base/number_text.h"

namespace vagt::cli {
namespace {

namespace json = boost::json;

void write(base::JsonWriter& writer, const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      writer.null();
      break;
    case json::kind::bool_:
      writer.boolean(value.get_bool());
      break;
    case json::kind::int64:
      writer.integer(value.get_int64());
      break;
    case json::kind::uint64:
      writer.raw(std::to_string(value.get_uint64()));
      break;
    case json::kind::double_:
      writer.raw(format_float(value.get_double()));
      break;
    case json::kind::string:
      writer.string(std::string_view(value.get_string()));
      break;
    case json::kind::array:
      writer.begin_array();
      for (const auto& item : value.get_array()) write(writer, item);
      writer.end_array();
      break;
    case json::kind::object:
      writer.begin_object();
      for (const auto& item : value.get_object()) {
        writer.key(std::string_view(item.key()));
        write(writer, item.value());
      }
      writer.end_object();
      break;
  }
}

}  // namespace

std::string json_text(const json::value& value) {
  std::string out;
  base::JsonWriter writer(out);
  write(writer, value);
  return out;
}

}  // namespace vagt::cli
