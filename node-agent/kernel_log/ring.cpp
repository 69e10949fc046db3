#include "node-agent/kernel_log/ring.h"

#include "base/json_writer.h"
#include "node-agent/kernel_log/record.h"

namespace vagt::agent {

void KernelLogRing::add(uint64_t sequence, Timestamp at, int priority, std::string_view text) {
  std::string clean = clean_message(text);
  base::MutexLock lock(mutex_);
  lines_.push_back({sequence, at, priority, std::move(clean)});
  if (lines_.size() > kLines) lines_.pop_front();
}

std::string KernelLogRing::json_after(uint64_t after) const {
  std::string out;
  base::JsonWriter json(out);
  base::MutexLock lock(mutex_);
  const uint64_t next = lines_.empty() ? after : std::max(after, lines_.back().sequence);
  json.begin_object().key("status").string("success").key("data").begin_object();
  json.key("next").integer(static_cast<int64_t>(next)).key("lines").begin_array();
  for (const Line& line : lines_) {
    if (line.sequence <= after) continue;
    json.begin_object().key("seq").integer(static_cast<int64_t>(line.sequence));
    json.key("time").number(to_seconds(line.at)).key("priority").integer(line.priority);
    json.key("message").string(line.text).end_object();
  }
  json.end_array().end_object().end_object();
  return out;
}

uint64_t KernelLogRing::last_sequence() const {
  base::MutexLock lock(mutex_);
  return lines_.empty() ? 0 : lines_.back().sequence;
}

}  // namespace vagt::agent
