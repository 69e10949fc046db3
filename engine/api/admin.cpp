#include "engine/api/admin.h"

#include <fmt/core.h>

#include <filesystem>

#include "engine/api/v1_envelope.h"

namespace vagt::engine::api {
namespace {

net::ServerResponse done(const Status& status) {
  if (!status.ok()) return v1_error(v1_error_of(status), status.message());
  return net::ServerResponse::text(204, "");
}

net::ServerResponse flush(const AdminContext& context, const net::ServerRequest&) {
  return done(context.store.flush());
}

net::ServerResponse clean_tombstones(const AdminContext& context, const net::ServerRequest&) {
  return done(context.store.clean_tombstones());
}

net::ServerResponse delete_series(const AdminContext& context, const net::ServerRequest& request) {
  const auto sets = match_params(request);
  if (!sets.ok()) return v1_error(V1Error::BadData, sets.error().message());
  if (sets->empty()) return v1_error(V1Error::BadData, "no match[] parameter provided");
  const auto start = time_param(request, "start", kMinTime);
  if (!start.ok()) return v1_error(V1Error::BadData, start.error().message());
  const auto end = time_param(request, "end", kMaxTime);
  if (!end.ok()) return v1_error(V1Error::BadData, end.error().message());
  for (const auto& matchers : *sets)
    if (const Status status = context.store.delete_series(matchers, *start, *end); !status.ok())
      return done(status);
  return net::ServerResponse::text(204, "");
}

// "20261130T201500Z-0a1b2c3d": Prometheus's shape of a snapshot's name.
std::string snapshot_name(Timestamp now) {
  std::string stamp = format_rfc3339(std::chrono::floor<std::chrono::seconds>(now));
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return fmt::format("{}-{:08x}", stamp, static_cast<uint32_t>(to_millis(now) * 2654435761));
}

net::ServerResponse snapshot(const AdminContext& context, const net::ServerRequest&) {
  const std::string name = snapshot_name(context.clock.now());
  const std::filesystem::path folder =
      std::filesystem::path(context.data_path) / "snapshots" / name;
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error)
    return v1_error(V1Error::Internal,
                    fmt::format("{}: {}", folder.parent_path().string(), error.message()));
  if (const Status status = context.store.snapshot(folder.string()); !status.ok())
    return done(status);
  // Upstream answers with the name alone; the path is ours.
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object().key("name").string(name).key("path").string(folder.string()).end_object();
  });
}

}  // namespace

void add_admin_routes(Router& router, const AdminContext& context) {
  using Function = net::ServerResponse (*)(const AdminContext&, const net::ServerRequest&);
  const auto add = [&](std::string_view verb, Function function) {
    router.add({"POST", "PUT"}, fmt::format("/api/v1/admin/tsdb/{}", verb), Lane::Query,
               [&context, function](const net::ServerRequest& request, const PathArgs&) {
                 if (!context.enabled) {
                   auto refusal = v1_error(V1Error::Unavailable, "admin APIs disabled");
                   refusal.status = 500;  // upstream's status for this, and clients may know it
                   return refusal;
                 }
                 return function(context, request);
               });
  };
  add("flush", flush);
  add("snapshot", snapshot);
  add("delete_series", delete_series);
  add("clean_tombstones", clean_tombstones);
}

}  // namespace vagt::engine::api
