// Keeps one kind of objects as the API server has them: list, watch, resume. Pure: it makes
// requests and takes answers; who sends them and when is its owner's affair.
#pragma once

#include <chrono>
#include <string>

#include "scrape/discovery/kubernetes_discovery.h"
#include "scrape/discovery/kubernetes_targets.h"

namespace vagt::scrape::kubernetes {

struct Selection {
  Resource resource = Resource::Pods;
  std::string name_space;  // "": all
  std::string label, field;
};

class Reflector {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  struct Changes {
    size_t added = 0, modified = 0, deleted = 0;
  };

  // `store` outlives it; of it, the reflector owns the objects of its namespace.
  Reflector(Selection selection, const KubernetesDiscoveryOptions& options, Store& store)
      : selection_(std::move(selection)), options_(options), store_(store) {}

  // What to ask next: "/api/v1/pods?…".
  std::string path() const;
  bool is_watching() const { return !version_.empty(); }  // what path() asks for is a watch
  Steady ask_at() const { return ask_at_; }
  bool is_synced() const { return is_synced_; }  // listed at least once
  const Status& status() const { return status_; }
  Resource resource() const { return selection_.resource; }

  // The answer's header is there and good.
  void connected() { status_ = {}; }
  // A piece of a watch. False: it makes no sense, the watch is to be dropped.
  bool take_piece(std::string_view piece, Steady now, Changes& changes);
  // The end of a list page or of a watch.
  void take_answer(const Result<net::HttpResponse>& answer, Steady asked, Steady now,
                   Changes& changes);

 private:
  Status take_line(std::string_view line, Changes& changes);
  Status take_page(std::string_view body, Changes& changes);
  void replace(Changes& changes);
  void start_over();
  void fail(Status status, Steady now);

  const Selection selection_;
  const KubernetesDiscoveryOptions& options_;
  Store& store_;
  std::string version_;                 // resourceVersion to watch from; "": list
  std::string next_, pending_version_;  // of a list in pages
  std::vector<ObjectPtr> pending_;
  std::string line_;           // of the watch, not complete yet
  bool has_events_ = false;    // the watch under way brought some
  bool may_be_short_ = false;  // it is the first one after a list
  bool is_synced_ = false;
  Status status_;
  Duration backoff_{0};
  Steady ask_at_{};
};

}  // namespace vagt::scrape::kubernetes
