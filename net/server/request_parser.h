// Beast's parser filling a ServerRequest without copies in between. Inside net/server only.
#pragma once

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <memory>
#include <string>

#include "net/http_server.h"

namespace vagt::net {

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  RequestParser() : request_(std::make_shared<ServerRequest>()) {}
  std::shared_ptr<ServerRequest> request() { return request_; }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return is_http_1_0_; }

 private:
  using text = boost::beast::string_view;
  using error_code = boost::beast::error_code;
  static std::string string(text t) { return {t.data(), t.size()}; }

  void on_request_impl(boost::beast::http::verb, text method, text target, int version,
                       error_code&) override {
    is_http_1_0_ = version == 10;
    request_->method = string(method);
    request_->target = string(target);
  }
  void on_response_impl(int, text, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field name, text name_string, text value,
                     error_code&) override {
    if (name == boost::beast::http::field::expect) expects_continue_ = true;
    request_->headers.emplace_back(string(name_string), string(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    // What is claimed is not yet there: reserve a little of it only.
    if (length) request_->body.reserve(std::min<uint64_t>(*length, 1u << 20));
  }
  std::size_t on_body_impl(text piece, error_code&) override {
    request_->body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, text piece, error_code&) override {
    request_->body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}

  std::shared_ptr<ServerRequest> request_;
  bool expects_continue_ = false;
  bool is_http_1_0_ = false;
};

}  // namespace vagt::net
