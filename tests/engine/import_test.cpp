// What an import answers when a later line is bad.
#include <gmock/gmock.h>

#include <future>

#include "engine/api/v1_write.h"
#include "net/compression.h"
#include "tsdb/memory_store.h"

namespace vagt::engine::api {
namespace {

using ::testing::HasSubstr;

class ImportTest : public ::testing::Test {
 protected:
  ImportTest() { add_write_routes(router_, context_); }
  net::ServerResponse import(std::string body, std::string content_type = "",
                             std::string encoding = "") {
    auto request = std::make_shared<net::ServerRequest>();
    request->method = "POST";
    request->path = "/api/v1/import/prometheus";
    request->body = std::move(body);
    if (!content_type.empty())
      request->headers.emplace_back("Content-Type", std::move(content_type));
    if (!encoding.empty()) request->headers.emplace_back("Content-Encoding", std::move(encoding));
    std::promise<net::ServerResponse> answered;
    router_.handle(request, [&](net::ServerResponse r) { answered.set_value(std::move(r)); });
    return answered.get_future().get();
  }
  static std::string lines(size_t from, size_t to) {
    std::string text;
    for (size_t i = from; i < to; ++i)
      text += "a " + std::to_string(i) + " " + std::to_string(1'700'000'000'000 + i) + "\n";
    return text;
  }
  size_t stored() {
    const auto querier = store_.querier(from_millis(0), from_millis(2'000'000'000'000));
    const Matcher matchers[] = {Matcher::equal("__name__", "a")};
    const auto cursor =
        querier->select(matchers, {from_millis(0), from_millis(2'000'000'000'000), ""});
    SampleColumns columns;
    while (cursor->next()) {
      while (cursor->read(columns, 10'000)) {
      }
    }
    return columns.size();
  }

  tsdb::MemoryStore store_;
  base::Registry registry_;
  const std::shared_ptr<net::BodyBudget> inflated_ = std::make_shared<net::BodyBudget>(64u << 20);
  const WriteContext context_{store_,
                              false,
                              1u << 30,
                              inflated_,
                              registry_.counter("stored", ""),
                              registry_.counter("refused", "")};
  base::WorkerPool control_{{.name = "control", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool query_{{.name = "query", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool reload_{{.name = "reload", .threads = 1, .max_queue = 8, .nice = 0}};
  Router router_{control_, query_, reload_};
};

TEST_F(ImportTest, SaysHowMuchIsStoredBeforeABadLine) {
  const net::ServerResponse refused = import(lines(0, 150'000) + "a one\n");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("line 150001"));
  EXPECT_THAT(refused.body, HasSubstr("; 100000 samples before it are stored"));
  EXPECT_EQ(stored(), 100'000u);
  EXPECT_EQ(context_.samples_stored.value(), 100'000);
}

TEST_F(ImportTest, NothingIsStoredBeforeAnEarlyBadLine) {
  const net::ServerResponse refused = import("a 1 1700000000000\na 2\n");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("without time stamp"));
  EXPECT_THAT(refused.body, HasSubstr("; 0 samples before it are stored"));
  EXPECT_EQ(stored(), 0u);
  EXPECT_EQ(import(lines(0, 10)).status, 204);
  EXPECT_EQ(stored(), 10u);
}

TEST_F(ImportTest, OpenMetricsCountsSeconds) {
  const std::string page = "# TYPE a gauge\na 5 1700000000.5\n# EOF\n";
  EXPECT_EQ(import(page, "application/openmetrics-text; version=1.0.0").status, 204);
  EXPECT_EQ(stored(), 1u);
  EXPECT_THAT(import(page).body, HasSubstr("line 2: expected next entry after timestamp"));
}

TEST_F(ImportTest, InflatedBodiesTogetherHaveALimit) {
  const std::string comments = "# " + std::string(100u << 20, 'x') + "\n";
  EXPECT_EQ(import(comments, "", "identity").status, 204);  // counted as it came, by the server
  const net::ServerResponse bomb = import(net::gzip(comments), "", "gzip");
  EXPECT_EQ(bomb.status, 503);
  EXPECT_THAT(bomb.body, HasSubstr("inflated bodies"));
  EXPECT_EQ(import(net::gzip(lines(0, 10)), "", "gzip").status, 204);  // all of it was given back
  EXPECT_EQ(stored(), 10u);
}

}  // namespace
}  // namespace vagt::engine::api
