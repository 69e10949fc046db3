// What the server adds to a handler's answer: content coding and CORS. No Beast here.
#pragma once

#include <string>
#include <string_view>

#include "base/regex.h"
#include "net/http_server.h"

namespace vagt::net {

// Whether an Accept-Encoding header admits gzip ("gzip;q=0" does not).
bool accepts_gzip(std::string_view accept_encoding);

// Compresses the body when the client accepts it and it is worth it; adds Content-Encoding and
// Vary. Runs on the thread that answers, which for long answers is a worker.
void encode_body(const ServerRequest& request, ServerResponse& response);

// As Prometheus's httputil.SetCORS. `origins` is anchored; `any` says it is ".*".
void add_cors(const ServerRequest& request, const Regex& origins, bool any,
              ServerResponse& response);

// "Mon, 02 Jan 2006 15:04:05 GMT"
std::string http_date(Timestamp t);

// Fills path and params from target and a form body. The Status is for a 400; LimitExceeded for a
// 413.
Status complete_request(ServerRequest& request, const ServerOptions& limits);

// Status line and headers up to the empty line; Content-Length is the body's, which HEAD does not
// send. `connection` is that header's value, "" for none.
std::string response_head(const ServerResponse& response, std::string_view connection,
                          Timestamp now);
// 1xx, 204 and 304 have none.
bool has_body(int status);

}  // namespace vagt::net
