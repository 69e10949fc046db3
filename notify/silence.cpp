#include "notify/silence.h"

#include <algorithm>

#include "notify/record.h"

namespace vagt::notify {
namespace {

Status check_silence(const Silence& silence) {
  if (silence.matcher_sets.empty()) {
    return Status::invalid("invalid silence: at least one matcher required");
  }
  for (const auto& set : silence.matcher_sets) {
    if (set.empty()) return Status::invalid("invalid silence: at least one matcher required");
    // A negative matcher counts as specific, whatever it matches: as the real one has it.
    const auto specific = [](const Matcher& m) {
      return m.op() == MatchOp::NotEqual || m.op() == MatchOp::NotRegex || !m.matches_empty();
    };
    if (std::none_of(set.begin(), set.end(), specific)) {
      return Status::invalid(
          "invalid silence: at least one matcher must not match the empty string");
    }
  }
  if (silence.ends_at < silence.starts_at) {
    return Status::invalid("invalid silence: end time must not be before start time");
  }
  return {};
}

bool can_update(const Silence& old, const Silence& wanted, Timestamp now) {
  if (old.matcher_sets != wanted.matcher_sets) return false;
  const auto seconds = [](Timestamp t) { return std::chrono::floor<std::chrono::seconds>(t); };
  switch (old.state(now)) {
    case SilenceState::Active:
      return seconds(old.starts_at) == seconds(wanted.starts_at) && wanted.ends_at >= now;
    case SilenceState::Pending:
      return wanted.starts_at >= now;
    case SilenceState::Expired:
      return false;
  }
  return false;
}

std::string equal_key(std::string_view name, std::string_view value) {
  return std::string(name).append("\xff").append(value);
}

}  // namespace

std::string_view silence_state_name(SilenceState state) {
  switch (state) {
    case SilenceState::Expired:
      return "expired";
    case SilenceState::Active:
      return "active";
    case SilenceState::Pending:
      return "pending";
  }
  return "unknown";
}

SilenceState Silence::state(Timestamp now) const {
  if (ends_at <= now) return SilenceState::Expired;
  return now < starts_at ? SilenceState::Pending : SilenceState::Active;
}

const Silence* SilenceStore::find(const std::string& id) const {
  const auto it = silences_.find(id);
  return it == silences_.end() ? nullptr : &it->second;
}

Result<SilenceStore::Change> SilenceStore::put(Silence silence, Timestamp now,
                                               const std::string& new_id) {
  const Silence* old = silence.id.empty() ? nullptr : find(silence.id);
  if (!silence.id.empty() && old == nullptr) return Status::not_found("silence not found");
  VAGT_CHECK_OK(check_silence(silence));
  silence.updated_at = now;
  const bool update = old != nullptr && can_update(*old, silence, now);
  if (!update) {
    if (limits_.max_silences > 0 && silences_.size() >= limits_.max_silences) {
      return Status(Code::LimitExceeded,
                    "exceeded maximum number of silences: " + std::to_string(silences_.size()) +
                        " (limit: " + std::to_string(limits_.max_silences) + ")");
    }
    silence.starts_at = std::max(silence.starts_at, now);
  }
  if (const size_t size = encode_silence(silence).size();
      limits_.max_size_bytes > 0 && size > limits_.max_size_bytes) {
    return Status(Code::LimitExceeded,
                  "silence exceeded maximum size: " + std::to_string(size) +
                      " bytes (limit: " + std::to_string(limits_.max_size_bytes) + " bytes)");
  }
  Change change;
  if (!update && old != nullptr && old->state(now) != SilenceState::Expired) {
    VAGT_TRY(change, expire(silence.id, now));
  }
  if (!update) silence.id = new_id;
  change.id = silence.id;
  change.changed.push_back(silence.id);
  restore(std::move(silence));
  return change;
}

Result<SilenceStore::Change> SilenceStore::expire(const std::string& id, Timestamp now) {
  const auto it = silences_.find(id);
  if (it == silences_.end()) return Status::not_found("silence not found");
  Silence& silence = it->second;
  if (silence.state(now) == SilenceState::Expired) return Change{id, {}};
  if (silence.state(now) == SilenceState::Pending) silence.starts_at = now;
  silence.ends_at = now;
  silence.updated_at = now;
  ++version_;
  return Change{id, {id}};
}

std::vector<Silence> SilenceStore::list(Timestamp now) const {
  std::vector<Silence> out;
  for (const auto& [id, silence] : silences_) out.push_back(silence);
  const auto rank = [&](const Silence& s) {
    switch (s.state(now)) {
      case SilenceState::Active:
        return std::pair(0, to_millis(s.ends_at));
      case SilenceState::Pending:
        return std::pair(1, to_millis(s.starts_at));
      case SilenceState::Expired:
        break;
    }
    return std::pair(2, -to_millis(s.ends_at));
  };
  std::stable_sort(out.begin(), out.end(),
                   [&](const Silence& a, const Silence& b) { return rank(a) < rank(b); });
  return out;
}

template <class Visit>
void SilenceStore::each_silencing(const Labels& labels, Timestamp now, Visit visit) const {
  const auto consider = [&](const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      const Silence& silence = silences_.at(entry.id);
      if (silence.state(now) != SilenceState::Active) continue;
      if (matches_all(silence.matcher_sets[entry.set], labels) && !visit(entry.id)) return false;
    }
    return true;
  };
  if (!by_equal_.empty()) {
    std::string key;
    for (const Label& label : labels.items()) {
      key.assign(label.name).append("\xff").append(label.value);
      const auto it = by_equal_.find(key);
      if (it != by_equal_.end() && !consider(it->second)) return;
    }
  }
  consider(unindexed_);
}

