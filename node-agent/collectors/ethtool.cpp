// What the drivers of physical network interfaces say. `links`: the speeds they support and had,
// FEC errors, pause frames, LLDP neighbours. `ethtool`: their own statistics.
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "node-agent/collectors/collectors.h"
#include "node-agent/command.h"
#include "node-agent/link_history.h"

namespace vagt::agent {
namespace {

constexpr size_t kMaxStatistics = 8192;

// `rx_err_lane_2_phy`, `rx_fec_uncorrectable…`: errors that forward correction could not mend.
bool is_fec_uncorrectable(std::string_view name) {
  return name.substr(0, 12) == "rx_err_lane_" || (name.find("fec") != std::string_view::npos &&
                                                  name.find("uncorrect") != std::string_view::npos);
}

// `rx_prio3_pause`: direction and priority.
bool is_pause(std::string_view name, std::string_view& direction, std::string_view& priority) {
  direction = name.substr(0, 2);
  if (direction != "rx" && direction != "tx") return false;
  if (name.substr(2, 5) != "_prio" || name.size() != 14 || name.substr(8) != "_pause") return false;
  priority = name.substr(7, 1);
  return true;
}

// As node_exporter cleans them: a name of letters, digits and underscores.
std::string metric_part(std::string_view statistic) {
  std::string out;
  for (const char c : trim(statistic)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper) {
      out += static_cast<char>(c - 'A' + 'a');
    } else if (plain) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

class EthtoolCollector final : public Collector {
 public:
  enum class Part { Links, Statistics };
  EthtoolCollector(const Sources& sources, const Filters& filters, Part part)
      : part_(part),
        directory_(sources.sys("class/net")),
        fixture_(sources.fixtures.ethtool),
        lldpctl_(sources.sysfs == "/sys" ? filters.lldpctl : ""),
        devices_(filters.ethtool_devices),
        metrics_(filters.ethtool_metrics),
        configured_(filters.link_speeds),
        history_(sources),
        fd_(sources.sysfs == "/sys" ? socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1) {}
  ~EthtoolCollector() override {
    if (fd_ >= 0) close(fd_);
  }
  std::string_view name() const override { return part_ == Part::Links ? "links" : "ethtool"; }

  Status collect(MetricSink& sink, std::stop_token stop) override {
    bool any = false;
    for (const std::string& device : list_directory(directory_)) {
      if (stop.stop_requested() || !exists(directory_ + '/' + device + "/device")) continue;
      if (!devices_.keeps(device)) continue;
      any = true;
      if (part_ == Part::Links) add_speeds(sink, device);
      if (!fixture_.empty()) VAGT_CHECK_OK(add_recorded(sink, device));
      if (fd_ >= 0) add_statistics(sink, device);
    }
    if (any && part_ == Part::Links) add_neighbours(sink, stop);
    history_.keep();
    return any ? Status() : Status::not_found("no physical network interface");
  }

 private:
  void add_speeds(MetricSink& sink, const std::string& device) {
    const auto megabits = read_number(directory_ + '/' + device + "/speed");
    const double seen = history_.see(device, megabits.value_or(0) * 1e6 / 8);
    if (seen > 0) add_max_speed(sink, device, "seen", seen);
    const auto configured = configured_.find(device);
    if (configured != configured_.end())
      add_max_speed(sink, device, "config", configured->second * 1e6 / 8);
    if (fd_ >= 0) add_settings(sink, device);
  }

  // lldpd is asked only where its program is.
  void add_neighbours(MetricSink& sink, const std::stop_token& stop) {
    if (lldpctl_.empty() || !lldp_there_) return;
    const auto output =
        run_command({lldpctl_, "-f", "keyvalue"}, std::chrono::seconds(5), stop, lldp_slot_);
    if (!output) lldp_there_ = output.error().code() != Code::NotFound;
    if (!output || output->exit_code != 0) return;
    for (const LldpNeighbour& neighbour : parse_lldp(output->out))
      sink.gauge("vagt_network_lldp_neighbour_info",
                 "The switch port an interface is wired to, by LLDP; the value is 1.")
          .add({{"chassis", neighbour.chassis},
                {"description", neighbour.description},
                {"device", neighbour.device},
                {"port", neighbour.port}},
               1);
  }

  // DEVICE<TAB>STATISTIC<TAB>value
  Status add_recorded(MetricSink& sink, const std::string& device) {
    std::string text;
    VAGT_CHECK_OK(read_file(fixture_, text));
    std::string_view rest = text, line;
    Statistics statistics;
    while (next_line(rest, line)) {
      if (next_word(line) != device) continue;
      const std::string_view name = next_word(line);
      if (const auto value = to_number(next_word(line)))
        take_statistic(sink, device, name, *value, statistics);
    }
    finish(sink, device, statistics);
    return {};
  }

  static void add_max_speed(MetricSink& sink, const std::string& device, std::string_view source,
                            double bytes) {
    sink.gauge("vagt_network_link_max_speed_bytes",
               "Speed a link could have: by its driver (ethtool), or the most it ever had (seen).")
        .add({{"device", device}, {"source", source}}, bytes);
  }

  bool ask(const std::string& device, void* command) const {
    ifreq request{};
    std::strncpy(request.ifr_name, device.c_str(), IFNAMSIZ - 1);
    request.ifr_data = static_cast<char*>(command);
    return ioctl(fd_, SIOCETHTOOL, &request) == 0;
  }

  // Asked twice: first the kernel says how many words its masks have, then it fills them.
  void add_settings(MetricSink& sink, const std::string& device) const {
    constexpr size_t kMaxWords = 127;
    alignas(ethtool_link_settings) char
        buffer[sizeof(ethtool_link_settings) + 3 * kMaxWords * sizeof(uint32_t)] = {};
    auto* settings = reinterpret_cast<ethtool_link_settings*>(buffer);
    settings->cmd = ETHTOOL_GLINKSETTINGS;
    if (!ask(device, settings) || settings->link_mode_masks_nwords >= 0) return;
    const auto words = static_cast<size_t>(-settings->link_mode_masks_nwords);
    if (words > kMaxWords) return;
    settings->cmd = ETHTOOL_GLINKSETTINGS;
    settings->link_mode_masks_nwords = static_cast<int8_t>(words);
    if (!ask(device, settings)) return;
    sink.gauge("vagt_network_link_autoneg", "1: the link negotiates its speed.")
        .add({{"device", device}}, settings->autoneg == AUTONEG_ENABLE ? 1 : 0);
    const auto* supported =
        reinterpret_cast<const uint32_t*>(buffer + sizeof(ethtool_link_settings));
    if (const double megabits = fastest({supported, words}); megabits > 0)
      add_max_speed(sink, device, "ethtool", megabits * 1e6 / 8);
  }

  // Bits of enum ethtool_link_mode_bit_indices, by their speed in Mbit/s.
  static double fastest(std::span<const uint32_t> mask) {
    struct Range {
      unsigned first, last;
      double megabits;
    };
    constexpr Range kRanges[] = {
        {0, 1, 10},       {2, 3, 100},      {4, 5, 1000},     {12, 12, 10000},  {15, 15, 2500},
        {17, 20, 10000},  {21, 22, 20000},  {23, 26, 40000},  {27, 30, 56000},  {31, 33, 25000},
        {34, 35, 50000},  {36, 39, 100000}, {40, 40, 50000},  {41, 41, 1000},   {42, 46, 10000},
        {47, 47, 2500},   {48, 48, 5000},   {52, 56, 50000},  {57, 61, 100000}, {62, 66, 200000},
        {69, 73, 400000}, {75, 79, 100000}, {80, 84, 200000}, {85, 89, 400000}, {93, 98, 800000}};
    double out = 0;
    for (const Range& range : kRanges)
      for (unsigned bit = range.first; bit <= range.last; ++bit)
        if (bit / 32 < mask.size() && (mask[bit / 32] >> (bit % 32) & 1) != 0)
          out = std::max(out, range.megabits);
    return out;
  }

  void add_statistics(MetricSink& sink, const std::string& device) {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (!ask(device, &info) || info.n_stats == 0) return;
    if (part_ == Part::Statistics) add_driver(sink, device, info);
    read_statistics(sink, device, info.n_stats);
  }

  static void add_driver(MetricSink& sink, const std::string& device, const ethtool_drvinfo& info) {
    sink.gauge("node_ethtool_info",
               "A metric with a constant '1' value labeled by bus_info, device, driver, "
               "expansion_rom_version, firmware_version, version.")
        .add({{"bus_info", text(info.bus_info)},
              {"device", device},
              {"driver", text(info.driver)},
              {"expansion_rom_version", text(info.erom_version)},
              {"firmware_version", text(info.fw_version)},
              {"version", text(info.version)}},
             1);
  }

  void read_statistics(MetricSink& sink, const std::string& device, size_t count) {
    if (count > kMaxStatistics) return;
    names_.assign(sizeof(ethtool_gstrings) + count * ETH_GSTRING_LEN, '\0');
    auto* names = reinterpret_cast<ethtool_gstrings*>(names_.data());
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_STATS;
    names->len = static_cast<uint32_t>(count);
    values_.assign(1 + count, 0);  // cmd and n_stats, then the numbers
    auto* values = reinterpret_cast<ethtool_stats*>(values_.data());
    values->cmd = ETHTOOL_GSTATS;
    values->n_stats = static_cast<uint32_t>(count);
    if (!ask(device, names) || !ask(device, values)) return;
    Statistics statistics;
    for (size_t i = 0; i < count; ++i) {
      const char* start = names_.data() + sizeof(ethtool_gstrings) + i * ETH_GSTRING_LEN;
      const std::string_view name(start, strnlen(start, ETH_GSTRING_LEN));
      take_statistic(sink, device, name, static_cast<double>(values_[1 + i]), statistics);
    }
    finish(sink, device, statistics);
  }

  struct Statistics {
    double uncorrectable = 0;
    bool has_fec = false;
  };

  static void finish(MetricSink& sink, const std::string& device, const Statistics& statistics) {
    if (statistics.has_fec)
      sink.counter("vagt_network_fec_uncorrectable_total",
                   "Errors that forward error correction could not mend.")
          .add({{"device", device}}, statistics.uncorrectable);
  }

  void take_statistic(MetricSink& sink, const std::string& device, std::string_view name,
                      double value, Statistics& statistics) const {
    if (part_ == Part::Links) {
      std::string_view direction, priority;
      if (is_fec_uncorrectable(name)) {
        statistics.uncorrectable += value;
        statistics.has_fec = true;
      }
      if (is_pause(name, direction, priority))
        sink.counter("vagt_network_pause_frames_total", "Pause frames by direction and priority.")
            .add({{"device", device}, {"direction", direction}, {"priority", priority}}, value);
      return;
    }
    if (name.empty() || !metrics_.keeps(name)) return;
    sink.untyped("node_ethtool_" + metric_part(name),
                 "Network interface " + std::string(trim(name)))
        .add({{"device", device}}, value);
  }

  template <size_t kSize>
  static std::string_view text(const char (&field)[kSize]) {
    return {field, strnlen(field, kSize)};
  }

  const Part part_;
  const std::string directory_, fixture_, lldpctl_;
  const NameFilter devices_, metrics_;
  const std::map<std::string, double> configured_;  // Mbit/s
  LinkHistory history_;
  const int fd_;
  const std::shared_ptr<CommandSlot> lldp_slot_ = std::make_shared<CommandSlot>();
  bool lldp_there_ = true;
  std::vector<char> names_;
  std::vector<uint64_t> values_;
};

}  // namespace

CollectorPtr make_ethtool(const Sources& sources, const Filters& filters) {
  return std::make_unique<EthtoolCollector>(sources, filters, EthtoolCollector::Part::Statistics);
}

CollectorPtr make_links(const Sources& sources, const Filters& filters) {
  return std::make_unique<EthtoolCollector>(sources, filters, EthtoolCollector::Part::Links);
}

}  // namespace vagt::agent
