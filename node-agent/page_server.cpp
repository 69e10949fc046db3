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

std::vector<std::string> values_of(const net::ServerRequest& request, std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view value : request.param_all(name)) out.emplace_back(value);
  return out;
}

}  // namespace

PageServer::PageServer(Agent& agent, base::Logger log)
    : agent_(agent), log_(std::move(log)), scrapes_({"scrape", 1, 64, 0}) {}

PageServer::~PageServer() {
  if (server_ != nullptr) server_->stop();
}

std::vector<uint16_t> PageServer::ports() const { return server_->ports(); }

Result<std::unique_ptr<PageServer>> PageServer::start(Agent& agent, std::vector<std::string> listen,
                                                      base::Logger log) {
  std::unique_ptr<PageServer> server(new PageServer(agent, log));
  net::ServerOptions options;
  options.listen = std::move(listen);
  options.max_header_bytes = 64u << 10;
  options.max_body_bytes = 64u << 10;
  options.max_connections = 64;
  PageServer* self = server.get();
  VAGT_TRY(server->server_,
           net::HttpServer::start(
               std::move(options),
               [self](std::shared_ptr<const net::ServerRequest> request, net::Respond respond) {
                 self->handle(std::move(request), std::move(respond));
               },
               log.with_component("http")));
  return server;
}

void PageServer::handle(std::shared_ptr<const net::ServerRequest> request, net::Respond respond) {
  const auto answer = [this, &respond](net::ServerResponse response) {
    agent_.count_request(response.status);
    respond(std::move(response));
  };
  const std::string_view path = request->path;
  if (request->method != "GET" && request->method != "HEAD")
    return answer(net::ServerResponse::text(405, "Method Not Allowed\n"));
  if (path == "/-/healthy")
    return answer(net::ServerResponse::text(200, "vagt-agent is healthy.\n"));
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
    response.content_type = open_metrics
                                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                : "text/plain; version=0.0.4; charset=utf-8";
    response.body = std::move(page).value();
  } else {
    response = net::ServerResponse::text(
        400, "Couldn't create filtered metrics handler: " + page.error().message() + "\n");
  }
  agent_.count_request(response.status);
  respond(std::move(response));
}

}  // namespace vagt::agent
