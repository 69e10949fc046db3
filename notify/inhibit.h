// Inhibition: a firing source mutes targets that share its values of the `equal` labels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/matcher.h"
#include "notify/alert_record.h"

namespace vagt::notify {

struct InhibitRuleConfig {
  std::string name;
  std::vector<Matcher> source_matchers, target_matchers;
  std::vector<std::string> equal;
};

// Owned by the notify thread.
class Inhibitor {
 public:
  explicit Inhibitor(std::vector<InhibitRuleConfig> rules);
  // An alert as it is now, firing or resolved.
  void update(const AlertPtr& alert);
  // Drops the sources that have resolved.
  void collect_garbage(Timestamp now);
  // The fingerprint of an alert that mutes these labels now; nullopt: nothing does.
  std::optional<uint64_t> inhibited_by(const Labels& labels, Timestamp now) const;
  size_t rules() const { return rules_.size(); }
  // A copy for readers on other threads. The sources are shared; this one copies a rule's before it
  // changes them.
  Inhibitor share();

 private:
  // By the text of the equal labels' values: the sources that have them.
  using Sources = std::unordered_map<std::string, std::vector<AlertPtr>>;
  struct Rule {
    std::shared_ptr<const InhibitRuleConfig> config;
    std::shared_ptr<Sources> sources = std::make_shared<Sources>();
    bool shared = false;  // somebody else reads `sources`
    Sources& own();
  };
  static std::string equal_key(const InhibitRuleConfig& rule, const Labels& labels);
  std::vector<Rule> rules_;
};

}  // namespace vagt::notify