std::vector<std::string> SilenceStore::silencing(const Labels& labels, Timestamp now) const {
  std::vector<std::string> out;
  each_silencing(labels, now, [&](const std::string& id) {
    out.push_back(id);
    return true;
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool SilenceStore::is_silenced(const Labels& labels, Timestamp now) const {
  bool found = false;
  each_silencing(labels, now, [&](const std::string&) { return !(found = true); });
  return found;
}

void SilenceStore::restore(Silence silence) {
  ++version_;
  unindex(silence.id);
  Silence& kept = silences_[silence.id];
  kept = std::move(silence);
  index(kept);
}

void SilenceStore::index(const Silence& silence) {
  for (size_t set = 0; set < silence.matcher_sets.size(); ++set) {
    list_of(silence.matcher_sets[set]).push_back({silence.id, set});
  }
}

// Only the lists that the silence as it was is in: a store of thousands is filled one by one.
void SilenceStore::unindex(const std::string& id) {
  const Silence* silence = find(id);
  if (silence == nullptr) return;
  for (const auto& set : silence->matcher_sets) {
    std::erase_if(list_of(set), [&](const Entry& e) { return e.id == id; });
  }
}

std::vector<SilenceStore::Entry>& SilenceStore::list_of(const std::vector<Matcher>& matchers) {
  const auto equal = std::find_if(matchers.begin(), matchers.end(), [](const Matcher& m) {
    return m.op() == MatchOp::Equal && !m.value().empty();
  });
  return equal == matchers.end() ? unindexed_ : by_equal_[equal_key(equal->name(), equal->value())];
}

std::vector<std::string> SilenceStore::collect_garbage(Timestamp now) {
  std::vector<std::string> removed;
  for (const auto& [id, silence] : silences_) {
    if (silence.ends_at + retention_ <= now) removed.push_back(id);
  }
  for (const std::string& id : removed) {
    ++version_;
    unindex(id);
    silences_.erase(id);
  }
  return removed;
}

std::string encode_silence(const Silence& silence) {
  RecordWriter w;
  w.text(silence.id).number(silence.matcher_sets.size());
  for (const auto& set : silence.matcher_sets) {
    w.number(set.size());
    for (const Matcher& m : set) {
      w.number(static_cast<uint64_t>(m.op())).text(m.name()).text(m.value());
    }
  }
  w.time(silence.starts_at).time(silence.ends_at).time(silence.updated_at);
  w.text(silence.created_by).text(silence.comment).map(silence.annotations);
  return w.take();
}

Result<Silence> decode_silence(std::string_view text) {
  RecordReader r(text);
  Silence silence;
  silence.id = r.text();
  for (size_t sets = r.count(); sets > 0; --sets) {
    auto& set = silence.matcher_sets.emplace_back();
    for (size_t n = r.count(); n > 0; --n) {
      const uint64_t op = r.number();
      std::string name = r.text(), value = r.text();
      if (op > static_cast<uint64_t>(MatchOp::NotRegex))
        return Status(Code::Corruption, "matcher type");
      VAGT_TRY(Matcher m,
               Matcher::make(static_cast<MatchOp>(op), std::move(name), std::move(value)));
      set.push_back(std::move(m));
    }
  }
  silence.starts_at = r.time();
  silence.ends_at = r.time();
  silence.updated_at = r.time();
  silence.created_by = r.text();
  silence.comment = r.text();
  silence.annotations = r.map();
  VAGT_CHECK_OK(r.status());
  return silence;
}

}  // namespace vagt::notify
