// The fixture of the store suite: a store by name, and reading it into plain maps.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/manual_clock.h"
#include "tests/support/status_matchers.h"
#include "tsdb/store.h"

namespace vagt::tsdb {

struct PlainPoint {
  int64_t t;
  double v;
  friend bool operator==(const PlainPoint& a, const PlainPoint& b) {
    return a.t == b.t && std::bit_cast<uint64_t>(a.v) == std::bit_cast<uint64_t>(b.v);
  }
  friend std::ostream& operator<<(std::ostream& out, const PlainPoint& p) {
    return out << p.v << "@" << p.t;
  }
};
using Points = std::vector<PlainPoint>;
using Contents = std::map<Labels, Points>;

inline void PrintTo(const Contents& contents, std::ostream* out) {
  for (const auto& [labels, points] : contents) {
    *out << labels.to_string() << ":";
    for (const auto& point : points) *out << " " << point;
    *out << "; ";
  }
}

// Everything a querier gives, by series. Fails the test when the cursor reports an error.
inline Contents read(Querier& querier, std::span<const Matcher> matchers = {},
                     SelectHints hints = {from_millis(INT64_MIN), from_millis(INT64_MAX), ""}) {
  Contents contents;
  auto cursor = querier.select(matchers, hints);
  while (cursor->next()) {
    SampleColumns columns;
    while (cursor->read(columns, 1000)) {
    }
    Points& points = contents[cursor->labels()];
    for (size_t i = 0; i < columns.size(); ++i)
      points.push_back({to_millis(columns.t[i]), columns.v[i]});
  }
  EXPECT_THAT(cursor->status(), test::IsOk());
  return contents;
}

inline Contents read_store(Store& store, int64_t mint = INT64_MIN, int64_t maxt = INT64_MAX) {
  auto querier = store.querier(from_millis(mint), from_millis(maxt));
  return read(*querier);
}

// Appends and commits one batch; every sample must be accepted.
inline void put_into(Store& store, const Labels& labels, const Points& points) {
  auto appender = store.appender();
  const auto ref = appender->series(labels);
  ASSERT_THAT(ref, test::IsOk());
  for (const auto& point : points)
    ASSERT_EQ(appender->append(*ref, {from_millis(point.t), point.v}), Code::Ok) << point;
  ASSERT_THAT(appender->commit(), test::IsOk());
}

struct StoreSettings {
  Duration out_of_order_window{};
  Duration retention{};
  size_t max_series = SIZE_MAX;
};

// One implementation behind the suite.
class StoreUnderTest {
 public:
  virtual ~StoreUnderTest() = default;
  virtual Store& store() = 0;
  virtual void maintain() = 0;  // what the background thread would do, now
  virtual void erase(std::span<const Matcher> matchers, Timestamp mint, Timestamp maxt) = 0;
};

std::vector<std::string> store_kinds();
std::unique_ptr<StoreUnderTest> make_store(const std::string& kind, const StoreSettings& settings);

class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { reopen_with({}); }
  // A fresh, empty store.
  void reopen_with(const StoreSettings& settings) {
    subject_.reset();
    subject_ = make_store(GetParam(), settings);
  }
  Store& store() { return subject_->store(); }
  void maintain() { subject_->maintain(); }
  void put(const Labels& labels, const Points& points) { put_into(store(), labels, points); }
  Code try_append(const Labels& labels, int64_t t, double v) {
    auto appender = store().appender();
    const Code code = appender->append(*appender->series(labels), {from_millis(t), v});
    EXPECT_THAT(appender->commit(), test::IsOk());
    return code;
  }
  Contents read_all() { return read_store(store()); }
  Contents read(int64_t mint, int64_t maxt) { return read_store(store(), mint, maxt); }
  Contents read(Querier& querier, std::span<const Matcher> matchers = {},
                SelectHints hints = {from_millis(INT64_MIN), from_millis(INT64_MAX), ""}) {
    return tsdb::read(querier, matchers, hints);
  }
  void delete_series(std::vector<Matcher> matchers, int64_t mint, int64_t maxt) {
    subject_->erase(matchers, from_millis(mint), from_millis(maxt));
  }

 private:
  std::unique_ptr<StoreUnderTest> subject_;
};

}  // namespace vagt::tsdb
