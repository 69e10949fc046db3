// The life of one connection, over a plain or a TLS stream. Included by the two .cpp files that
// make one of them.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "net/server/answer.h"
#include "net/server/connection.h"
#include "net/server/request_parser.h"

namespace vagt::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

inline constexpr size_t kKeptBufferBytes = 64u << 10;  // an idle connection holds no more than this
inline constexpr auto kLinger =
    std::chrono::seconds(2);  // for the client to read why it was refused

inline Timestamp wall_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

inline std::string address_of(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return "";
  const std::string host = peer.address().to_string();
  const std::string port = std::to_string(peer.port());
  return peer.address().is_v6() ? "[" + host + "]:" + port : host + ":" + port;
}

// Everything runs on the stream's strand unless it says otherwise. At any moment one of these is
// under way: reading a request, the handler, writing the answer; so pipelined requests wait in
// buffer_ or in the kernel.
//
// `Stream` is a beast::tcp_stream or a TLS stream over one; `Opening` brings it to where requests
// can be read: opening(stream, then) calls then(error) on the strand.
template <class Stream, class Opening>
class StreamConnection final
    : public Connection,
      public std::enable_shared_from_this<StreamConnection<Stream, Opening>> {
 public:
  StreamConnection(Stream stream, Opening opening, ServerContext& context,
                   std::weak_ptr<void> owner)
      : stream_(std::move(stream)),
        opening_(std::move(opening)),
        context_(context),
        owner_(std::move(owner)),
        remote_(address_of(tcp().socket())),
        entry_(context.connections.add()) {}
  ~StreamConnection() override { close(); }

  void start() override {
    context_.connections.name(entry_, this->weak_from_this());
    on_strand([](StreamConnection& self) { self.open(); });
  }
  bool is_idle() const override { return is_idle_ && has_served_; }
  void close_if_idle() override {
    on_strand([](StreamConnection& self) {
      if (self.is_idle()) self.close();
    });
  }
  void finish_and_close() override {
    on_strand([](StreamConnection& self) {
      self.is_last_ = true;
      if (self.is_idle_) self.close();
    });
  }
  void hang_up() override {
    on_strand([](StreamConnection& self) {
      self.is_last_ = true;
      self.closed_.request_stop();
      self.close();
    });
  }

 private:
  // One request's right to be answered once. Any thread. Holds the owner longer than the
  // connection.
  class Exchange {
   public:
    Exchange(std::shared_ptr<void> owner, std::shared_ptr<StreamConnection> connection,
             std::shared_ptr<const ServerRequest> request)
        : owner_(std::move(owner)),
          connection_(std::move(connection)),
          request_(std::move(request)) {}
    ~Exchange() {
      if (!is_answered_) answer(ServerResponse::text(500, "the request was dropped\n"));
    }
    void answer(ServerResponse response) {
      if (is_answered_.exchange(true)) return;
      if (has_body(response.status)) encode_body(*request_, response);
      const ServerContext& context = connection_->context_;
      add_cors(*request_, context.origins, context.is_any_origin_allowed, response);
      auto shared = std::make_shared<ServerResponse>(std::move(response));
      connection_->on_strand([shared, is_head = request_->method == "HEAD"](
                                 StreamConnection& self) { self.write(shared, is_head); });
    }

   private:
    const std::shared_ptr<void> owner_;
    const std::shared_ptr<StreamConnection> connection_;
    const std::shared_ptr<const ServerRequest> request_;
    std::atomic<bool> is_answered_{false};
  };

  beast::tcp_stream& tcp() { return beast::get_lowest_layer(stream_); }

  template <class Action>
  void on_strand(Action action) {  // any thread
    asio::post(stream_.get_executor(),
               [self = this->shared_from_this(), action = std::move(action)] { action(*self); });
  }

  // Under the newcomers' deadline: who only connects must not keep others out for long.
  void open() {
    if (is_closed_) return;
    tcp().expires_after(
        std::min(context_.options.read_timeout, context_.options.first_header_timeout));
    opening_(stream_, [self = this->shared_from_this()](error_code error) {
      if (error) return self->close();
      self->read_header();
    });
  }

  void read_header() {
    if (is_closed_) return;
    if (buffer_.size() == 0 && buffer_.capacity() > kKeptBufferBytes) buffer_ = {};
    parser_.emplace(context_.bodies);
    parser_->header_limit(static_cast<uint32_t>(context_.options.max_header_bytes));
    parser_->body_limit(context_.options.max_body_bytes == 0
                            ? boost::optional<std::uint64_t>()
                            : boost::optional<std::uint64_t>(context_.options.max_body_bytes));
    is_idle_ = buffer_.size() == 0;
    if (is_idle_) context_.connections.move_to_end(entry_);
    tcp().expires_after(has_served_ ? context_.options.read_timeout
                                    : std::min(context_.options.read_timeout,
                                               context_.options.first_header_timeout));
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, size_t) {
                              self->is_idle_ = false;
                              self->on_header(error);
                            });
  }

  void on_header(error_code error) {
    if (error) return on_read_failure(error);
    if (parser_->has_foreign_coding())
      return refuse(501, "the only Transfer-Encoding understood is chunked, in HTTP/1.1\n");
    if (parser_->announces_too_much()) return refuse_busy();
    if (!parser_->expects_continue() || parser_->is_done()) return read_body();
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue.data(), kContinue.size()),
                      [self = this->shared_from_this()](error_code failure, size_t) {
                        if (failure) return self->close();
                        self->read_body();
                      });
  }

  // Under the deadline that read_header set: a request that drips in ends with it.
  void read_body() {
    tcp().expires_after(context_.options.read_timeout);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](error_code error, size_t) {
                       if (error) return self->on_read_failure(error);
                       self->handle();
                     });
  }

  void on_read_failure(error_code error) {
    if (error == http::error::header_limit) {
      return refuse(431, "the request's header is larger than " +
                             std::to_string(context_.options.max_header_bytes) + " bytes\n");
    }
    if (error == http::error::body_limit && parser_->is_over_budget()) return refuse_busy();
    if (error == http::error::body_limit) {
      return refuse(413, "the request's body is larger than " +
                             std::to_string(context_.options.max_body_bytes) + " bytes\n");
    }
    const bool is_bad_syntax =
        error.category() == make_error_code(http::error::bad_method).category();
    if (is_bad_syntax && error != http::error::end_of_stream &&
        error != http::error::partial_message) {
      return refuse(400, "400 Bad Request: " + error.message() + "\n");
    }
    close();
  }

  // Answers what is not a whole request; what else the client sends is not read as one.
  void refuse(int status, std::string why, Headers headers = {}) {
    is_last_ = true;
    lingers_ = true;
    parser_.reset();  // and with it what it holds of the budget
    auto response = std::make_shared<ServerResponse>(ServerResponse::text(status, std::move(why)));
    response->headers = std::move(headers);
    write(std::move(response), false);
  }
  void refuse_busy() {
    refuse(503,
           "the bodies of all requests together would be larger than " +
               std::to_string(context_.options.max_bodies_bytes) + " bytes; try again later\n",
           {{"Retry-After", "5"}});
  }

  void handle() {
    tcp().expires_never();
    keeps_alive_ = parser_->keep_alive();
    is_http_1_0_ = parser_->is_http_1_0();
    is_answering_ = true;
    has_served_ = true;
    std::shared_ptr<ServerRequest> request = parser_->request();
    parser_.reset();
    request->remote = remote_;
    closed_ = std::stop_source();
    request->closed = closed_.get_token();
    const Status complete = complete_request(*request, context_.options);
    const auto owner = owner_.lock();
    if (!owner) return close();
    watch_for_hang_up();
    const auto exchange = std::make_shared<Exchange>(owner, this->shared_from_this(), request);
    if (!complete.ok())
      return exchange->answer(ServerResponse::text(
          complete.code() == Code::LimitExceeded ? 413 : 400, complete.message() + "\n"));
    try {
      context_.handler(
          request, [exchange](ServerResponse response) { exchange->answer(std::move(response)); });
    } catch (const std::exception& failure) {
      context_.log.error("a request handler failed",
                         {{"path", request->path}, {"error", failure.what()}});
      exchange->answer(ServerResponse::text(500, "internal server error\n"));
    }
  }

  // One wait at a time; it also wakes for pipelined bytes, after which a hang-up can no longer be
  // seen.
  void watch_for_hang_up() {
    if (is_watching_) return;
    is_watching_ = true;
    tcp().socket().async_wait(asio::ip::tcp::socket::wait_read,
                              [self = this->shared_from_this()](error_code error) {
                                self->is_watching_ = false;
                                if (!error) self->on_readable();
                              });
  }

  void on_readable() {
    char byte = 0;
    const ssize_t got = ::recv(tcp().socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    const bool is_quiet = got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (is_quiet && is_answering_) return watch_for_hang_up();  // woken by the request itself
    if (got <= 0 && !is_quiet) closed_.request_stop();
  }

  void write(std::shared_ptr<ServerResponse> response, bool is_head) {
    if (is_closed_) return;
    const bool stays = keeps_alive_ && !is_last_ && !context_.connections.is_awaited();
    is_answering_ = false;
    const std::string_view connection = !stays ? "close" : is_http_1_0_ ? "keep-alive" : "";
    auto head = std::make_shared<std::string>(response_head(*response, connection, wall_now()));
    const bool sends_body = !is_head && has_body(response->status);
    const std::array<asio::const_buffer, 2> pieces = {
        asio::buffer(*head), sends_body ? asio::buffer(response->body) : asio::const_buffer()};
    tcp().expires_after(context_.options.read_timeout);
    asio::async_write(
        stream_, pieces,
        [self = this->shared_from_this(), head, response, stays](error_code error, size_t) {
          if (error) return self->close();
          if (stays && !self->is_last_) return self->read_header();
          if (self->lingers_) return self->linger();
          self->close();
        });
  }

  // Closing with unread bytes would send a reset that overtakes the answer.
  void linger() {
    error_code ignored;
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    tcp().expires_after(kLinger);
    discard();
  }
  void discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kKeptBufferBytes),
                            [self = this->shared_from_this()](error_code error, size_t) {
                              if (error) return self->close();
                              self->discard();
                            });
  }

  // Frees the slot at once: a handler may hold its request, and so this object, much longer.
  void close() {
    if (std::exchange(is_closed_, true)) return;
    closed_.request_stop();
    error_code ignored;
    tcp().socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
    tcp().close();
    context_.connections.remove(entry_);
  }

  Stream stream_;
  const Opening opening_;
  ServerContext& context_;
  const std::weak_ptr<void> owner_;
  const std::string remote_;
  const ConnectionList::Entry entry_;
  beast::flat_buffer buffer_;
  std::optional<RequestParser> parser_;
  std::stop_source closed_{std::nostopstate};  // of the request under way
  std::atomic<bool> is_idle_{true};      // nothing of a request read yet; written on the strand
  std::atomic<bool> has_served_{false};  // a newcomer's first request is waited for
  bool keeps_alive_ = false;
  bool is_http_1_0_ = false;
  bool is_answering_ = false;
  bool is_last_ = false;
  bool lingers_ = false;
  bool is_watching_ = false;
  bool is_closed_ = false;  // entry_ is no longer valid
};

}  // namespace vagt::net
