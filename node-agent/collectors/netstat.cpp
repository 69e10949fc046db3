// Protocol counters of /proc/net/{netstat,snmp,snmp6}.
#include "node-agent/collectors/collectors.h"
#include "node-agent/kept_file.h"

namespace vagt::agent {
namespace {

class NetstatCollector final : public Collector {
 public:
  NetstatCollector(const Sources& sources, NameFilter fields)
      : netstat_(sources.proc("net/netstat")),
        snmp_(sources.proc("net/snmp")),
        snmp6_(sources.proc("net/snmp6")),
        fields_(std::move(fields)) {}
  std::string_view name() const override { return "netstat"; }

  Status collect(MetricSink& sink, std::stop_token) override {
    next_ = 0;
    VAGT_CHECK_OK(netstat_.read(text_));
    add_pairs(sink);
    VAGT_CHECK_OK(snmp_.read(text_));
    add_pairs(sink);
    if (snmp6_.read(text_).ok()) add_snmp6(sink);  // no IPv6, no file
    return {};
  }

 private:
  // A line of names, then a line of values, each led by `Protocol:`.
  void add_pairs(MetricSink& sink) {
    std::string_view rest = text_, names, values;
    while (next_line(rest, names) && next_line(rest, values)) {
      std::string_view protocol = next_word(names);
      if (protocol.empty() || next_word(values) != protocol) return;
      protocol.remove_suffix(1);
      for (auto name = next_word(names); !name.empty(); name = next_word(names))
        add(sink, protocol, name, next_word(values));
    }
  }

  // `Ip6InReceives 7`: the protocol is what ends in 6.
  void add_snmp6(MetricSink& sink) {
    std::string_view rest = text_, line;
    while (next_line(rest, line)) {
      const std::string_view key = next_word(line);
      const size_t six = key.find('6');
      if (six == std::string_view::npos) continue;
      add(sink, key.substr(0, six + 1), key.substr(six + 1), next_word(line));
    }
  }

  // The files have some 400 fields in an order that rarely changes: what a place holds is looked up
  // once, and after that only compared.
  void add(MetricSink& sink, std::string_view protocol, std::string_view name,
           std::string_view value) {
    if (next_ == places_.size()) places_.emplace_back();
    Place& place = places_[next_++];
    if (place.protocol != protocol || place.name != name) {
      place.protocol = protocol;
      place.name = name;
      const std::string key = place.protocol + '_' + place.name;
      place.metric = fields_.keeps(key) ? "node_netstat_" + key : std::string();
      place.help = "Statistic " + place.protocol + place.name + '.';
    }
    if (place.metric.empty()) return;
    if (const auto number = to_number(value)) sink.untyped(place.metric, place.help).add(*number);
  }

  struct Place {
    std::string protocol, name;
    std::string metric, help;  // metric "": left out by the filter
  };

  KeptFile netstat_, snmp_, snmp6_;
  const NameFilter fields_;
  std::string text_;
  std::vector<Place> places_;
  size_t next_ = 0;  // place of the next field in this run
};

}  // namespace

CollectorPtr make_netstat(const Sources& sources, const Filters& filters) {
  return std::make_unique<NetstatCollector>(sources, filters.netstat_fields);
}

}  // namespace vagt::agent
