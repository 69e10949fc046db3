// Beast's parser filling a ServerRequest without copies in between. Inside net/server only.
#pragma once

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <memory>
#include <string>
#include <utility>

#include "net/body_budget.h"
#include "net/http_server.h"
#include "net/url.h"

namespace vagt::net {

// Of each body, outside the budget: alerts, silences and queries get through while imports fill it.
constexpr uint64_t kFreeBytes = 256u << 10;

class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  explicit RequestParser(std::shared_ptr<BodyBudget> budget)
      : held_(std::make_shared<Held>(std::move(budget))), request_(held_->request) {}
  // Holds its part of the budget for as long as anybody holds it.
  std::shared_ptr<ServerRequest> request() { return {held_, &held_->request}; }
  bool expects_continue() const { return expects_continue_; }
  bool is_http_1_0() const { return is_http_1_0_; }
  // The body that the header announces does not fit into the budget.
  bool announces_too_much() const {
    const auto length = content_length();
    return length && !held_->share.can_grow_to(*length);
  }
  bool is_over_budget() const { return is_over_budget_; }  // nor does what has come of it
  // Beast takes any other coding for "no body", and what follows for the next request.
  bool has_foreign_coding() const { return has_foreign_coding_; }

 private:
  struct Held {
    explicit Held(std::shared_ptr<BodyBudget> budget) : share(std::move(budget), kFreeBytes) {}
    ServerRequest request;
    BodyShare share;
  };
  using text = boost::beast::string_view;
  using error_code = boost::beast::error_code;
  static std::string string(text t) { return {t.data(), t.size()}; }

  void on_request_impl(boost::beast::http::verb, text method, text target, int version,
                       error_code&) override {
    is_http_1_0_ = version == 10;
    request_.method = string(method);
    request_.target = string(target);
  }
  void on_response_impl(int, text, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field name, text name_string, text value,
                     error_code&) override {
    if (name == boost::beast::http::field::expect) expects_continue_ = true;
    if (name == boost::beast::http::field::transfer_encoding) {
      has_foreign_coding_ |=
          has_coding_ || is_http_1_0_ ||
          !equals_ignoring_case(std::string_view(value.data(), value.size()), "chunked");
      has_coding_ = true;
    }
    request_.headers.emplace_back(string(name_string), string(value));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
    // What is claimed is not yet there: reserve a little of it only.
    if (length) request_.body.reserve(std::min(*length, kFreeBytes));
  }
  std::size_t on_body_impl(text piece, error_code& error) override { return take(piece, error); }
  void on_chunk_header_impl(std::uint64_t, text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, text piece, error_code& error) override {
    return take(piece, error);
  }
  void on_finish_impl(error_code&) override {}

  // What the string takes counts, not what it holds: it grows by doubling.
  std::size_t take(text piece, error_code& error) {
    std::string& body = request_.body;
    const size_t size = body.size() + piece.size();
    if (size > body.capacity()) {
      const size_t whole = content_length().value_or(std::string::npos);
      const size_t capacity = std::max(size, std::min(2 * body.capacity(), whole));
      if (!held_->share.grow_to(capacity)) {
        is_over_budget_ = true;
        error = boost::beast::http::error::body_limit;
        return 0;
      }
      body.reserve(capacity);
    }
    body.append(piece.data(), piece.size());
    return piece.size();
  }

  const std::shared_ptr<Held> held_;
  ServerRequest& request_;
  bool is_over_budget_ = false;
  bool has_coding_ = false, has_foreign_coding_ = false;
  bool expects_continue_ = false;
  bool is_http_1_0_ = false;
};

}  // namespace vagt::net
