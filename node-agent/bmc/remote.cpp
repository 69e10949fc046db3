#include "node-agent/bmc/remote.h"

#include <fmt/core.h>

#include <atomic>

#include "node-agent/page.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxBmcs = 256;
constexpr Duration kNotBelow = std::chrono::seconds(30);  // weak BMCs leak when asked more often

bool is_host(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:%";
  return !text.empty() && text.size() <= 253 && text[0] != '-' &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

Status set_number(std::string_view value, std::optional<double>& out) {
  out = to_number(value);
  return out && *out >= 0 ? Status() : Status::invalid("not a number: " + std::string(value));
}

Status set_field(BmcModule& out, std::string_view key, std::string_view value) {
  if (key == "user") return out.user = value, Status();
  if (key == "password_file") return out.password_file = value, Status();
  if (key == "psus_expected") return set_number(value, out.psus_expected);
  if (key == "psus_required") return set_number(value, out.psus_required);
  if (key == "interface") {
    out.interface = value;
    if (value == "lanplus" || value == "lan") return {};
    return Status::invalid("interface: lanplus or lan, not " + out.interface);
  }
  if (key == "privilege") {
    out.privilege = value;
    for (char& c : out.privilege)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (out.privilege == "USER" || out.privilege == "OPERATOR" || out.privilege == "ADMINISTRATOR")
      return {};
    return Status::invalid("privilege: user, operator or administrator, not " + std::string(value));
  }
  if (key == "cipher_suite") {
    out.cipher_suite = to_uint(value);
    if (out.cipher_suite && *out.cipher_suite <= 17) return {};
    return Status::invalid("cipher_suite: 0 to 17, not " + std::string(value));
  }
  return Status::invalid("no such field: " + std::string(key));
}

}  // namespace

Result<std::map<std::string, BmcModule>> load_bmc_modules(const std::string& path) {
  std::string text;
  VAGT_CHECK_OK(read_file(path, text));
  std::map<std::string, BmcModule> modules;
  BmcModule* module = nullptr;
  std::string_view rest = text, line;
  for (int number = 1; next_line(rest, line); ++number) {
    const std::string where = fmt::format("{}:{}", path, number);
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[' && line.back() == ']' && line.size() > 2) {
      const auto [found, is_new] =
          modules.try_emplace(std::string(trim(line.substr(1, line.size() - 2))));
      if (!is_new) return Status::invalid("a second time: " + found->first).at(where);
      module = &found->second;
      continue;
    }
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos || module == nullptr)
      return Status::invalid("neither [MODULE] nor, below one, FIELD = VALUE").at(where);
    VAGT_CHECK_OK(
        set_field(*module, trim(line.substr(0, equals)), trim(line.substr(equals + 1))).at(where));
  }
  if (modules.empty()) return Status::invalid("no [MODULE]").at(path);
  return modules;
}

Result<std::vector<std::string>> bmc_arguments(std::string_view target, const BmcModule& module) {
  std::string_view host = target, port;
  if (!host.empty() && host[0] == '[') {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return Status::invalid("target: [ without ]");
    const std::string_view rest = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (!rest.empty()) port = rest[0] == ':' ? rest.substr(1) : "?";
  } else if (const size_t colon = host.find(':');
             colon != std::string_view::npos && colon == host.rfind(':')) {
    port = host.substr(colon + 1);
    host = host.substr(0, colon);
  }
  const auto number = port.empty() ? std::optional<uint64_t>(623) : to_uint(port);
  if (!is_host(host) || !number || *number == 0 || *number > 65535)
    return Status::invalid("target: not HOST, HOST:PORT or [IPv6]:PORT");
  std::vector<std::string> arguments = {"-I", module.interface,        "-H", std::string(host),
                                        "-p", std::to_string(*number), "-L", module.privilege};
  if (!module.user.empty()) arguments.insert(arguments.end(), {"-U", module.user});
  if (!module.password_file.empty())
    arguments.insert(arguments.end(), {"-f", module.password_file});
  if (module.cipher_suite)
    arguments.insert(arguments.end(), {"-C", std::to_string(*module.cipher_suite)});
  return arguments;
}

// Its collector keeps what was seen before: fans that once turned, records already counted.
struct RemoteBmcs::Bmc {
  CollectorPtr collector;
  std::atomic<bool> busy{false};
  Timestamp read_at{};                        // written by whoever set busy
  std::shared_ptr<const MetricSink> samples;  // as above
};

RemoteBmcs::RemoteBmcs(std::map<std::string, BmcModule> modules, const Sources& sources)
    : modules_(std::move(modules)), sources_(sources), pool_({"bmc", 4, 64, 0}) {
  sources_.once = true;  // the state directory is that of our own BMC
  sources_.fixtures.ipmi.clear();
}

RemoteBmcs::~RemoteBmcs() { stop_.request_stop(); }

Result<std::shared_ptr<RemoteBmcs::Bmc>> RemoteBmcs::find(const std::string& target,
                                                          const std::string& module) {
  const auto known = bmcs_.find({target, module});
  if (known != bmcs_.end()) return known->second;
  const auto settings = modules_.find(module);
  if (settings == modules_.end()) return Status::not_found("no such module: " + module);
  Filters filters;
  VAGT_TRY(filters.ipmi_arguments, bmc_arguments(target, settings->second));
  filters.psus_expected = settings->second.psus_expected;
  filters.psus_required = settings->second.psus_required;
  if (bmcs_.size() >= kMaxBmcs)
    return Status(Code::LimitExceeded, fmt::format("more than {} BMCs", kMaxBmcs));
  auto bmc = std::make_shared<Bmc>();
  bmc->collector = make_ipmi(sources_, filters);
  bmcs_[{target, module}] = bmc;
  return bmc;
}

void RemoteBmcs::read(Bmc& bmc) {
  if (bmc.samples != nullptr && sources_.clock->now() - bmc.read_at < kNotBelow) return;
  auto sink = std::make_shared<MetricSink>();
  bmc.collector->collect(*sink, stop_.get_token())
      .ignore("ipmi_up says which part of it did not answer");
  bmc.samples = std::move(sink);
  bmc.read_at = sources_.clock->now();
}

void RemoteBmcs::ask(const std::string& target, const std::string& module, bool open_metrics,
                     Done done) {
  std::shared_ptr<Bmc> bmc;
  {
    base::MutexLock lock(mutex_);
    auto found = find(target, module);
    if (!found) return done(std::move(found).error());
    bmc = std::move(found).value();
  }
  if (bmc->busy.exchange(true))
    return done(Status(Code::Unavailable, "this BMC is still being asked"));
  const bool taken = pool_.submit([this, bmc, open_metrics, done] {
    read(*bmc);
    std::string page = render_page({bmc->samples}, open_metrics, 16384);
    bmc->busy = false;
    done(std::move(page));
  });
  if (taken) return;
  bmc->busy = false;
  done(Status(Code::Unavailable, "too many BMCs are being asked"));
}

}  // namespace vagt::agent
