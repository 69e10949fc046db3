#include "rules/state_store.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

namespace vagt::rules {
namespace {

constexpr uint8_t kVersion = 1;
constexpr std::string_view kAlertPrefix = "rules/a/", kGroupPrefix = "rules/g/";
constexpr int64_t kNoTime = INT64_MIN;

// -- little-endian records
// ---------------------------------------------------------------------------------------------

void put_u64(std::string& out, uint64_t v) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(v >> (8 * i) & 0xff));
}
void put_text(std::string& out, std::string_view text) {
  put_u64(out, text.size());
  out += text;
}
void put_time(std::string& out, std::optional<Timestamp> t) {
  put_u64(out, static_cast<uint64_t>(t ? to_millis(*t) : kNoTime));
}

class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : rest_(bytes) {}
  uint64_t u64() {
    if (rest_.size() < 8) return fail(), 0;
    uint64_t v = 0;
    for (int i = 7; i >= 0; --i)
      v = v << 8 | static_cast<unsigned char>(rest_[static_cast<size_t>(i)]);
    rest_.remove_prefix(8);
    return v;
  }
  uint8_t byte() {
    if (rest_.empty()) return fail(), uint8_t{0};
    const auto v = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return v;
  }
  std::string text() {
    const uint64_t size = u64();
    if (size > rest_.size()) return fail(), std::string();
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  std::optional<Timestamp> time() {
    const auto ms = static_cast<int64_t>(u64());
    if (ms == kNoTime) return std::nullopt;
    return from_millis(ms);
  }
  void fail() { good_ = false, rest_ = {}; }
  bool good() const { return good_ && rest_.empty(); }
  bool so_far() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

std::string hex(uint64_t v) { return fmt::format("{:016x}", v); }

}  // namespace

std::string encode_alert(const TrackedAlert& a) {
  std::string out;
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>(a.state));
  put_u64(out, std::bit_cast<uint64_t>(a.value));
  put_time(out, a.active_at);
  put_time(out, a.fired_at);
  put_time(out, a.resolved_at);
  put_time(out, a.keep_firing_since);
  put_time(out, a.last_sent_at);
  put_time(out, a.valid_until);
  put_u64(out, a.labels.size());
  for (const Label& label : a.labels.items()) put_text(out, label.name), put_text(out, label.value);
  put_u64(out, a.annotations ? a.annotations->size() : 0);
  if (a.annotations) {
    for (const auto& [name, value] : *a.annotations) put_text(out, name), put_text(out, value);
  }
  return out;
}

Result<TrackedAlert> decode_alert(std::string_view record) {
  const Status corrupt(Code::Corruption, "alert record is damaged or of a later version");
  RecordReader in(record);
  if (in.byte() != kVersion) return corrupt;
  TrackedAlert a;
  const uint8_t state = in.byte();
  if (state > static_cast<uint8_t>(AlertState::Firing)) return corrupt;
  a.state = static_cast<AlertState>(state);
  a.value = std::bit_cast<double>(in.u64());
  a.active_at = in.time().value_or(Timestamp{});
  a.fired_at = in.time();
  a.resolved_at = in.time();
  a.keep_firing_since = in.time();
  a.last_sent_at = in.time();
  a.valid_until = in.time().value_or(Timestamp{});
  std::map<std::string, std::string> labels;
  for (uint64_t n = in.u64(); n > 0 && in.so_far(); --n) {
    std::string name = in.text();
    labels[std::move(name)] = in.text();
  }
  auto annotations = std::make_shared<Annotations>();
  for (uint64_t n = in.u64(); n > 0 && in.so_far(); --n) {
    std::string name = in.text();
    (*annotations)[std::move(name)] = in.text();
  }
  if (!in.good()) return corrupt;
  a.labels = Labels::from_map(labels);
  a.annotations = std::move(annotations);
  a.change = TrackedAlert::Change::None;
  return a;
}

std::string rule_key(const Rule& rule, size_t occurrence) {
  std::map<std::string, std::string> parts = rule_labels(rule);
  // Names no label can have.
  parts
      ["\xff"
       "rule"] = rule_name(rule);
  parts
      ["\xff"
       "nth"] = std::to_string(occurrence);
  return hex(Labels::from_map(parts).fingerprint());
}

GroupState::GroupState(KvStore* kv, const std::string& file, const std::string& group)
    : kv_(kv), id_(hex(Labels::of({{"file", file}, {"group", group}}).fingerprint())) {}

std::string GroupState::alert_key(const std::string& rule, const Labels& labels) const {
  return fmt::format("{}{}/{}/{}", kAlertPrefix, id_, rule, hex(labels.fingerprint()));
}

Result<std::optional<Timestamp>> GroupState::last_evaluation() const {
  if (kv_ == nullptr) return std::optional<Timestamp>();
  VAGT_TRY(const std::optional<std::string> value, kv_->get(std::string(kGroupPrefix) + id_));
  if (!value) return std::optional<Timestamp>();
  RecordReader in(*value);
  const std::optional<Timestamp> t = in.time();
  if (!in.good()) return Status(Code::Corruption, "group record is damaged");
  return t;
}

Result<std::map<std::string, std::vector<TrackedAlert>>> GroupState::load() const {
  std::map<std::string, std::vector<TrackedAlert>> out;
  if (kv_ == nullptr) return out;
  const std::string prefix = fmt::format("{}{}/", kAlertPrefix, id_);
  Status bad;
  VAGT_CHECK_OK(kv_->scan(prefix, [&](std::string_view key, std::string_view value) {
    const std::string_view rest = key.substr(prefix.size());
    Result<TrackedAlert> alert = decode_alert(value);
    // One damaged record must not take the others along.
    if (alert) out[std::string(rest.substr(0, rest.find('/')))].push_back(std::move(*alert));
    return true;
  }));
  return out;
}

void GroupState::add_changes(const std::string& rule, AlertTracker& tracker) {
  for (const Labels& labels : tracker.take_dropped()) {
    if (kv_ == nullptr) continue;
    batch_.erase(alert_key(rule, labels));
    must_sync_ = true;
  }
  for (auto& [labels, alert] : tracker.alerts()) {
    if (alert.change == TrackedAlert::Change::None) continue;
    if (kv_ != nullptr) {
      must_sync_ = must_sync_ || alert.change == TrackedAlert::Change::State;
      batch_.put(alert_key(rule, labels), encode_alert(alert));
    }
    alert.change = TrackedAlert::Change::None;
  }
}

Status GroupState::flush(Timestamp evaluated_at) {
  if (kv_ == nullptr) return {};
  std::string time;
  put_time(time, evaluated_at);
  batch_.put(std::string(kGroupPrefix) + id_, std::move(time));
  const Status status = kv_->write(batch_, must_sync_ ? KvStore::Sync::Yes : KvStore::Sync::No);
  // On a full disk the changes wait for the next evaluation; with too many of them the oldest
  // states on disk must do.
  constexpr size_t kMaxWaiting = 200'000;
  if (!status.ok() && batch_.operations().size() < kMaxWaiting) return status;
  batch_.clear();
  must_sync_ = false;
  return status;
}

Status GroupState::erase_all() {
  if (kv_ == nullptr) return {};
  KvBatch batch;
  batch.erase(std::string(kGroupPrefix) + id_);
  VAGT_CHECK_OK(kv_->scan(fmt::format("{}{}/", kAlertPrefix, id_),
                          [&](std::string_view key, std::string_view) {
                            batch.erase(std::string(key));
                            return true;
                          }));
  return kv_->write(batch, KvStore::Sync::No);
}

}  // namespace vagt::rules
