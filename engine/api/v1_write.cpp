#include "engine/api/v1_write.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "engine/api/remote_write.h"
#include "engine/api/v1_envelope.h"
#include "exposition/parse.h"
#include "net/http_client.h"

namespace vagt::engine::api {
namespace {

void count(const WriteContext& context, const WriteOutcome& outcome) {
  context.samples_stored.add(static_cast<double>(outcome.stored));
  context.samples_refused.add(static_cast<double>(outcome.refused));
}

// Small bodies pass when large ones have spent the budget.
constexpr uint64_t kFreeBytes = 1u << 20;

Status budget_spent() {
  return {Code::Unavailable, "the inflated bodies of all requests together are too large"};
}
net::ServerResponse busy(const Status& why) {
  net::ServerResponse response = net::ServerResponse::text(503, why.message() + "\n");
  response.headers.emplace_back("Retry-After", "5");
  return response;
}

// How large a gzip body becomes shows at its end only: it is tried with a little of the budget,
// then with eight times as much.
Result<std::string> inflate(std::string_view body, std::string_view encoding, size_t most,
                            net::BodyShare& share) {
  for (size_t limit = std::min<size_t>(most, 4 * body.size() + kFreeBytes);;
       limit = std::min(most, 8 * limit)) {
    if (!share.grow_to(limit)) return budget_spent();
    auto inflated = net::decompress(body, encoding, limit);
    if (inflated.ok() || limit >= most || inflated.error().code() != Code::LimitExceeded)
      return inflated;
  }
}

net::ServerResponse remote_write(const WriteContext& context, const net::ServerRequest& request) {
  if (!context.remote_write)
    return net::ServerResponse::text(
        404, "remote write receiver needs to be enabled with --web.enable-remote-write-receiver\n");
  if (request.header("Content-Type").find("io.prometheus.write.v2") != std::string_view::npos)
    return net::ServerResponse::text(
        415, "remote write 2.0 is not spoken here; send prometheus.WriteRequest\n");
  net::BodyShare share(context.inflated, kFreeBytes);
  if (!share.grow_to(inflated_size(request.body, context.max_inflated_bytes)))
    return busy(budget_spent());
  const auto decoded = decode_write_request(request.body, context.max_inflated_bytes);
  if (!decoded.ok()) return net::ServerResponse::text(400, decoded.error().message() + "\n");
  const auto outcome = append_write_request(*decoded, context.store);
  if (!outcome.ok()) return net::ServerResponse::text(500, outcome.error().message() + "\n");
  count(context, *outcome);
  if (!outcome->first_refusal.ok())
    return net::ServerResponse::text(400, outcome->first_refusal.message() + "\n");
  return net::ServerResponse::text(204, "");
}

// One import: series of the page by their text, so that a repeated series is looked up once.
class Import {
 public:
  Import(tsdb::Store& store, exposition::Format format, std::stop_token stop)
      : store_(store),
        format_(format),
        stop_(std::move(stop)),
        appender_(store.import_appender()) {}

  // On an error the batches before it are stored; outcome() counts them only.
  Status run(std::string_view body) {
    Status status = read(body);
    outcome_.stored = committed_;
    return status;
  }
  const WriteOutcome& outcome() const { return outcome_; }

 private:
  // A batch this large is committed, so that memory follows the batch and not the import.
  static constexpr size_t kBatch = 100'000;

  Status read(std::string_view body) {
    exposition::Parser parser(body, format_);
    while (parser.next()) {
      const exposition::Entry& entry = parser.entry();
      if (entry.kind != exposition::EntryKind::Sample) continue;
      if (!entry.has_timestamp)
        return Status::invalid(fmt::format("a sample without time stamp: {}", entry.text));
      VAGT_CHECK_OK(append(entry));
    }
    VAGT_CHECK_OK(parser.status());
    return commit();
  }

  Status commit() {
    VAGT_CHECK_OK(appender_->commit());
    committed_ = outcome_.stored;
    return {};
  }

