#include "engine/html_page.h"

#include <fmt/core.h>

#include "template/escape_text.h"

namespace vagt::engine {
namespace {

constexpr std::string_view kStyle =
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<style>body{font:14px "
    "system-ui,sans-serif;margin:1.5em;max-width:90em;color:#1b1b1b;background:#fff}"
    "h1{font-size:1.3em}h2{font-size:1.1em;margin-top:1.6em}table{border-collapse:collapse;width:"
    "100%}"
    "td,th{text-align:left;padding:.3em .6em;border-bottom:1px solid #ddd;vertical-align:top}"
    "td.l{overflow-wrap:anywhere}.bad{color:#a00;font-weight:600}.ok{color:#060}.warn{color:#850}"
    ".box{border:2px solid "
    "#a00;padding:.6em;background:#fee}svg{max-width:100%;height:auto}textarea{width:100%;font:"
    "13px "
    "monospace}@media(prefers-color-scheme:dark){body,textarea,input{color:#ddd;"
    "background:#151515}a{color:#8bf}.box{background:#400}.bad{color:#f77}.ok{color:#7c7}.warn{"
    "color:#db5}td,th{border-color:#333}}"
    "</style>";

}  // namespace

std::string page_head(std::string_view title, int refresh_seconds) {
  std::string out = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">";
  if (refresh_seconds > 0)
    out += fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">", refresh_seconds);
  out += kStyle;
  out += fmt::format("<title>{0}</title></head><body><h1>{0}</h1>", tmpl::escape_html(title));
  return out;
}

std::string coloured(std::string_view css, std::string_view words) {
  return fmt::format("<span class={}>{}</span>", css, tmpl::escape_html(words));
}

std::string notice_box(std::string_view headline, std::string_view text) {
  if (text.empty()) return "";
  return fmt::format("<p class=box><b>{}</b> {}</p>", headline, tmpl::escape_html(text));
}

net::ServerResponse html_response(int status, std::string page) {
  net::ServerResponse response = net::ServerResponse::text(status, std::move(page));
  response.content_type = "text/html; charset=utf-8";
  return response;
}

Table::Table(std::string& out, std::string_view title,
             std::initializer_list<std::string_view> columns, std::string_view none)
    : out_(out), none_(none) {
  out_ += fmt::format("<h2>{}</h2>", title);
  head_ = "<table><tr>";
  for (const std::string_view column : columns) head_ += fmt::format("<th>{}</th>", column);
  head_ += "</tr>";
}

Table::~Table() { out_ += rows_ == 0 ? fmt::format("<p>{}</p>", none_) : "</table>"; }

void Table::row(std::initializer_list<std::string> cells) {
  if (rows_++ == 0) out_ += head_;
  out_ += "<tr>";
  for (const std::string& cell : cells) out_ += fmt::format("<td class=l>{}</td>", cell);
  out_ += "</tr>";
}

}  // namespace vagt::engine
