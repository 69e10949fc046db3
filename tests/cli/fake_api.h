// A server that answers the tool with what a test says and keeps what it was asked.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "net/http_server.h"

namespace vagt::test {

class FakeApi {
 public:
  using Answer = std::function<net::ServerResponse(const net::ServerRequest&)>;

  explicit FakeApi(Answer answer) : answer_(std::move(answer)) {
    net::ServerOptions options;
    options.listen = {"127.0.0.1:0"};
    auto server = net::HttpServer::start(
        options,
        [this](std::shared_ptr<const net::ServerRequest> request, net::Respond respond) {
          const std::lock_guard lock(mutex_);
          requests_.push_back(*request);
          respond(answer_(*request));
        },
        {});
    server_ = std::move(server.value());
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->ports()[0]); }
  std::vector<net::ServerRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  const Answer answer_;
  mutable std::mutex mutex_;
  std::vector<net::ServerRequest> requests_;
  std::unique_ptr<net::HttpServer> server_;
};

struct Ran {
  int code = -1;
  std::string out, err;
};

// Runs the tool as a shell would; `home` has no configuration files unless the test puts some
// there.
inline Ran run_tool(std::vector<std::string> arguments, const std::string& in = "",
                    const std::string& home = "/nonexistent") {
  std::ostringstream out, err;
  std::istringstream input(in);
  Ran ran;
  ran.code = cli::run_program(std::move(arguments), home, {out, err, input});
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

}  // namespace vagt::test