  Result<tsdb::SeriesRef> series(const exposition::Entry& entry) {
    if (const auto known = refs_.find(entry.text); known != refs_.end()) return known->second;
    Labels::Pairs pairs;
    const auto text = [](std::string_view raw, bool escapes) {
      std::string out;
      if (escapes) {
        exposition::unescape(raw, out);
      } else {
        out = raw;
      }
      return out;
    };
    pairs.emplace_back(kMetricName, text(entry.raw_name, entry.name_has_escapes));
    for (const exposition::RawLabel& label : entry.labels)
      pairs.emplace_back(text(label.raw_name, label.name_has_escapes),
                         text(label.raw_value, label.value_has_escapes));
    VAGT_TRY(const Labels labels, Labels::make(std::move(pairs)));
    VAGT_TRY(const tsdb::SeriesRef ref, appender_->series(labels));
    refs_.emplace(entry.text, ref);
    return ref;
  }

  Status append(const exposition::Entry& entry) {
    const Sample sample{from_millis(entry.timestamp_ms), entry.value};
    Code code = Code::NotFound;
    // A retired ref is asked for once more.
    for (int attempt = 0; attempt < 2 && code == Code::NotFound; ++attempt) {
      if (attempt > 0) refs_.erase(entry.text);
      VAGT_TRY(const tsdb::SeriesRef ref, series(entry));
      code = appender_->append(ref, sample);
    }
    if (code == Code::Ok) {
      ++outcome_.stored;
    } else {
      ++outcome_.refused;
      if (outcome_.first_refusal.ok())
        outcome_.first_refusal =
            Status(code, fmt::format("{}: {} {}", code_name(code), entry.text, entry.timestamp_ms));
    }
    if (++in_batch_ < kBatch) return {};
    in_batch_ = 0;
    VAGT_CHECK_OK(commit());
    // A long import must not hold up the end of the program.
    if (stop_.stop_requested()) return {Code::Unavailable, "the import was cut short"};
    appender_ = store_.import_appender();
    return {};
  }

  tsdb::Store& store_;
  const exposition::Format format_;
  const std::stop_token stop_;
  std::unique_ptr<tsdb::Appender> appender_;
  std::unordered_map<std::string_view, tsdb::SeriesRef> refs_;  // keys are views into the body
  WriteOutcome outcome_;
  size_t committed_ = 0;
  size_t in_batch_ = 0;
};

net::ServerResponse import_text(const WriteContext& context, const net::ServerRequest& request) {
  const std::string_view encoding = request.header("Content-Encoding");
  std::string inflated;
  std::string_view body = request.body;
  net::BodyShare share(context.inflated, kFreeBytes);
  if (!encoding.empty() && encoding != "identity") {
    auto result = inflate(request.body, encoding, context.max_inflated_bytes, share);
    if (!result.ok() && result.error().code() == Code::Unavailable) return busy(result.error());
    if (!result.ok()) return v1_error(V1Error::BadData, result.error().message());
    inflated = std::move(result).value();
    body = inflated;
  }
  // OpenMetrics counts its time stamps in seconds.
  const bool is_open_metrics =
      request.header("Content-Type").find("application/openmetrics-text") != std::string_view::npos;
  Import import(context.store,
                is_open_metrics ? exposition::Format::OpenMetrics : exposition::Format::Text,
                request.closed);
  const Status status = import.run(body);
  count(context, import.outcome());
  if (!status.ok())
    return v1_error(status.code() == Code::Unavailable ? V1Error::Unavailable : V1Error::BadData,
                    fmt::format("{}; {} samples before it are stored", status.message(),
                                import.outcome().stored));
  if (!import.outcome().first_refusal.ok())
    return v1_error(V1Error::BadData, fmt::format("{} samples stored, {} refused; the first: {}",
                                                  import.outcome().stored, import.outcome().refused,
                                                  import.outcome().first_refusal.message()));
  return net::ServerResponse::text(204, "");
}

}  // namespace

void add_write_routes(Router& router, const WriteContext& context) {
  router.add({"POST"}, "/api/v1/write", Lane::Query,
             [&context](const net::ServerRequest& request, const PathArgs&) {
               return remote_write(context, request);
             });
  router.add({"POST"}, "/api/v1/import/prometheus", Lane::Query,
             [&context](const net::ServerRequest& request, const PathArgs&) {
               return import_text(context, request);
             });
}

}  // namespace vagt::engine::api
