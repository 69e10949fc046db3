// What is known of a metric: its type, the values it can have, and what makes it a poor witness.
// From the conventions of names and, for what GPU servers serve, from the exporters' documentation.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>

namespace vagt::rules {

struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  friend bool operator==(const Bounds&, const Bounds&) = default;
};

enum class MetricType : uint8_t {
  Unknown,
  Counter,
  Gauge,
  Timestamp,  // a gauge that holds an instant, in seconds since 1970
  LastValue,  // a gauge that holds the code of the last event
};

struct MetricNature {
  MetricType type = MetricType::Unknown;
  Bounds values{};
  // Known traps; each is a finding of that name.
  bool is_per_product = false;  // what is normal depends on the product: no one number fits
  bool is_noisy = false;        // a level that one scrape may miss: it swings within seconds
  bool is_reset_by_repair = false;
  bool is_off_by_default = false;  // its usual exporter does not export it unless told
  bool is_whole_request = false;   // a duration that grows with the length of the answer
  bool is_allocation = false;      // memory that is held whether or not work is done
  bool is_born_counting = false;   // series appear with their first event
};

class MetricCatalog {
 public:
  MetricCatalog() = default;
  // `types`: metric name → type as /api/v1/metadata names it; it wins over the names' conventions.
  explicit MetricCatalog(std::map<std::string, std::string, std::less<>> types)
      : types_(std::move(types)) {}
  MetricNature nature_of(std::string_view name) const;

 private:
  std::map<std::string, std::string, std::less<>> types_;
};

}  // namespace vagt::rules
