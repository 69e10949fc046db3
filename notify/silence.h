// Silences: the store behind /api/v2/silences and the question whether an alert is silenced now.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/labels.h"
#include "base/matcher.h"
#include "base/status.h"
#include "base/time.h"

namespace vagt::notify {

enum class SilenceState : uint8_t { Expired, Active, Pending };
std::string_view silence_state_name(SilenceState state);

struct Silence {
  std::string id;
  std::vector<std::vector<Matcher>>
      matcher_sets;  // one of the sets must match; all of its matchers
  Timestamp starts_at{}, ends_at{}, updated_at{};
  std::string created_by, comment;
  std::map<std::string, std::string> annotations;

  SilenceState state(Timestamp now) const;
};

struct SilenceLimits {
  size_t max_silences = 0;    // --silences.max-silences, expired ones included; 0: no limit
  size_t max_size_bytes = 0;  // --silences.max-silence-size-bytes of one; 0: no limit
};

// Owned by the notify thread; no locks; others read copies. Changes are reported through `changed`,
// to be made durable.
class SilenceStore {
 public:
  // What a change wrote: the caller persists every id in `changed` (or removes it when gone).
  struct Change {
    std::string id;                    // the id the caller answers with
    std::vector<std::string> changed;  // records to write
  };

  SilenceStore(SilenceLimits limits, Duration retention) : limits_(limits), retention_(retention) {}

  // Creates, or updates the one with `silence.id`. InvalidArgument, NotFound, LimitExceeded.
  // `new_id` is used where a new record is needed.
  Result<Change> put(Silence silence, Timestamp now, const std::string& new_id);
  // Ends it now; one that is expired already stays as it is. NotFound.
  Result<Change> expire(const std::string& id, Timestamp now);
  const Silence* find(const std::string& id) const;
  // Active by end, pending by start, expired by end (latest first).
  std::vector<Silence> list(Timestamp now) const;
  const std::map<std::string, Silence>& all() const { return silences_; }

  // Ids of the active silences that match, in order of id.
  std::vector<std::string> silencing(const Labels& labels, Timestamp now) const;

  bool is_silenced(const Labels& labels, Timestamp now) const;

  // Removes what has been expired for longer than the retention; the removed ids.
  std::vector<std::string> collect_garbage(Timestamp now);
  void restore(Silence silence);
  uint64_t version() const { return version_; }

 private:
  struct Entry {
    std::string id;
    size_t set;
  };
  void index(const Silence& silence);
  void unindex(const std::string& id);
  std::vector<Entry>& list_of(const std::vector<Matcher>& matchers);  // of the index
  // Calls with the id of every active silence that matches, until one says stop.
  template <class Visit>
  void each_silencing(const Labels& labels, Timestamp now, Visit visit) const;
  const SilenceLimits limits_;
  const Duration retention_;
  std::map<std::string, Silence> silences_;
  // Matcher sets by their first equality matcher "name\xffvalue"; the rest have none.
  std::unordered_map<std::string, std::vector<Entry>> by_equal_;
  std::vector<Entry> unindexed_;
  uint64_t version_ = 0;
};

std::string encode_silence(const Silence& silence);
Result<Silence> decode_silence(std::string_view text);

}  // namespace vagt::notify
