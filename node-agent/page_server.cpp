#include "node-agent/page_server.h"

#include <fmt/core.h>

#include "base/version.h"

namespace vagt::agent {
namespace {

constexpr std::string_view kMetricsPath = "/metrics";

bool wants_open_metrics(const net::ServerRequest& request) {
  return request.header("Accept").find("application/openmetrics-text") != std::string_view::npos;
}

std::string front_page(const std::vector<std::string_view>& collectors) {
  std::string page = fmt::format(
      "<!doctype html><html><head><title>vagt-agent</title></head><body><h1>vagt-agent</h1>"
      "<p>Version {}</p><p><a href=\"/metrics\">Metrics</a></p><p>One collector alone:</p><ul>",
      kVersion);
  for (const std::string_view name : collectors)
    page += fmt::format("<li><a href=\"/metrics/{}\">{}</a></li>", name, name);
  return page + "</ul></body></html>\n";
}

const char* page_type(bool open_metrics) {
  return open_metrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                      : "text/plain; version=0.0.4; charset=utf-8";
}

bool is_local(std::string_view remote) {
  return remote.substr(0, 4) == "127." || remote.substr(0, 6) == "[::1]:" ||
         remote.substr(0, 12) == "[::ffff:127.";
}

std::vector<std::string> values_of(const net::ServerRequest& request, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view value : request.param_all(name)) out.emplace_back(value);
  return out;
}

}  // namespace

PageServer::PageServer(Agent& agent, const Options& options)
    : agent_(agent),
      log_(options.sources.log),
      clock_(*options.sources.clock),
      kernel_lines_(options.sources.kernel_lines),
      gpus_(options.sources.gpus),
      scrapes_({"scrape", 1, 64, 0}) {}

PageServer::~PageServer() {
  for (const auto& server : servers_) server->stop();
}

std::vector<uint16_t> PageServer::ports() const {
  std::vector<uint16_t> ports;
  for (const auto& server : servers_)
    for (const uint16_t port : server->ports()) ports.push_back(port);
  return ports;
}

Result<std::unique_ptr<PageServer>> PageServer::start(Agent& agent, const Options& options) {
  std::unique_ptr<PageServer> server(new PageServer(agent, options));
  if (!options.bmc_modules.empty())
    server->bmcs_ = std::make_unique<RemoteBmcs>(options.bmc_modules, options.sources);
  VAGT_CHECK_OK(server->listen(options.listen, {}));
  for (const Options::CompatListen& compat : options.compat_listen)
    VAGT_CHECK_OK(server->listen({compat.address}, compat.collectors));
  return server;
}

Status PageServer::listen(std::vector<std::string> addresses, std::vector<std::string> collectors) {
  net::ServerOptions options;
  options.listen = std::move(addresses);
  options.max_header_bytes = 64u << 10;
  options.max_body_bytes = 64u << 10;
  options.max_connections = 64;
  const auto handler = [this, collectors = std::move(collectors)](
                           std::shared_ptr<const net::ServerRequest> request,
                           net::Respond respond) {
    handle(collectors, std::move(request), std::move(respond));
  };
  VAGT_TRY(auto started,
           net::HttpServer::start(std::move(options), handler, log_.with_component("http")));
  servers_.push_back(std::move(started));
  return {};
}

void PageServer::kernel_log(const net::ServerRequest& request, net::Respond respond) const {
  const std::string_view text = request.param("after").value_or(std::string_view());
  const auto after = text.empty() ? std::optional<uint64_t>(0) : to_uint(text);
  net::ServerResponse response;
  if (!after) {
    response = net::ServerResponse::text(400, "after: not a sequence number\n");
  } else {
    response.content_type = "application/json";
    response.body = kernel_lines_->json_after(*after);
  }
  agent_.count_request(response.status);
  respond(std::move(response));
}

