// The real client against the real server.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "net/http_client.h"
#include "net/http_server.h"
#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using test::IsOk;
using test::StatusIs;

std::unique_ptr<HttpServer> serve(Handler handler, ServerOptions options = {}) {
  options.listen = {"127.0.0.1:0"};
  auto server = HttpServer::start(std::move(options), std::move(handler), {});
  EXPECT_THAT(server, IsOk());
  return std::move(*server);
}

HttpRequest get(const HttpServer& server, const std::string& target) {
  HttpRequest request;
  request.url = Secret("http://127.0.0.1:" + std::to_string(server.ports()[0]) + target);
  return request;
}

void echo(const std::shared_ptr<const ServerRequest>& request, const Respond& respond) {
  std::string text = request->method + " " + request->path + "\n";
  for (const auto& [name, value] : request->params) text += name + "=" + value + "\n";
  respond(ServerResponse::text(200, text + request->body));
}

TEST(HttpRoundTrip, TenRequestsUseOneConnection) {
  std::mutex mutex;
  std::set<std::string> peers;
  const auto server = serve([&](auto request, auto respond) {
    const std::lock_guard lock(mutex);
    peers.insert(request->remote);
    respond(ServerResponse::text(200, "ok"));
  });
  HttpClient client({});
  for (int i = 0; i < 10; ++i) {
    const auto answer = client.fetch(get(*server, "/metrics"), nullptr);
    ASSERT_THAT(answer, IsOk());
    EXPECT_EQ(answer->body, "ok");
  }
  EXPECT_EQ(peers.size(), 1u);
}

TEST(HttpRoundTrip, PathAndParametersAreDecoded) {
  const auto server = serve(echo);
  HttpClient client({});
  const auto answer =
      client.fetch(get(*server, "/a%20b/c?query=up%7Bx%3D%221%22%7D+1&m=1&m=2"), nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "GET /a b/c\nquery=up{x=\"1\"} 1\nm=1\nm=2\n");
  EXPECT_EQ(answer->header("content-type"), "text/plain; charset=utf-8");
  EXPECT_NE(answer->header("Date"), "");
}

TEST(HttpRoundTrip, FormFieldsComeBeforeTheQuery) {
  const auto server = serve(echo);
  HttpClient client({});
  HttpRequest request = get(*server, "/q?x=query");
  request.method = "POST";
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = "x=form&y=1+2";
  const auto answer = client.fetch(request, nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "POST /q\nx=form\ny=1 2\nx=query\nx=form&y=1+2");
}

TEST(HttpRoundTrip, MethodsReachTheHandler) {
  const auto server = serve(echo);
  HttpClient client({});
  for (const std::string method : {"GET", "PUT", "POST", "DELETE", "OPTIONS", "PATCH"}) {
    HttpRequest request = get(*server, "/");
    request.method = method;
    const auto answer = client.fetch(request, nullptr);
    ASSERT_THAT(answer, IsOk()) << method;
    EXPECT_EQ(answer->body, method + " /\n");
  }
  HttpRequest head = get(*server, "/");
  head.method = "HEAD";
  const auto answer = client.fetch(head, nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "");
  EXPECT_EQ(answer->header("Content-Length"), std::to_string(std::string("HEAD /\n").size()));
}

TEST(HttpRoundTrip, LargeBodiesBothWays) {
  const auto server =
      serve([](auto request, auto respond) { respond(ServerResponse::text(200, request->body)); });
  HttpClient client({});
  HttpRequest request = get(*server, "/");
  request.method = "POST";
  request.body.resize(8u << 20);
  for (size_t i = 0; i < request.body.size(); ++i) request.body[i] = static_cast<char>(i * 31);
  const auto answer = client.fetch(request, nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_TRUE(answer->body == request.body);
}

TEST(HttpRoundTrip, BodyIsGzippedForThoseWhoAsk) {
  std::string page;
  for (int i = 0; i < 5000; ++i) page += "metric_" + std::to_string(i) + " 1\n";
  const auto server = serve([&](auto, auto respond) { respond(ServerResponse::text(200, page)); });
  HttpClient client({});
  HttpRequest request = get(*server, "/");
  request.accept_compression = true;
  const auto packed = client.fetch(request, nullptr);
  ASSERT_THAT(packed, IsOk());
  EXPECT_EQ(packed->header("Content-Encoding"), "gzip");
  EXPECT_LT(packed->body.size(), page.size() / 3);
  const auto inflated = decompress(packed->body, "gzip", page.size());
  ASSERT_THAT(inflated, IsOk());
  EXPECT_TRUE(*inflated == page);
  EXPECT_THAT(decompress(packed->body, "gzip", page.size() - 1), StatusIs(Code::LimitExceeded));

  request.accept_compression = false;
  const auto plain = client.fetch(request, nullptr);
  ASSERT_THAT(plain, IsOk());
  EXPECT_EQ(plain->header("Content-Encoding"), "");
  EXPECT_TRUE(plain->body == page);
}

TEST(HttpRoundTrip, AnswersFromAnotherThread) {
  std::vector<std::thread> workers;
  std::mutex mutex;
  const auto server = serve([&](auto request, auto respond) {
    const std::lock_guard lock(mutex);
    workers.emplace_back([request, respond] { respond(ServerResponse::text(200, request->path)); });
  });
  HttpClient client({});
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < 8; ++i) {
      clients.emplace_back([&, i] {
        const auto answer = client.fetch(get(*server, "/" + std::to_string(i)), nullptr);
        if (answer && answer->body == "/" + std::to_string(i)) ++good;
      });
    }
  }
  EXPECT_EQ(good, 8);
  for (auto& worker : workers) worker.join();
}

TEST(HttpRoundTrip, LongGetQueries) {
  const auto server = serve([](auto request, auto respond) {
    respond(ServerResponse::text(200, std::to_string(request->param("query")->size())));
  });
  HttpClient client({});
  const auto answer = client.fetch(get(*server, "/?query=" + std::string(900'000, 'x')), nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "900000");
}

TEST(HttpRoundTrip, StopAnswersWhatIsUnderWay) {
  Respond kept;
  std::mutex mutex;
  std::condition_variable arrived;
  auto server = serve([&](auto, auto respond) {
    const std::lock_guard lock(mutex);
    kept = respond;
    arrived.notify_all();
  });
  HttpClient client({});
  std::jthread answering([&] {
    {
      std::unique_lock lock(mutex);
      arrived.wait(lock, [&] { return kept != nullptr; });
    }
    std::jthread late([&] { kept(ServerResponse::text(200, "in time")); });
    server->stop();
  });
  const auto answer = client.fetch(get(*server, "/"), nullptr);
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->body, "in time");
}

TEST(HttpRoundTrip, AnswerAfterTheServerIsGone) {
  Respond kept;
  std::mutex mutex;
  std::condition_variable arrived;
  std::stop_token closed;
  auto server = serve([&](auto request, auto respond) {
    const std::lock_guard lock(mutex);
    closed = request->closed;
    kept = respond;
    arrived.notify_all();
  });
  HttpClient client({});
  const HttpRequest request = get(*server, "/");
  std::jthread stopping([&] {
    {
      std::unique_lock lock(mutex);
      arrived.wait(lock, [&] { return kept != nullptr; });
    }
    server->stop(Duration(1));
    server.reset();
  });
  EXPECT_THAT(client.fetch(request, nullptr), StatusIs(Code::Unavailable));
  stopping.join();
  EXPECT_TRUE(closed.stop_requested());
  kept(ServerResponse::text(200, "to nobody"));
  kept = nullptr;
}

}  // namespace
}  // namespace vagt::net
