#include "node-agent/containers/docker.h"

#include <boost/json.hpp>

#include <charconv>
#include <ctime>

#include "node-agent/sources.h"

namespace vagt::agent {
namespace {

namespace json = boost::json;

const json::value* at(const json::value* from, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path) {
    if (from == nullptr || !from->is_object()) return nullptr;
    from = from->get_object().if_contains(key);
  }
  return from;
}

std::string text(const json::value* value) {
  return value != nullptr && value->is_string() ? std::string(value->get_string().c_str())
                                                : std::string();
}

std::optional<double> number(const json::value* value) {
  if (value != nullptr && value->is_int64()) return static_cast<double>(value->get_int64());
  if (value != nullptr && value->is_uint64()) return static_cast<double>(value->get_uint64());
  return std::nullopt;
}

std::optional<bool> flag(const json::value* value) {
  return value != nullptr && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
}

// `2026-11-19T01:59:30.5Z`, or with an offset. nullopt too for Go's zero time, of the year 1.
std::optional<double> parse_time(std::string_view text) {
  if (text.size() < 20) return std::nullopt;
  const auto part = [&](size_t from, size_t size) {
    int value = -1;
    std::from_chars(text.data() + from, text.data() + from + size, value);
    return value;
  };
  tm time{};
  time.tm_year = part(0, 4) - 1900;
  time.tm_mon = part(5, 2) - 1;
  time.tm_mday = part(8, 2);
  time.tm_hour = part(11, 2);
  time.tm_min = part(14, 2);
  time.tm_sec = part(17, 2);
  if (time.tm_year < 70 || time.tm_mon < 0 || time.tm_mday < 1) return std::nullopt;
  double fraction = 0;
  size_t end = 19;
  if (text[end] == '.') {
    end = std::min(text.find_first_not_of("0123456789", end + 1), text.size());
    fraction = to_number("0" + std::string(text.substr(19, end - 19))).value_or(0);
  }
  double offset = 0;
  if (end + 6 <= text.size() && (text[end] == '+' || text[end] == '-'))
    offset = (part(end + 1, 2) * 60 + part(end + 4, 2)) * (text[end] == '-' ? -60.0 : 60.0);
  return static_cast<double>(timegm(&time)) + fraction - offset;
}

void write_container(MetricSink& sink, const json::value& container, std::string_view runtime) {
  std::string name = text(at(&container, {"Name"}));
  if (!name.empty() && name[0] == '/') name.erase(0, 1);
  const std::string id = text(at(&container, {"Id"}));
  if (name.empty() || id.empty()) return;
  std::string image = text(at(&container, {"Config", "Image"}));
  if (image.empty()) image = text(at(&container, {"ImageName"}));  // Podman
  const json::value* state = at(&container, {"State"});
  const std::string status = text(at(state, {"Status"}));
  if (const auto started = parse_time(text(at(state, {"StartedAt"}))))
    sink.gauge("container_start_time_seconds",
               "Start time of the container since unix epoch in seconds.")
        .add({{"id", id}, {"image", image}, {"name", name}}, *started);
  if (const auto restarts = number(at(&container, {"RestartCount"})))
    sink.counter("vagt_container_restarts_total", "Restarts of the container by its policy.")
        .add({{"image", image}, {"name", name}, {"runtime", runtime}}, *restarts);
  if (!status.empty())
    sink.gauge("vagt_container_state", "State of the container; the value is 1.")
        .add({{"image", image}, {"name", name}, {"runtime", runtime}, {"state", status}}, 1);
  // While it runs, the code is that of nothing.
  const auto exit_code = number(at(state, {"ExitCode"}));
  if (exit_code && status != "running" && status != "paused" && status != "created")
    sink.gauge("vagt_container_exit_code", "Exit code of the container's last run.")
        .add({{"name", name}}, *exit_code);
  if (const auto killed = flag(at(state, {"OOMKilled"})))
    sink.gauge("vagt_container_oom_killed", "1: the kernel killed it for want of memory.")
        .add({{"name", name}}, *killed ? 1 : 0);
  const std::string health = text(at(state, {"Health", "Status"}));
  if (health == "healthy" || health == "unhealthy")
    sink.gauge("vagt_container_health", "Its health check: 1 healthy, 0 unhealthy.")
        .add({{"name", name}}, health == "healthy" ? 1 : 0);
}

Result<json::value> parse(std::string_view input) {
  json::error_code error;
  json::value value = json::parse(input, error);
  if (error) return Status::invalid("not JSON: " + error.message());
  return value;
}

}  // namespace

Result<std::vector<std::string>> parse_container_list(std::string_view input) {
  VAGT_TRY(const json::value root, parse(input));
  if (!root.is_array()) return Status::invalid("not a list of containers");
  std::vector<std::string> ids;
  for (const json::value& entry : root.get_array())
    if (std::string id = text(at(&entry, {"Id"})); !id.empty()) ids.push_back(std::move(id));
  return ids;
}

Status write_containers(MetricSink& sink, std::string_view input, std::string_view runtime) {
  VAGT_TRY(const json::value root, parse(input));
  if (root.is_object()) {
    write_container(sink, root, runtime);
  } else if (root.is_array()) {
    for (const json::value& container : root.get_array()) write_container(sink, container, runtime);
  } else {
    return Status::invalid("no container");
  }
  return {};
}

}  // namespace vagt::agent
