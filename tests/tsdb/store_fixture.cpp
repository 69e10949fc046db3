#include "tests/tsdb/store_fixture.h"

#include "tsdb/memory_store.h"

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

}  // namespace

std::vector<std::string> store_kinds() { return {"memory"}; }

std::unique_ptr<StoreUnderTest> make_store(const std::string& kind, const StoreSettings& settings) {
  (void)kind;
  return std::make_unique<MemorySubject>(settings);
}

}  // namespace vagt::tsdb
