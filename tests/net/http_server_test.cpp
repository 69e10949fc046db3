// The server against clients that do not behave; what a well-behaved one sees is in
// http_round_trip_test.cpp.
#include "net/http_server.h"

#include <gtest/gtest.h>
#include <thread>

#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "tests/support/script_server.h"
#include "tests/support/status_matchers.h"

namespace vagt::net {
namespace {

using test::IsOk;
using test::StatusIs;
using test::Wire;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<HttpServer> serve(Handler handler, ServerOptions options = {}) {
  if (options.listen.empty()) options.listen = {"127.0.0.1:0"};
  auto server = HttpServer::start(std::move(options), std::move(handler), {});
  EXPECT_THAT(server, IsOk());
  return std::move(*server);
}

void say_path(const std::shared_ptr<const ServerRequest>& request, const Respond& respond) {
  respond(ServerResponse::text(200, "<" + request->path + ">"));
}

struct Answer {
  std::string head, body;
};
Answer read_answer(Wire& wire) {
  Answer answer;
  answer.head = wire.read_until("\r\n\r\n");
  const size_t at = answer.head.find("Content-Length: ");
  if (at != std::string::npos)
    answer.body = wire.read_bytes(std::stoul(answer.head.substr(at + 16)));
  return answer;
}

TEST(HttpServer, SeveralAddresses) {
  ServerOptions options;
  options.listen = {"127.0.0.1:0", "localhost:0", ":0"};
  const auto server = serve(say_path, options);
  ASSERT_EQ(server->ports().size(), 3u);
  for (const size_t i : {0u, 2u}) {
    Wire wire = Wire::connect(server->ports()[i]);
    wire.send("GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(read_answer(wire).body, "</x>");
  }
}

TEST(HttpServer, AddressesThatCannotBeBound) {
  const auto first = serve(say_path);
  const std::string taken = "127.0.0.1:" + std::to_string(first->ports()[0]);
  const auto start = [](std::string address) {
    ServerOptions options;
    options.listen = {std::move(address)};
    return HttpServer::start(options, say_path, {}).status();
  };
  EXPECT_THAT(start(taken), StatusIs(Code::Unavailable,
                                     "listen tcp " + taken + ": bind: address already in use"));
  EXPECT_THAT(start("9090"), StatusIs(Code::InvalidArgument, "missing port in address"));
  EXPECT_THAT(start("127.0.0.1:http"), StatusIs(Code::InvalidArgument, "invalid port"));
  EXPECT_THAT(start("::1:90"), StatusIs(Code::InvalidArgument, "too many colons"));
  EXPECT_THAT(start("no-such-host.invalid:0"), StatusIs(Code::Unavailable, "no such host"));
}

TEST(HttpServer, PipelinedRequestsAreAnsweredInOrder) {
  const auto server = serve(say_path);
  Wire wire = Wire::connect(server->ports()[0]);
  std::string all;
  for (int i = 0; i < 50; ++i) all += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: h\r\n\r\n";
  wire.send(all);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(read_answer(wire).body, "</" + std::to_string(i) + ">");
}

TEST(HttpServer, KeepAliveIsTheClientsChoice) {
  const auto server = serve(say_path);
  Wire closing = Wire::connect(server->ports()[0]);
  closing.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(closing.read_all(), HasSubstr("Connection: close\r\n"));
  Wire old = Wire::connect(server->ports()[0]);
  old.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_THAT(old.read_all(), HasSubstr("Connection: close\r\n"));
  Wire old_keeping = Wire::connect(server->ports()[0]);
  old_keeping.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_THAT(read_answer(old_keeping).head, HasSubstr("Connection: keep-alive\r\n"));
  old_keeping.send("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(read_answer(old_keeping).body, "</2>");
}

TEST(HttpServer, LimitsNameThemselves) {
  ServerOptions options;
  options.max_header_bytes = 2000;
  options.max_body_bytes = 100;
  const auto server = serve(say_path, options);
  const auto outcome = [&](const std::string& text) {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send(text);
    const Answer answer = read_answer(wire);
    return answer.head + answer.body;
  };
  EXPECT_THAT(outcome("GET /" + std::string(3000, 'x') + " HTTP/1.1\r\nHost: h\r\n\r\n"),
              testing::AllOf(HasSubstr("HTTP/1.1 431 "), HasSubstr("larger than 2000 bytes")));
  EXPECT_THAT(outcome("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 101\r\n\r\n"),
              testing::AllOf(HasSubstr("HTTP/1.1 413 "), HasSubstr("larger than 100 bytes")));
  EXPECT_THAT(outcome("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nc8\r\n" +
                      std::string(200, 'x') + "\r\n0\r\n\r\n"),
              HasSubstr("HTTP/1.1 413 "));
}

// Taken for "no body", the body's bytes would be the next request.
TEST(HttpServer, ForeignTransferCodingsAreRefused) {
  const auto server = serve(say_path);
  for (const char* codings :
       {"Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"}) {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send(std::string("POST /first HTTP/1.1\r\nHost: h\r\n") + codings +
              "\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string all = wire.read_all();
    EXPECT_TRUE(all.starts_with("HTTP/1.1 501 ") || all.starts_with("HTTP/1.1 400 ")) << all;
    EXPECT_THAT(all, Not(HasSubstr("smuggled"))) << codings;
  }
  Wire both = Wire::connect(server->ports()[0]);
  both.send(
      "POST /first HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
      "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string all = both.read_all();
  EXPECT_THAT(all, HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(all, Not(HasSubstr("smuggled")));
  Wire upper = Wire::connect(server->ports()[0]);
  upper.send("POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n");
  EXPECT_THAT(read_answer(upper).head, HasSubstr("HTTP/1.1 200 "));
}

TEST(HttpServer, BodiesTogetherHaveALimit) {
  ServerOptions options;
  options.max_bodies_bytes = 1 << 20;
  const auto server = serve(say_path, options);
  const uint16_t port = server->ports()[0];
  const auto post = [](size_t announced) {
    return "POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(announced) +
           "\r\n\r\n";
  };
  const std::string chunked = "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
  {
    Wire holder = Wire::connect(port);  // the free part and nearly all of the budget
    ASSERT_TRUE(holder.send(post(1'200'000) + std::string(1'199'999, 'x')));
    const auto is_busy = [&] {
      // Announces, and so takes nothing from the holder; fits until that has grown whole.
      Wire wire = Wire::connect(port);
      wire.send(
          "POST /x HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 450000\r\n\r\n");
      const Answer answer = read_answer(wire);
      return answer.head.starts_with("HTTP/1.1 503 ") &&
             answer.head.find("Retry-After: ") != std::string::npos &&
             answer.body.find("1048576 bytes") != std::string::npos;
    };
    for (int i = 0; i < 1000 && !is_busy(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // What is announced is refused before it is sent; what is not, when it comes.
    EXPECT_TRUE(is_busy());
    Wire unannounced = Wire::connect(port);
    unannounced.send(chunked + chunk);
    EXPECT_THAT(read_answer(unannounced).head, HasSubstr("HTTP/1.1 503 "));
    Wire small = Wire::connect(port);  // an alert gets through
    small.send(post(200'000) + std::string(200'000, 'x'));
    EXPECT_EQ(read_answer(small).body, "</x>");
    holder.send("x");
    EXPECT_EQ(read_answer(holder).body, "</x>");
  }
  // Given back with the requests, those cut off included.
  for (int i = 0; i < 20; ++i) {
    Wire cut = Wire::connect(port);
    cut.send(post(1'200'000) + std::string(1'000'000, 'x'));
  }
  const auto whole = [&] {
    Wire wire = Wire::connect(port);
    wire.send(post(1'200'000) + std::string(1'200'000, 'x'));
    return read_answer(wire).body == "</x>";
  };
  bool is_free = false;
  for (int i = 0; i < 1000 && !is_free; ++i) is_free = whole();
  EXPECT_TRUE(is_free);
}

TEST(HttpServer, FormsHaveLimitsOfTheirOwn) {
  ServerOptions options;
  options.max_form_bytes = 50;
  options.max_params = 4;
  const auto server = serve(say_path, options);
  const auto outcome = [&](const std::string& query, const std::string& form) {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send("POST /" + query +
              " HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
              "Content-Length: " +
              std::to_string(form.size()) + "\r\n\r\n" + form);
    const Answer answer = read_answer(wire);
    return answer.head + answer.body;
  };
  EXPECT_THAT(outcome("", "a=" + std::string(48, 'x')), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(outcome("", "a=" + std::string(49, 'x')),
              testing::AllOf(HasSubstr("HTTP/1.1 413 "), HasSubstr("larger than 50 bytes")));
  EXPECT_THAT(outcome("?a=1&a=2", "a=3&a=4"), HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(outcome("?a=1&a=2", "a=3&a=4&a=5"),
              testing::AllOf(HasSubstr("HTTP/1.1 400 "), HasSubstr("more than 4 parameters")));
}

TEST(HttpServer, ClientsThatOnlyConnectDoNotKeepOthersOut) {
  ServerOptions options;
  options.max_connections = 3;
  options.first_header_timeout = std::chrono::milliseconds(50);
  const auto server = serve(say_path, options);
  std::vector<Wire> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(Wire::connect(server->ports()[0]));
  silent[1].send("GET / HT");
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET /in HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(read_answer(wire).body, "</in>");
}

TEST(HttpServer, BadSyntaxIs400) {
  const auto server = serve(say_path);
  const auto outcome = [&](const std::string& text) {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send(text);
    return wire.read_until("\r\n");
  };
  EXPECT_EQ(outcome("rubbish\r\n\r\n"), "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(outcome("GET / HTTP/3.7\r\n\r\n"), "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(outcome("GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n"), "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(outcome("GET /?a=%zz HTTP/1.1\r\nHost: h\r\n\r\n"), "HTTP/1.1 400 Bad Request\r\n");
  EXPECT_EQ(outcome("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n"),
            "HTTP/1.1 400 Bad Request\r\n");
}

TEST(HttpServer, LongHeaderValues) {
  const auto server = serve([](auto request, auto respond) {
    respond(ServerResponse::text(200, std::to_string(request->header("X-Long").size())));
  });
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET / HTTP/1.1\r\nHost: h\r\nX-Long: " + std::string(200'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(read_answer(wire).body, "200000");
}

TEST(HttpServer, ChunkedBodyAndContinue) {
  const auto server =
      serve([](auto request, auto respond) { respond(ServerResponse::text(200, request->body)); });
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send(
      "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(wire.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  wire.send("3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(read_answer(wire).body, "abcde");
}

TEST(HttpServer, SlowClientLosesItsConnection) {
  ServerOptions options;
  options.read_timeout = std::chrono::milliseconds(100);
  const auto server = serve(say_path, options);
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET / HT");
  EXPECT_EQ(wire.read_all(), "");
  Wire idle = Wire::connect(server->ports()[0]);
  idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(read_answer(idle).body, "</>");
  EXPECT_EQ(idle.read_all(), "");
}

TEST(HttpServer, IdleConnectionMakesRoom) {
  ServerOptions options;
  options.max_connections = 2;
  const auto server = serve(say_path, options);
  const auto ask = [](Wire& wire, const std::string& path) {
    wire.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
    return read_answer(wire).body;
  };
  Wire first = Wire::connect(server->ports()[0]);
  EXPECT_EQ(ask(first, "/1"), "</1>");
  Wire second = Wire::connect(server->ports()[0]);
  EXPECT_EQ(ask(second, "/2"), "</2>");
  Wire third = Wire::connect(server->ports()[0]);
  EXPECT_EQ(ask(third, "/3"), "</3>");
  EXPECT_EQ(first.read_all(), "");  // the longest idle one
  EXPECT_EQ(ask(second, "/2"), "</2>");
}

TEST(HttpServer, BusyConnectionsLetTheNextWait) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::vector<Respond> kept;
  ServerOptions options;
  options.max_connections = 1;
  const auto server = serve(
      [&](auto, auto respond) {
        const std::lock_guard lock(mutex);
        kept.push_back(respond);
        arrived.notify_all();
      },
      options);
  const auto answer_one = [&] {
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return !kept.empty(); });
    kept.back()(ServerResponse::text(200, "done"));
    kept.clear();
  };
  Wire first = Wire::connect(server->ports()[0]);
  first.send("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n");
  Wire second = Wire::connect(server->ports()[0]);
  second.send("GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
  answer_one();
  EXPECT_EQ(read_answer(first).body, "done");
  answer_one();
  EXPECT_EQ(read_answer(second).body, "done");
}

TEST(HttpServer, HangUpIsSeenByTheHandler) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::vector<std::shared_ptr<const ServerRequest>> requests;
  std::vector<Respond> kept;
  const auto server = serve([&](auto request, auto respond) {
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    kept.push_back(respond);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    changed.wait(lock, [&] { return !kept.empty(); });
    EXPECT_FALSE(requests[0]->closed.stop_requested());
  }
  const auto wake = [&] {
    const std::lock_guard inner(mutex);
    changed.notify_all();
  };
  lock.unlock();
  const std::stop_callback callback(requests[0]->closed, wake);
  lock.lock();
  EXPECT_TRUE(changed.wait_for(lock, std::chrono::seconds(10),
                               [&] { return requests[0]->closed.stop_requested(); }));
}

TEST(HttpServer, SecondRequestOnAConnectionIsWatchedToo) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::shared_ptr<const ServerRequest> last;
  Respond kept;
  const auto server = serve([&](auto request, auto respond) {
    if (request->path == "/fast") return respond(ServerResponse::text(200, "fast"));
    const std::lock_guard lock(mutex);
    last = request;
    kept = respond;
    changed.notify_all();
  });
  {
    Wire wire = Wire::connect(server->ports()[0]);
    for (int i = 0; i < 5; ++i) {
      wire.send("GET /fast HTTP/1.1\r\nHost: h\r\n\r\n");
      EXPECT_EQ(read_answer(wire).body, "fast");
    }
    wire.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return last != nullptr; });
  }
  std::mutex closed_mutex;
  std::condition_variable closed;
  const std::stop_callback callback(last->closed, [&] {
    const std::lock_guard lock(closed_mutex);
    closed.notify_all();
  });
  std::unique_lock lock(closed_mutex);
  EXPECT_TRUE(closed.wait_for(lock, std::chrono::seconds(10),
                              [&] { return last->closed.stop_requested(); }));
}

TEST(HttpServer, AnsweringTwiceAndNever) {
  const auto server = serve([](auto request, auto respond) {
    if (request->path == "/never") return;
    respond(ServerResponse::text(200, "first"));
    respond(ServerResponse::text(200, "second"));
  });
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET /twice HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(read_answer(wire).body, "first");
  wire.send("GET /never HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(read_answer(wire).head, HasSubstr("HTTP/1.1 500 "));
}

TEST(HttpServer, HandlerThatThrows) {
  const auto server = serve([](auto, auto) { throw std::runtime_error("secret detail"); });
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const Answer answer = read_answer(wire);
  EXPECT_THAT(answer.head, HasSubstr("HTTP/1.1 500 Internal Server Error"));
  EXPECT_THAT(answer.body, Not(HasSubstr("secret")));
}

TEST(HttpServer, CrossOrigin) {
  const auto head_for = [](const std::string& origins, const std::string& origin) {
    ServerOptions options;
    options.cors_origin = origins;
    const auto server = serve(say_path, options);
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send("GET / HTTP/1.1\r\nHost: h\r\n" + origin + "\r\n");
    return read_answer(wire).head;
  };
  const std::string any = head_for(".*", "Origin: http://a.example\r\n");
  EXPECT_THAT(any, HasSubstr("Access-Control-Allow-Origin: *\r\n"));
  EXPECT_THAT(
      any,
      HasSubstr("Access-Control-Allow-Headers: Accept, Authorization, Content-Type, Origin\r\n"));
  EXPECT_THAT(any, HasSubstr("Access-Control-Allow-Methods: GET, POST, OPTIONS\r\n"));
  EXPECT_THAT(any, HasSubstr("Access-Control-Expose-Headers: Date\r\n"));
  EXPECT_THAT(any, HasSubstr("Vary: Origin\r\n"));
  EXPECT_THAT(head_for("https?://good.example", "Origin: http://good.example\r\n"),
              HasSubstr("Access-Control-Allow-Origin: http://good.example\r\n"));
  EXPECT_THAT(head_for("https?://good.example", "Origin: http://good.example.evil\r\n"),
              Not(HasSubstr("Access-Control-Allow-Origin")));
  EXPECT_THAT(head_for(".*", ""), Not(HasSubstr("Access-Control")));
}

TEST(HttpServer, StatusesWithoutBodyAndBrokenHeaders) {
  const auto server = serve([](auto request, auto respond) {
    ServerResponse response = ServerResponse::text(request->path == "/204" ? 204 : 302, "");
    response.headers = {{"Location", "/x\r\nInjected: yes"}};
    respond(std::move(response));
  });
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET /204 HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string none = wire.read_until("\r\n\r\n");
  EXPECT_THAT(none, HasSubstr("HTTP/1.1 204 No Content\r\n"));
  EXPECT_THAT(none, Not(HasSubstr("Content-Length")));
  wire.send("GET /302 HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(read_answer(wire).head, Not(HasSubstr("\nInjected")));
}

TEST(HttpServer, GzipOnlyWhenWanted) {
  const auto server =
      serve([](auto, auto respond) { respond(ServerResponse::text(200, std::string(5000, 'x'))); });
  const auto head_for = [&](const std::string& accept) {
    Wire wire = Wire::connect(server->ports()[0]);
    wire.send("GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: " + accept + "\r\n\r\n");
    return read_answer(wire).head;
  };
  EXPECT_THAT(head_for("gzip"), HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(head_for("deflate, GZIP;q=0.5"), HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_THAT(head_for("gzip;q=0"), Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(head_for("deflate"), Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(head_for("deflate"), HasSubstr("Vary: Accept-Encoding\r\n"));
}

TEST(HttpServer, StopClosesIdleConnections) {
  auto server = serve(say_path);
  Wire wire = Wire::connect(server->ports()[0]);
  wire.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(read_answer(wire).body, "</>");
  const uint16_t port = server->ports()[0];
  server->stop();
  EXPECT_EQ(wire.read_all(), "");
  EXPECT_FALSE(Wire::connect(port).is_open());
}

TEST(HttpServer, ManyThreads) {
  ServerOptions options;
  options.threads = 4;
  const auto server = serve(say_path, options);
  std::vector<std::jthread> clients;
  std::atomic<int> good{0};
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&] {
      Wire wire = Wire::connect(server->ports()[0]);
      for (int i = 0; i < 50; ++i) {
        const std::string path = "/" + std::to_string(i);
        wire.send("GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n");
        if (read_answer(wire).body == "<" + path + ">") ++good;
      }
    });
  }
  clients.clear();
  EXPECT_EQ(good, 400);
}

}  // namespace
}  // namespace vagt::net
