// The looks that the server-rendered pages share: head, tables, coloured words. No script.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "net/http_server.h"

namespace vagt::engine {

// From the doctype to the opening of the body, heading included; `title` is plain text.
// refresh_seconds 0: the page stays as it is.
std::string page_head(std::string_view title, int refresh_seconds);
// `words` in one of the page's colours: "ok", "warn" or "bad".
std::string coloured(std::string_view css, std::string_view words);
// A framed notice; nothing when `text` is empty.
std::string notice_box(std::string_view headline, std::string_view text);
net::ServerResponse html_response(int status, std::string page);

// Appends a table; without rows the words in `none` instead.
class Table {
 public:
  Table(std::string& out, std::string_view title, std::initializer_list<std::string_view> columns,
        std::string_view none);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Cells are HTML already.
  void row(std::initializer_list<std::string> cells);

 private:
  std::string& out_;
  std::string head_, none_;
  size_t rows_ = 0;
};

}  // namespace vagt::engine
