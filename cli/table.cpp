#include "cli/table.h"

#include <algorithm>

namespace vagt::cli {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 do not count.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string Table::text() const {
  constexpr size_t kPadding = 2;
  std::vector<size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < widths.size(); ++i) {
      out += row[i];
      out.append(widths[i] - width(row[i]) + kPadding, ' ');
    }
    out += '\n';
  }
  return out;
}

}  // namespace vagt::cli
