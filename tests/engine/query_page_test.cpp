// What the source link of an alert shows.
#include "engine/query_page.h"

#include <gmock/gmock.h>

#include <future>

#include "tests/support/manual_clock.h"
#include "tsdb/memory_store.h"

namespace vagt::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class QueryPageTest : public ::testing::Test {
 protected:
  QueryPageTest() {
    auto appender = store_.appender();
    const auto series = appender->series(*Labels::make({{"__name__", "up"}, {"job", "<gpu>"}}));
    for (int i = 0; i < 60; ++i)
      EXPECT_EQ(appender->append(*series, {now_ - std::chrono::minutes(59 - i), i % 7 * 1.0}),
                Code::Ok);
    EXPECT_TRUE(appender->commit().ok());
    add_query_page(router_, context_);
  }

  net::ServerResponse get(std::vector<std::pair<std::string, std::string>> params) {
    auto request = std::make_shared<net::ServerRequest>();
    request->method = "GET";
    request->path = "/graph";
    request->params = std::move(params);
    std::promise<net::ServerResponse> answered;
    router_.handle(request, [&](net::ServerResponse r) { answered.set_value(std::move(r)); });
    return answered.get_future().get();
  }

  const Timestamp now_ = from_millis(1'700'000'000'000);
  test::ManualClock clock_{now_};
  tsdb::MemoryStore store_;
  const api::QueryContext context_{store_, clock_, {}, [] { return query::EvalOptions(); }};
  base::WorkerPool control_{{.name = "control", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool query_{{.name = "query", .threads = 1, .max_queue = 8, .nice = 0}};
  base::WorkerPool reload_{{.name = "reload", .threads = 1, .max_queue = 8, .nice = 0}};
  api::Router router_{control_, query_, reload_};
};

TEST_F(QueryPageTest, ShowsTheValueAndItsHistory) {
  const net::ServerResponse page = get({{"g0.expr", "up"}, {"g0.tab", "1"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body,
              AllOf(HasSubstr("up{job=&#34;&lt;gpu&gt;&#34;}"), HasSubstr("<td class=l>3</td>"),
                    HasSubstr("values from 0 to 6"), HasSubstr("<polyline")));
}

TEST_F(QueryPageTest, SaysThatNothingHolds) {
  const net::ServerResponse page = get({{"g0.expr", "up > 10"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("the expression holds for nothing"));
}

TEST_F(QueryPageTest, NamesTheFault) {
  const net::ServerResponse page = get({{"g0.expr", "up{<script>"}});
  EXPECT_EQ(page.status, 400);
  EXPECT_THAT(page.body, AllOf(HasSubstr("The query failed:"), HasSubstr("1:4: parse error"),
                               Not(HasSubstr("<script>"))));
  EXPECT_EQ(get({{"g0.expr", "up"}, {"g0.range_input", "soon"}}).status, 400);
}

TEST_F(QueryPageTest, AnEmptyPageAsks) {
  const net::ServerResponse page = get({});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("<textarea name=\"g0.expr\""), Not(HasSubstr("Now"))));
}

}  // namespace
}  // namespace vagt::engine