// While handles of NVML are open a GPU cannot be reset, nor the driver unloaded.
net::ServerResponse PageServer::release_gpus(const net::ServerRequest& request) const {
  if (request.method != "POST") return net::ServerResponse::text(405, "Method Not Allowed\n");
  if (!is_local(request.remote))
    return net::ServerResponse::text(403, "only from this host itself\n");
  const auto seconds = to_uint(request.param("seconds").value_or("300"));
  if (!seconds || *seconds > 3600)
    return net::ServerResponse::text(400, "seconds: a number from 0 to 3600\n");
  gpus_->release_until(clock_.now() + std::chrono::seconds(*seconds));
  return net::ServerResponse::text(
      200, *seconds == 0
               ? "The driver is used again.\n"
               : fmt::format("Within 10 s the driver is let go of, for {} s.\n", *seconds));
}

void PageServer::remote_bmc(const net::ServerRequest& request, net::Respond respond) {
  const bool open_metrics = wants_open_metrics(request);
  const auto done = [this, open_metrics, respond = std::move(respond)](Result<std::string> page) {
    net::ServerResponse response;
    if (page) {
      response.content_type = page_type(open_metrics);
      response.body = std::move(page).value();
    } else {
      const Code code = page.error().code();
      const bool ours = code == Code::Unavailable || code == Code::LimitExceeded;
      response = net::ServerResponse::text(ours ? 503 : 400, page.error().message() + '\n');
    }
    agent_.count_request(response.status);
    respond(std::move(response));
  };
  if (bmcs_ == nullptr)
    return done(Status::invalid("no BMCs of other hosts without --ipmi.config"));
  bmcs_->ask(std::string(request.param("target").value_or("")),
             std::string(request.param("module").value_or("default")), open_metrics, done);
}

void PageServer::handle(const std::vector<std::string>& collectors,
                        std::shared_ptr<const net::ServerRequest> request, net::Respond respond) {
  const auto answer = [this, &respond](net::ServerResponse response) {
    agent_.count_request(response.status);
    respond(std::move(response));
  };
  const std::string_view path = request->path;
  if (path == "/-/gpu/release") return answer(release_gpus(*request));
  if (request->method != "GET" && request->method != "HEAD")
    return answer(net::ServerResponse::text(405, "Method Not Allowed\n"));
  if (path == "/-/healthy")
    return answer(net::ServerResponse::text(200, "vagt-agent is healthy.\n"));
  if (path == "/ipmi") return remote_bmc(*request, std::move(respond));
  if (path == "/api/v1/kernel-log") return kernel_log(*request, std::move(respond));
  if (path == "/") {
    net::ServerResponse page;
    page.content_type = "text/html; charset=utf-8";
    page.body = front_page(agent_.collectors());
    return answer(std::move(page));
  }
  Selection selection{values_of(*request, "collect[]"), values_of(*request, "exclude[]")};
  if (path.size() > kMetricsPath.size() + 1 && path.substr(0, 9) == "/metrics/") {
    selection.collect = {std::string(path.substr(9))};
  } else if (path != kMetricsPath) {
    return answer(net::ServerResponse::text(404, "404 page not found\n"));
  }
  if (selection.collect.empty()) selection.collect = collectors;
  const bool taken = scrapes_.submit(
      [this, request, respond, selection] { scrape(*request, selection, respond); });
  if (!taken) answer(net::ServerResponse::text(503, "too many scrapes are waiting\n"));
}

void PageServer::scrape(const net::ServerRequest& request, Selection selection,
                        const net::Respond& respond) {
  const bool open_metrics = wants_open_metrics(request);
  Result<std::string> page =
      agent_.page(selection, open_metrics ? PageFormat::OpenMetrics : PageFormat::Text);
  net::ServerResponse response;
  if (page) {
    response.content_type = page_type(open_metrics);
    response.body = std::move(page).value();
  } else {
    response = net::ServerResponse::text(
        400, "Couldn't create filtered metrics handler: " + page.error().message() + "\n");
  }
  agent_.count_request(response.status);
  respond(std::move(response));
}

}  // namespace vagt::agent
