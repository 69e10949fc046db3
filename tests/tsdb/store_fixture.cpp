#include "tests/tsdb/store_fixture.h"

#include "tests/tsdb/temp_dir.h"
#include "tsdb/memory_store.h"
#include "tsdb/rocks_store.h"

namespace vagt::tsdb {
namespace {

class MemorySubject final : public StoreUnderTest {
 public:
  explicit MemorySubject(const StoreSettings& settings)
      : store_(MemoryStoreOptions{settings.out_of_order_window, settings.retention,
                                  settings.max_series, nullptr}) {}
  Store& store() override { return store_; }
  void maintain() override {}
  void erase(std::span<const Matcher> matchers, Timestamp mint, Timestamp maxt) override {
    store_.delete_series(matchers, mint, maxt);
  }

 private:
  MemoryStore store_;
};

class RocksSubject final : public StoreUnderTest {
 public:
  RocksSubject(const StoreSettings& settings, bool flushing) : flushing_(flushing) {
    RocksStoreOptions options;
    options.path = dir_.path();
    options.retention.time = settings.retention;
    options.out_of_order_window = settings.out_of_order_window;
    options.max_series = settings.max_series;
    options.background = false;
    options.clock = &clock_;
    auto opened = RocksStore::open(options);
    EXPECT_THAT(opened, test::IsOk());
    store_ = std::move(*opened);
  }
  Store& store() override { return *store_; }
  void maintain() override {
    EXPECT_THAT(store_->step(clock_.now()), test::IsOk());
    if (flushing_) {
      EXPECT_THAT(store_->flush(), test::IsOk());
    }
  }
  void erase(std::span<const Matcher> matchers, Timestamp mint, Timestamp maxt) override {
    if (flushing_) {
      EXPECT_THAT(store_->flush(), test::IsOk());
    }
    EXPECT_THAT(store_->delete_series(matchers, mint, maxt), test::IsOk());
  }

 private:
  const bool flushing_;
  const TempDir dir_;
  test::ManualClock clock_;
  std::unique_ptr<RocksStore> store_;
};

}  // namespace

std::vector<std::string> store_kinds() { return {"memory", "rocks", "rocks_flushing"}; }

std::unique_ptr<StoreUnderTest> make_store(const std::string& kind, const StoreSettings& settings) {
  if (kind == "memory") return std::make_unique<MemorySubject>(settings);
  return std::make_unique<RocksSubject>(settings, kind == "rocks_flushing");
}

}  // namespace vagt::tsdb
