#include "engine/api/lifecycle.h"

#include <fmt/core.h>

namespace vagt::engine::api {
namespace {

net::ServerResponse healthy(const LifecycleContext& context) {
  // Degraded is still healthy to a supervisor: a restart would not help and would end the paging.
  const std::string why = context.unhealthy();
  std::string text = context.plain_alertmanager ? "OK" : "Prometheus Server is Healthy.\n";
  if (!why.empty())
    text += (context.plain_alertmanager ? "\nDegraded: " : "Degraded: ") + why + "\n";
  return net::ServerResponse::text(200, std::move(text));
}

net::ServerResponse ready(const LifecycleContext& context) {
  if (context.ready())
    return net::ServerResponse::text(
        200, context.plain_alertmanager ? "OK" : "Prometheus Server is Ready.\n");
  return net::ServerResponse::text(503, "Service Unavailable");
}

net::ServerResponse reload(const LifecycleContext& context) {
  if (!context.allow_reload) return net::ServerResponse::text(403, "Lifecycle API is not enabled.");
  if (const Status status = context.reload(); !status.ok())
    return net::ServerResponse::text(
        500, fmt::format("failed to reload config: {}\n", status.message()));
  return net::ServerResponse::text(200, "");
}

net::ServerResponse quit(const LifecycleContext& context) {
  if (!context.allow_quit) return net::ServerResponse::text(403, "Lifecycle API is not enabled.");
  context.quit();
  return net::ServerResponse::text(200, "Requesting termination... Goodbye!");
}

net::ServerResponse metrics(const LifecycleContext& context) {
  net::ServerResponse response = net::ServerResponse::text(200, context.registry.render());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

}  // namespace

void add_lifecycle_routes(Router& router, const LifecycleContext& context) {
  using Function = net::ServerResponse (*)(const LifecycleContext&);
  const auto add = [&](std::initializer_list<std::string_view> methods, std::string_view path,
                       Function function, Lane lane = Lane::Control) {
    router.add(methods, path, lane,
               [&context, function](const net::ServerRequest&, const PathArgs&) {
                 return function(context);
               });
  };
  add({"GET", "HEAD"}, "/-/healthy", healthy, Lane::Inline);
  add({"GET", "HEAD"}, "/-/ready", ready, Lane::Inline);
  add({"POST", "PUT"}, "/-/reload", reload, Lane::Reload);
  add({"POST", "PUT"}, "/-/quit", quit);
  add({"GET"}, "/metrics", metrics);
  const auto only_post = [](const net::ServerRequest&, const PathArgs&) {
    return net::ServerResponse::text(405, "Only POST or PUT requests allowed");
  };
  router.get("/-/reload", Lane::Control, only_post);
  router.get("/-/quit", Lane::Control, only_post);
}

}  // namespace vagt::engine::api
