// Durable small records: alert states, silences, the notification log. Implemented by tsdb, handed
// to rules and notify.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace vagt {

// Puts and deletes applied together, in order.
class KvBatch {
 public:
  struct Operation {
    std::string key;
    std::optional<std::string> value;  // nullopt: delete
  };
  void put(std::string key, std::string value) {
    ops_.push_back({std::move(key), std::move(value)});
  }
  void erase(std::string key) { ops_.push_back({std::move(key), std::nullopt}); }
  bool empty() const { return ops_.empty(); }
  const std::vector<Operation>& operations() const { return ops_; }
  void clear() { ops_.clear(); }

 private:
  std::vector<Operation> ops_;
};

class KvStore {
 public:
  enum class Sync : uint8_t { No, Yes };  // Yes: fsynced before the call returns
  virtual ~KvStore() = default;
  virtual Status write(const KvBatch& batch, Sync sync) = 0;  // all or nothing
  virtual Result<std::optional<std::string>> get(std::string_view key) const = 0;
  // Every record whose key begins with `prefix`, in key order. `visit` returns false to stop.
  virtual Status scan(
      std::string_view prefix,
      const std::function<bool(std::string_view key, std::string_view value)>& visit) const = 0;
};

}  // namespace vagt
