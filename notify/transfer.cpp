#include "notify/transfer.h"

#include <cstdio>

#include "base/worker_pool.h"
#include "notify/command.h"

namespace vagt::notify {
namespace {

class RealTransport final : public Transport {
 public:
  explicit RealTransport(TransportOptions options) : options_(std::move(options)) {
    if (options_.allow_exec) {
      commands_ =
          std::make_unique<base::WorkerPool>(base::WorkerPool::Options{"notify-exec", 2, 256, 0});
    }
  }

  void send(TransferRequest request, Done done) override {
    if (auto* http = std::get_if<net::HttpRequest>(&request.body)) {
      options_.http->send(std::move(*http), std::move(request.profile),
                          [done = std::move(done)](Result<net::HttpResponse> answer) {
                            done(from_http(std::move(answer)));
                          });
    } else if (auto* mail = std::get_if<net::SmtpRequest>(&request.body)) {
      options_.smtp->send(std::move(*mail),
                          [done = std::move(done)](Result<net::SmtpReply> answer) {
                            TransferReply reply;
                            reply.failure = answer.status();
                            if (answer.ok()) {
                              reply.status = answer->code;
                              reply.body = answer->text;
                            }
                            done(std::move(reply));
                          });
    } else if (auto* text = std::get_if<PrintTransfer>(&request.body)) {
      done(print(text->text));
    } else {
      run(std::get<ExecTransfer>(std::move(request.body)), std::move(done));
    }
  }

 private:
  static TransferReply from_http(Result<net::HttpResponse> answer) {
    TransferReply reply;
    reply.failure = answer.status();
    if (!answer.ok()) return reply;
    reply.status = answer->status;
    reply.headers = std::move(answer->headers);
    reply.body = std::move(answer->body);
    return reply;
  }

  TransferReply print(const std::string& text) const {
    TransferReply reply;
    if (options_.print) {
      options_.print(text);
    } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
               std::fflush(stdout) != 0) {
      reply.failure = Status::io("cannot write to standard output");
    }
    return reply;
  }

  void run(ExecTransfer command, Done done) {
    TransferReply reply;
    if (commands_ == nullptr) {
      reply.failure =
          Status::invalid("commands are off: --enable-feature=exec-receiver allows them");
      done(std::move(reply));
      return;
    }
    auto shared = std::make_shared<Done>(std::move(done));
    if (!commands_->submit(
            [command = std::move(command), shared] { (*shared)(run_command(command)); })) {
      reply.failure = Status(Code::Unavailable, "too many commands are waiting");
      (*shared)(std::move(reply));
    }
  }

  const TransportOptions options_;
  std::unique_ptr<base::WorkerPool> commands_;
};

}  // namespace

std::unique_ptr<Transport> make_transport(TransportOptions options) {
  return std::make_unique<RealTransport>(std::move(options));
}

}  // namespace vagt::notify
