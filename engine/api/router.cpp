#include "engine/api/router.h"

#include <algorithm>
#include <exception>
#include <new>

namespace vagt::engine::api {
namespace {

std::vector<std::string_view> split_path(std::string_view path) {
  std::vector<std::string_view> segments;
  if (!path.empty() && path.front() == '/') path.remove_prefix(1);
  while (true) {
    const size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

net::ServerResponse not_found() { return net::ServerResponse::text(404, "404 page not found\n"); }

// One request that asks for too much memory must not take the pool, and so the program, along.
Endpoint guarded(Endpoint endpoint) {
  return [endpoint = std::move(endpoint)](const net::ServerRequest& request,
                                          const PathArgs& args) -> net::ServerResponse {
    try {
      return endpoint(request, args);
    } catch (const std::bad_alloc&) {
      return net::ServerResponse::text(503, "not enough memory for this request\n");
    } catch (const std::exception& failure) {
      return net::ServerResponse::text(500,
                                       std::string("internal error: ") + failure.what() + "\n");
    }
  };
}

}  // namespace

void Router::add(std::initializer_list<std::string_view> methods, std::string_view pattern,
                 Lane lane, Endpoint endpoint) {
  Route route{{methods.begin(), methods.end()}, {}, lane, guarded(std::move(endpoint))};
  for (const std::string_view segment : split_path(pattern)) {
    const bool argument = segment.size() > 1 && segment.front() == '{';
    const bool rest = argument && segment.ends_with("...}");
    route.segments.emplace_back(rest ? "{...}" : argument ? "{}" : segment);
  }
  routes_.push_back(std::make_shared<const Route>(std::move(route)));
}

bool Router::matches(const Route& route, const std::vector<std::string_view>& segments,
                     PathArgs& args) {
  args.clear();
  for (size_t i = 0; i < route.segments.size(); ++i) {
    if (i >= segments.size()) return false;
    const std::string& want = route.segments[i];
    if (want == "{...}") {
      std::string rest;
      for (size_t j = i; j < segments.size(); ++j)
        rest.append(j > i ? "/" : "").append(segments[j]);
      args.push_back(std::move(rest));
      return true;
    }
    if (want == "{}") {
      if (segments[i].empty()) return false;
      args.emplace_back(segments[i]);
    } else if (want != segments[i]) {
      return false;
    }
  }
  return segments.size() == route.segments.size();
}

void Router::handle(std::shared_ptr<const net::ServerRequest> request, net::Respond respond) const {
  std::string_view path = request->path;
  if (!prefix_.empty()) {
    if (path == "/" || path == prefix_) {
      net::ServerResponse there = net::ServerResponse::text(302, "");
      there.headers.emplace_back("Location", prefix_ + "/");
      return respond(std::move(there));
    }
    if (!path.starts_with(prefix_) || path[prefix_.size()] != '/') return respond(not_found());
    path.remove_prefix(prefix_.size());
  }
  const std::vector<std::string_view> segments = split_path(path);
  std::string allowed;
  for (const auto& shared : routes_) {
    const Route& route = *shared;
    PathArgs args;
    if (!matches(route, segments, args)) continue;
    if (std::find(route.methods.begin(), route.methods.end(), request->method) ==
        route.methods.end()) {
      for (const std::string& method : route.methods)
        allowed += (allowed.empty() ? "" : ", ") + method;
      continue;
    }
    if (route.lane == Lane::Inline) return respond(route.endpoint(*request, args));
    const bool taken = pool(route.lane).submit([request, respond, shared, args = std::move(args)] {
      respond(shared->endpoint(*request, args));
    });
    if (!taken) respond(net::ServerResponse::text(503, "too many requests are waiting\n"));
    return;
  }
  if (allowed.empty()) return respond(not_found());
  if (request->method == "OPTIONS") return respond(net::ServerResponse::text(204, ""));
  net::ServerResponse refusal = net::ServerResponse::text(405, "Method Not Allowed\n");
  refusal.headers.emplace_back("Allow", allowed + ", OPTIONS");
  respond(std::move(refusal));
}

}  // namespace vagt::engine::api
