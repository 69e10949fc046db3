// A store in memory, pages by hand, and what the store then holds.
#pragma once

#include <map>
#include <string>

#include "scrape/scrape_loop.h"
#include "tsdb/memory_store.h"

namespace vagt::test {

inline net::HttpResponse page(std::string body, std::string type = "text/plain; version=0.0.4") {
  net::HttpResponse response;
  response.status = 200;
  response.headers = {{"Content-Type", std::move(type)}};
  response.body = std::move(body);
  return response;
}

// Every sample of [from, to] as "name{labels} @ms" → value, stale markers as NaN with their bits.
inline std::map<std::string, double> samples_of(tsdb::Store& store, Timestamp from, Timestamp to) {
  std::map<std::string, double> found;
  auto querier = store.querier(from, to);
  const Matcher any[] = {Matcher::make(MatchOp::Regex, "__name__", ".+").value()};
  tsdb::SelectHints hints;
  hints.start = from, hints.end = to;
  auto cursor = querier->select(any, hints);
  while (cursor->next()) {
    SampleColumns columns;
    while (cursor->read(columns, 1000)) {
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      found[cursor->labels().to_string() + " @" + std::to_string(to_millis(columns.t[i]))] =
          columns.v[i];
    }
  }
  return found;
}

}  // namespace vagt::test
