#include "engine/flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>

#include "base/arguments.h"
#include "base/number_text.h"
#include "base/version.h"
#include "base/yaml.h"
#include "net/url.h"

namespace vagt::engine {
namespace {

using Apply = std::function<Status(Flags&, const std::vector<std::string>&)>;

struct FlagSpec {
  std::string name;
  std::string fallback;  // shown by /status/flags when not given
  std::string help;
  bool boolean = false;
  bool effective = true;  // false: another program's flag that has no meaning here
  Apply apply;            // values as given; a boolean gets "true" or "false"
};

template <class T>
Apply into_text(T Flags::*member) {
  return [member](Flags& flags, const std::vector<std::string>& v) {
    flags.*member = v.back();
    return Status();
  };
}

Apply into_bool(bool Flags::*member) {
  return [member](Flags& flags, const std::vector<std::string>& v) {
    flags.*member = v.back() == "true";
    return Status();
  };
}

Apply into_int(int64_t Flags::*member) {
  return [member](Flags& flags, const std::vector<std::string>& v) {
    const auto n = parse_int(v.back());
    if (!n || *n < 0)
      return Status::invalid(fmt::format("\"{}\" is not a whole number of 0 or more", v.back()));
    flags.*member = *n;
    return Status();
  };
}

Apply into_duration(Duration Flags::*member) {
  return [member](Flags& flags, const std::vector<std::string>& v) {
    VAGT_TRY(flags.*member, parse_duration(v.back()));
    return Status();
  };
}

Status into_nothing(Flags&, const std::vector<std::string>&) { return {}; }

Status apply_retention_size(Flags& flags, const std::vector<std::string>& v) {
  VAGT_TRY(const base::YamlNode node, base::parse_yaml(v.back(), "--storage.tsdb.retention.size"));
  VAGT_TRY(flags.retention_size, node.as_bytes());
  return {};
}

Status apply_features(Flags& flags, const std::vector<std::string>& v) {
  for (const std::string& list : v) {
    size_t begin = 0;
    while (begin <= list.size()) {
      const size_t comma = std::min(list.find(',', begin), list.size());
      if (comma > begin) flags.features.insert(list.substr(begin, comma - begin));
      begin = comma + 1;
    }
  }
  return {};
}

Status apply_log_level(Flags& flags, const std::vector<std::string>& v) {
  VAGT_TRY(flags.log_level, base::parse_log_level(v.back()));
  return {};
}

Status apply_log_format(Flags& flags, const std::vector<std::string>& v) {
  if (v.back() != "logfmt" && v.back() != "json") return Status::invalid("must be logfmt or json");
  flags.log_format = v.back() == "json" ? base::LogFormat::Json : base::LogFormat::Logfmt;
  return {};
}

Status apply_external_url(Flags& flags, const std::vector<std::string>& v) {
  if (v.back().empty()) return {};
  VAGT_TRY(const net::UrlParts url, net::parse_url(v.back()));
  if (url.scheme != "http" && url.scheme != "https")
    return Status::invalid("must begin with http:// or https://");
  flags.external_url = v.back();
  while (flags.external_url.ends_with('/')) flags.external_url.pop_back();
  return {};
}

// "prom/", "/prom" and "/prom/" are all "/prom"; "/" is "".
std::string trimmed_prefix(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  while (path.starts_with('/')) path.remove_prefix(1);
  return path.empty() ? std::string() : "/" + std::string(path);
}

// What follows from several flags together.
void settle(Flags& flags, bool has_route_prefix, bool has_tsdb_path, const std::string& state) {
  if (flags.config_file.empty() && flags.alertmanager_config.empty())
    flags.config_file = "prometheus.yml";
  if (!has_route_prefix && !flags.external_url.empty()) {
    if (const auto url = net::parse_url(flags.external_url)) flags.route_prefix = url->path;
  }
  flags.route_prefix = trimmed_prefix(flags.route_prefix);
  if (state.empty()) return;
  // One store holds samples and Alertmanager's state.
  if (has_tsdb_path) {
    flags.without_effect.emplace_back("--storage.path");
  } else {
    flags.storage_path = state;
  }
}

Apply into_addresses() {
  return [](Flags& flags, const std::vector<std::string>& v) {
    flags.listen_addresses = v;
    return Status();
  };
}

std::vector<FlagSpec> web_flags() {
  return {
      {"web.listen-address", ":9090", "Address to listen on; may be repeated.", false, true,
       into_addresses()},
      {"web.external-url", "", "URL under which people and receivers reach this server.", false,
       true, apply_external_url},
      {"web.route-prefix", "",
       "Path prefix of all internal routes; defaults to the path of --web.external-url.", false,
       true, into_text(&Flags::route_prefix)},
      {"web.config.file", "",
       "File with the server's TLS, passwords and headers, as Prometheus's exporters have it; read "
       "again when it changes.",
       false, true, into_text(&Flags::web_config_file)},
      {"web.page-title", "vagt", "Title of the status page.", false, true,
       into_text(&Flags::page_title)},
      {"web.cors.origin", ".*", "Regex of the origins that may read answers; fully anchored.",
       false, true, into_text(&Flags::cors_origin)},
      {"web.read-timeout", "5m", "Longest time to read a request, and to keep an idle connection.",
       false, true, into_duration(&Flags::read_timeout)},
      {"web.max-connections", "512", "Connections open at once.", false, true,
       into_int(&Flags::max_connections)},
      {"web.enable-lifecycle", "false", "Allow reload and shutdown over HTTP.", true, true,
       into_bool(&Flags::enable_lifecycle)},
      {"web.enable-admin-api", "false", "Allow the admin API: flush, snapshot, delete.", true, true,
       into_bool(&Flags::enable_admin_api)},
      {"web.enable-remote-write-receiver", "false", "Accept remote write at /api/v1/write.", true,
       true, into_bool(&Flags::enable_remote_write_receiver)},
      {"web.max-import-bytes", "536870912",
       "Largest body of /api/v1/import/prometheus and /api/v1/write, as sent.", false, true,
       into_int(&Flags::max_import_bytes)},
      {"web.max-bodies-bytes", "1073741824",
       "Bodies of all requests under way together, the first 256 KiB of each not counted; "
       "a request beyond it is answered 503. 0: no limit.",
       false, true, into_int(&Flags::max_bodies_bytes)},
  };
}

std::vector<FlagSpec> storage_and_query_flags() {
  return {
      {"scrape.max-bodies-bytes", "268435456",
       "Pages of all targets under way together, as received, the first MiB of each not counted; a "
       "scrape beyond it fails. 0: no limit.",
       false, true, into_int(&Flags::max_pages_bytes)},
      {"storage.tsdb.path", "data/", "Folder of the store.", false, true,
       into_text(&Flags::storage_path)},
      {"storage.tsdb.retention.time", "0s",
       "How long samples are kept; 0 takes the configuration file's, else 15d.", false, true,
       into_duration(&Flags::retention_time)},
      {"storage.tsdb.retention.size", "0B",
       "How many bytes of samples are kept, oldest go first (512MB, 2GB); 0: all.", false, true,
       apply_retention_size},
      {"storage.max-series", "5000000", "Series in memory beyond which new ones are refused.",
       false, true, into_int(&Flags::max_series)},
      {"storage.max-series-bytes", "0",
       "Bytes of memory of the series in memory beyond which new ones are refused; 0: no limit.",
       false, true, into_int(&Flags::max_series_bytes)},
      {"query.lookback-delta", "5m", "How far back an instant selector looks for a sample.", false,
       true, into_duration(&Flags::lookback_delta)},
      {"query.timeout", "2m", "Longest time a query may take.", false, true,
       into_duration(&Flags::query_timeout)},
      {"query.max-concurrency", "20", "Queries evaluated at once.", false, true,
       into_int(&Flags::query_max_concurrency)},
      {"query.max-samples", "50000000", "Samples one query may hold in memory.", false, true,
       into_int(&Flags::query_max_samples)},
  };
}

std::vector<FlagSpec> alerting_flags() {
  return {
      {"alertmanager.config", "", "A stock alertmanager.yml for the built-in Alertmanager.", false,
       true, into_text(&Flags::alertmanager_config)},
      {"rules.alert.for-outage-tolerance", "1h",
       "Longest outage after which the `for` state is restored.", false, true,
       into_duration(&Flags::for_outage_tolerance)},
      {"rules.alert.for-grace-period", "10m",
       "Least time between a restored `for` state and firing.", false, true,
       into_duration(&Flags::for_grace_period)},
      {"rules.alert.resend-delay", "1m",
       "Least time before an alert is sent again to Alertmanager.", false, true,
       into_duration(&Flags::resend_delay)},
      {"rules.max-concurrent-evals", "4", "Rule groups evaluated at once.", false, true,
       into_int(&Flags::max_concurrent_evals)},
      {"rules.replay.timeout", "30m", "Longest time a replay of rules may take; 0: no limit.",
       false, true, into_duration(&Flags::replay_timeout)},
      {"rules.replay.max-alerts", "200000", "Alerts that one replay of rules may find.", false,
       true, into_int(&Flags::replay_max_alerts)},
      {"alertmanager.notification-queue-capacity", "10000",
       "Alerts that wait for an external Alertmanager.", false, true,
       into_int(&Flags::notification_queue_capacity)},
      {"alertmanager.notification-batch-size", "256",
       "Alerts in one post to an external Alertmanager.", false, true,
       into_int(&Flags::notification_batch_size)},
      {"storage.path", "",
       "As Alertmanager's: the folder of its state; here the store's, unless --storage.tsdb.path "
       "names one.",
       false, true, into_nothing},
      {"data.retention", "120h", "How long silences and deliveries are remembered.", false, true,
       into_duration(&Flags::data_retention)},
      {"silences.max-silences", "0",
       "Silences, expired ones included, beyond which new ones are refused.", false, true,
       into_int(&Flags::max_silences)},
      {"silences.max-silence-size-bytes", "0", "Largest silence; 0: no limit.", false, true,
       into_int(&Flags::max_silence_size_bytes)},
      {"enable-feature", "", "Comma-separated features to switch on; may be repeated.", false, true,
       apply_features},
      {"log.level", "info", "debug, info, warn or error.", false, true, apply_log_level},
      {"log.format", "logfmt", "logfmt or json.", false, true, apply_log_format},
  };
}

// Flags of Prometheus and Alertmanager that stand in existing unit files and mean nothing here.
std::vector<FlagSpec> foreign_flags() {
  constexpr std::string_view kValued[] = {"config.auto-reload-interval",
                                          "auto-gomemlimit.ratio",
                                          "web.max-notifications-subscribers",
                                          "web.user-assets",
                                          "web.remote-write-receiver.accepted-protobuf-messages",
                                          "web.console.templates",
                                          "web.console.libraries",
                                          "storage.tsdb.min-block-duration",
                                          "storage.tsdb.max-block-duration",
                                          "storage.tsdb.max-block-chunk-segment-size",
                                          "storage.tsdb.wal-segment-size",
                                          "storage.tsdb.head-chunks-write-queue-size",
                                          "storage.tsdb.samples-per-chunk",
                                          "storage.tsdb.wal-compression-type",
                                          "storage.tsdb.delay-compact-file.path",
                                          "storage.remote.flush-deadline",
                                          "storage.remote.read-sample-limit",
                                          "storage.remote.read-concurrent-limit",
                                          "storage.remote.read-max-bytes-in-frame",
                                          "scrape.timestamp-tolerance",
                                          "scrape.discovery-reload-interval",
                                          "scrape.name-escaping-scheme",
                                          "data.maintenance-interval",
                                          "alerts.gc-interval",
                                          "web.get-concurrency",
                                          "web.timeout",
                                          "cluster.listen-address",
                                          "cluster.advertise-address",
                                          "cluster.peer",
                                          "cluster.peer-timeout",
                                          "cluster.gossip-interval",
                                          "cluster.pushpull-interval",
                                          "cluster.tcp-timeout",
                                          "cluster.probe-timeout",
                                          "cluster.probe-interval",
                                          "cluster.settle-timeout",
                                          "cluster.reconnect-interval",
                                          "cluster.reconnect-timeout",
                                          "cluster.label",
                                          "cluster.peer-name",
                                          "cluster.tls-config",
                                          "dispatch.maintenance-interval",
                                          "dispatch.start-delay",
                                          "alerts.per-alertname-limit",
                                          "log.silences"};
  constexpr std::string_view kBoolean[] = {
      "auto-gomaxprocs",
      "auto-gomemlimit",
      "web.enable-otlp-receiver",
      "storage.tsdb.no-lockfile",
      "storage.tsdb.wal-compression",
      "storage.tsdb.allow-overlapping-blocks",
      "scrape.adjust-timestamps",
      "alertmanager.drain-notification-queue-on-shutdown",
      "cluster.allow-insecure-public-advertise-address-discovery",
      "web.systemd-socket",
      "agent"};
  std::vector<FlagSpec> flags;
  for (const std::string_view name : kValued)
    flags.push_back(
        {std::string(name), "", "Accepted, without effect.", false, false, into_nothing});
  for (const std::string_view name : kBoolean)
    flags.push_back(
        {std::string(name), "false", "Accepted, without effect.", true, false, into_nothing});
  return flags;
}

std::vector<FlagSpec> all_flags() {
  std::vector<FlagSpec> flags = web_flags();
  for (const auto& group : {storage_and_query_flags(), alerting_flags(), foreign_flags()})
    flags.insert(flags.end(), group.begin(), group.end());
  flags.push_back({"config.file", "prometheus.yml", "A stock prometheus.yml.", false, true,
                   into_text(&Flags::config_file)});
  return flags;
}

std::string join(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

struct Given {
  std::vector<std::string> values;
  bool flag = false;
};

// Hands every flag to CLI11; `given` must stay in place until the parse.
void register_flags(CLI::App& app, const std::vector<FlagSpec>& specs,
                    std::map<std::string, Given>& given) {
  for (const FlagSpec& spec : specs) {
    Given& slot = given[spec.name];
    const std::string group =
        spec.effective ? "Options" : "";  // "" hides the ones without effect from --help
    if (spec.boolean) {
      app.add_flag(fmt::format("--{0},!--no-{0}", spec.name), slot.flag, spec.help)->group(group);
    } else {
      const std::string help =
          spec.fallback.empty() ? spec.help : fmt::format("{} [{}]", spec.help, spec.fallback);
      app.add_option("--" + spec.name, slot.values, help)
          ->allow_extra_args(false)
          ->group(group)
          ->take_all();
    }
  }
}

Status apply_flags(const CLI::App& app, const std::vector<FlagSpec>& specs,
                   std::map<std::string, Given>& given, Flags& flags) {
  for (const FlagSpec& spec : specs) {
    Given& slot = given[spec.name];
    const bool present = app.count("--" + spec.name) > 0;
    if (spec.boolean && present) slot.values = {slot.flag ? "true" : "false"};
    flags.texts[spec.name] = present ? join(slot.values) : spec.fallback;
    if (!present) continue;
    if (!spec.effective) flags.without_effect.push_back("--" + spec.name);
    VAGT_CHECK_OK(spec.apply(flags, slot.values).at("--" + spec.name));
  }
  return {};
}

}  // namespace

std::variant<Flags, EarlyExit> parse_flags(int argc, const char* const* argv) {
  CLI::App app("vagtd watches GPU servers: it scrapes, stores, evaluates rules and pages people.",
               "vagtd");
  app.footer(
      "Examples:\n"
      "  vagtd --config.file=prometheus.yml --alertmanager.config=alertmanager.yml\n"
      "  vagtd --config.file=prometheus.yml --web.listen-address=:9090 --web.listen-address=:9093\n"
      "  vagtd --alertmanager.config=alertmanager.yml --web.listen-address=:9093   (a plain "
      "Alertmanager)");
  const std::vector<FlagSpec> specs = all_flags();
  std::map<std::string, Given> given;
  register_flags(app, specs, given);
  app.set_version_flag("--version", version_text("vagtd"));
  std::vector<std::string> words = base::with_empty_values({argv + 1, argv + argc});
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& success) {
    const bool version = success.get_name() == "CallForVersion";
    return EarlyExit{0, version ? version_text("vagtd") + "\n" : app.help()};
  } catch (const CLI::ParseError& error) {
    return EarlyExit{2, fmt::format("vagtd: {} (vagtd --help lists the flags)\n", error.what())};
  }
  Flags flags;
  if (Status status = apply_flags(app, specs, given, flags); !status.ok())
    return EarlyExit{2, fmt::format("vagtd: {}\n", status.message())};
  settle(flags, app.count("--web.route-prefix") > 0, app.count("--storage.tsdb.path") > 0,
         flags.texts.at("storage.path"));
  return flags;
}

}  // namespace vagt::engine
