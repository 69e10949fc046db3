// A page as it arrives, under the job's limit and under what all pages may hold together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "net/body_budget.h"

namespace vagt::scrape {

class PageBody {
 public:
  // Of each page, outside the budget: those of well-behaved targets get through beside a flood.
  static constexpr uint64_t kFreeBytes = 1u << 20;

  // `max_bytes`: of this page, as received.
  PageBody(std::shared_ptr<net::BodyBudget> budget, uint64_t max_bytes) : max_bytes_(max_bytes) {
    share_.emplace(std::move(budget), kFreeBytes);
  }

  // False: no more is wanted, what there was has been let go, and fault() says why. LimitExceeded:
  // of the page; Unavailable: of all pages together.
  bool take(std::string_view piece);
  const Status& fault() const { return fault_; }
  std::string& text() { return text_; }  // counted for as long as this lives

 private:
  bool refuse(Status fault);

  std::optional<net::BodyShare> share_;  // null once refused
  const uint64_t max_bytes_;
  std::string text_;
  Status fault_;
};

}  // namespace vagt::scrape
