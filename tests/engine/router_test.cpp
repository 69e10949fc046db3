#include "engine/api/router.h"

#include <gtest/gtest.h>

#include <future>
#include <new>
#include <stdexcept>

namespace vagt::engine::api {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  net::ServerResponse ask(std::string method, std::string path) {
    return ask(std::move(method), std::move(path), router_);
  }
  static net::ServerResponse ask(std::string method, std::string path, const Router& router) {
    auto request = std::make_shared<net::ServerRequest>();
    request->method = std::move(method);
    request->path = std::move(path);
    std::promise<net::ServerResponse> answered;
    router.handle(request, [&answered](net::ServerResponse response) {
      answered.set_value(std::move(response));
    });
    return answered.get_future().get();
  }
  static Endpoint echo(std::string name) {
    return [name](const net::ServerRequest&, const PathArgs& args) {
      std::string text = name;
      for (const std::string& arg : args) text += " " + arg;
      return net::ServerResponse::text(200, text);
    };
  }

  void answers_while_busy(Lane busy, Lane other) {
    std::promise<void> release, running, ended;
    router_.get("/slow", busy, [&](const net::ServerRequest&, const PathArgs&) {
      running.set_value();
      release.get_future().wait();
      return net::ServerResponse::text(200, "slow");
    });
    router_.get("/quick", other, echo("quick"));
    auto request = std::make_shared<net::ServerRequest>();
    request->method = "GET";
    request->path = "/slow";
    router_.handle(request, [&ended](net::ServerResponse) { ended.set_value(); });
    running.get_future().wait();
    EXPECT_EQ(ask("GET", "/quick").body, "quick");
    release.set_value();
    ended.get_future().wait();
  }

  base::WorkerPool control_{{.name = "control", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool query_{{.name = "query", .threads = 1, .max_queue = 1, .nice = 0}};
  base::WorkerPool reload_{{.name = "reload", .threads = 1, .max_queue = 8, .nice = 0}};
  Router router_{control_, query_, reload_};
};

TEST_F(RouterTest, MatchesLiteralAndArgumentSegments) {
  router_.get("/api/v1/label/{name}/values", Lane::Query, echo("values"));
  router_.get("/", Lane::Control, echo("root"));
  EXPECT_EQ(ask("GET", "/api/v1/label/job/values").body, "values job");
  EXPECT_EQ(ask("GET", "/").body, "root");
  EXPECT_EQ(ask("GET", "/api/v1/label//values").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/label/job/values/more").status, 404);
}

TEST_F(RouterTest, AnEndpointThatThrowsIsOneFailedRequest) {
  router_.get("/huge", Lane::Query,
              [](const net::ServerRequest&, const PathArgs&) -> net::ServerResponse {
                throw std::bad_alloc();
              });
  router_.get("/odd", Lane::Control,
              [](const net::ServerRequest&, const PathArgs&) -> net::ServerResponse {
                throw std::length_error("too long");
              });
  router_.get("/", Lane::Control, echo("root"));
  EXPECT_EQ(ask("GET", "/huge").status, 503);
  EXPECT_EQ(ask("GET", "/odd").status, 500);
  EXPECT_EQ(ask("GET", "/").body, "root");
}

TEST_F(RouterTest, InlineIsAnsweredWhileControlIsBusy) {
  answers_while_busy(Lane::Control, Lane::Inline);
}
TEST_F(RouterTest, ControlIsAnsweredWhileAReloadTakesItsTime) {
  answers_while_busy(Lane::Reload, Lane::Control);
}

TEST_F(RouterTest, TheRestOfAPathIsOneArgument) {
  router_.get("/files/{path...}", Lane::Control, echo("file"));
  EXPECT_EQ(ask("GET", "/files/a/b.js").body, "file a/b.js");
}

TEST_F(RouterTest, RefusesOtherMethodsAndNamesTheRightOnes) {
  router_.get("/x", Lane::Control, echo("get"));
  router_.add({"DELETE"}, "/x", Lane::Control, echo("delete"));
  const net::ServerResponse refused = ask("PUT", "/x");
  EXPECT_EQ(refused.status, 405);
  EXPECT_EQ(refused.headers.at(0),
            std::make_pair(std::string("Allow"), std::string("GET, DELETE, OPTIONS")));
  EXPECT_EQ(ask("DELETE", "/x").body, "delete");
  EXPECT_EQ(ask("OPTIONS", "/x").status, 204);
  EXPECT_EQ(ask("OPTIONS", "/y").status, 404);
}

TEST_F(RouterTest, APrefixStandsBeforeEveryPath) {
  Router prefixed(control_, query_, reload_, "/prom");
  prefixed.get("/", Lane::Control, echo("root"));
  prefixed.get("/metrics", Lane::Control, echo("metrics"));
  EXPECT_EQ(ask("GET", "/prom/metrics", prefixed).body, "metrics");
  EXPECT_EQ(ask("GET", "/prom/", prefixed).body, "root");
  for (const char* outside : {"/metrics", "/promises/metrics", "/p", "", "/prometheus"})
    EXPECT_EQ(ask("GET", outside, prefixed).status, 404) << outside;
  for (const char* bare : {"/", "/prom"}) {
    const net::ServerResponse there = ask("GET", bare, prefixed);
    EXPECT_EQ(there.status, 302);
    EXPECT_EQ(there.headers.at(0), std::make_pair(std::string("Location"), std::string("/prom/")));
  }
}

TEST_F(RouterTest, AFullQueryLaneSaysSoAndControlStillAnswers) {
  std::promise<void> release;
  std::shared_future<void> released = release.get_future().share();
  std::promise<void> running;
  router_.get("/slow", Lane::Query, [&](const net::ServerRequest&, const PathArgs&) {
    running.set_value();
    released.wait();
    return net::ServerResponse::text(200, "slow");
  });
  router_.get("/query", Lane::Query, echo("query"));
  router_.get("/healthy", Lane::Control, echo("healthy"));
  auto request = std::make_shared<net::ServerRequest>();
  request->method = "GET";
  request->path = "/slow";
  std::promise<void> ended;
  router_.handle(request, [&ended](net::ServerResponse) { ended.set_value(); });
  running.get_future().wait();
  auto queued = std::make_shared<net::ServerRequest>(*request);
  queued->path = "/query";
  router_.handle(queued, [](net::ServerResponse) {});
  EXPECT_EQ(ask("GET", "/query").status, 503);
  EXPECT_EQ(ask("GET", "/healthy").body, "healthy");
  release.set_value();
  ended.get_future().wait();
}

}  // namespace
}  // namespace vagt::engine::api
