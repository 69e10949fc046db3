// The kinds of discovery that are read and checked, and then find nothing.
#include <fmt/core.h>

#include <algorithm>

#include "config/discovery_kinds.h"
#include "config/http_config.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

enum class Type : uint8_t { Text, Hidden, Number, Flag, Time, Texts, Filters, Tls };

struct Field {
  std::string_view name;
  Type type = Type::Text;
  std::string_view missing = {};  // the complaint when it is not given; "": it may be left out
  std::string_view words = {};    // "a|b": what it may be
};

struct Kind {
  std::string_view key, type_name;
  bool has_http = true;     // takes basic_auth, tls_config, …
  bool is_lenient = false;  // other keys are accepted: its list of options is not known for sure
  std::vector<Field> fields;
};

std::vector<Field> aws_fields(std::vector<Field> more) {
  std::vector<Field> fields = {{"region"},
                               {"endpoint"},
                               {"access_key"},
                               {"secret_key", Type::Hidden},
                               {"profile"},
                               {"role_arn"},
                               {"external_id"},
                               {"refresh_interval", Type::Time},
                               {"port", Type::Number}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

std::vector<Field> usual_fields(std::vector<Field> more) {
  more.insert(more.end(), {{"refresh_interval", Type::Time}, {"port", Type::Number}});
  return more;
}

std::vector<Field> zookeeper_fields(std::string_view no_server, std::string_view no_path) {
  return {{"servers", Type::Texts, no_server},
          {"paths", Type::Texts, no_path},
          {"timeout", Type::Time}};
}

std::vector<Kind> cloud_kinds() {
  return {
      {"aws_sd_configs", "aws.plain", true, true,
       aws_fields({{"role", Type::Text,
                    "role missing (one of: ec2, ecs, elasticache, lightsail, "
                    "msk, rds)",
                    "ec2|ecs|elasticache|lightsail|msk|rds"},
                   {"filters", Type::Filters}})},
      {"azure_sd_configs", "azure.plain", true, false,
       usual_fields(
           {{"environment"},
            {"authentication_method", Type::Text, "", "OAuth|ManagedIdentity|SDK|WorkloadIdentity"},
            {"subscription_id", Type::Text, "azure SD configuration requires a subscription_id"},
            {"tenant_id"},
            {"client_id"},
            {"client_secret", Type::Hidden},
            {"resource_group"}})},
      {"digitalocean_sd_configs", "digitalocean.plain", true, true, usual_fields({{"role"}})},
      {"ec2_sd_configs", "aws.plain", true, false,
       aws_fields({{"filters", Type::Filters}, {"ip_family"}})},
      {"ecs_sd_configs", "aws.plain", true, true, aws_fields({{"clusters", Type::Texts}})},
      {"gce_sd_configs", "gce.plain", false, false,
       usual_fields({{"project", Type::Text, "GCE SD configuration requires a project"},
                     {"zone", Type::Text, "GCE SD configuration requires a zone"},
                     {"filter"},
                     {"tag_separator"}})},
      {"hetzner_sd_configs", "hetzner.plain", true, false,
       usual_fields({{"role", Type::Text, "role missing (one of: robot, hcloud)", "robot|hcloud"},
                     {"label_selector"}})},
      {"ionos_sd_configs", "ionos.plain", true, false,
       usual_fields({{"datacenter_id", Type::Text, "datacenter id can't be empty"}})},
      {"lightsail_sd_configs", "aws.plain", true, false, aws_fields({})},
      {"linode_sd_configs", "linode.plain", true, false,
       usual_fields({{"region"}, {"tag_separator"}})},
      {"msk_sd_configs", "aws.plain", true, true, aws_fields({{"clusters", Type::Texts}})},
      {"openstack_sd_configs", "openstack.plain", false, false,
       usual_fields(
           {{"identity_endpoint"},
            {"username"},
            {"userid"},
            {"password", Type::Hidden},
            {"project_name"},
            {"project_id"},
            {"domain_name"},
            {"domain_id"},
            {"application_credential_name"},
            {"application_credential_id"},
            {"application_credential_secret", Type::Hidden},
            {"role", Type::Text, "role missing (one of: instance, hypervisor, loadbalancer)",
             "instance|hypervisor|loadbalancer"},
            {"region", Type::Text, "openstack SD configuration requires a region"},
            {"all_tenants", Type::Flag},
            {"availability", Type::Text, "", "public|admin|internal"},
            {"tls_config", Type::Tls}})},
      {"outscale_sd_configs", "outscale.plain", true, true,
       usual_fields({{"region"}, {"access_key"}, {"secret_key", Type::Hidden}})},
      {"ovhcloud_sd_configs",
       "ovhcloud.plain",
       false,
       false,
       {{"endpoint"},
        {"application_key", Type::Text, "application key can not be empty"},
        {"application_secret", Type::Hidden, "application secret can not be empty"},
        {"consumer_key", Type::Hidden, "consumer key can not be empty"},
        {"service", Type::Text, "unknown service: ", "vps|dedicated_server"},
        {"refresh_interval", Type::Time}}},
      {"scaleway_sd_configs", "scaleway.plain", true, false,
       usual_fields({{"role", Type::Text, "role missing (one of: instance, baremetal)",
                      "instance|baremetal"},
                     {"project_id", Type::Text, "project_id is required"},
                     {"api_url"},
                     {"zone"},
                     {"access_key", Type::Text, "access_key is required"},
                     {"secret_key", Type::Hidden},
                     {"secret_key_file"},
                     {"name_filter"},
                     {"tags_filter", Type::Texts}})},
      {"stackit_sd_configs", "stackit.plain", true, true,
       usual_fields({{"project", Type::Text, "STACKIT SD configuration requires a project"},
                     {"region"},
                     {"endpoint"},
                     {"service_account_key", Type::Hidden},
                     {"private_key", Type::Hidden}})},
      {"vultr_sd_configs", "vultr.plain", true, false, usual_fields({})},
  };
}

std::vector<Kind> cluster_kinds() {
  return {
      {"dockerswarm_sd_configs", "moby.plain", true, false,
       usual_fields({{"host", Type::Text, "host missing"},
                     {"role", Type::Text, "role missing (one of: tasks, services, nodes)",
                      "services|tasks|nodes"},
                     {"filters", Type::Filters}})},
      {"eureka_sd_configs",
       "eureka.plain",
       true,
       false,
       {{"server", Type::Text, "eureka_sd: empty or null eureka server"},
        {"refresh_interval", Type::Time}}},
      {"kuma_sd_configs",
       "xds.plain",
       true,
       false,
       {{"server", Type::Text, "kuma SD server must not be empty"},
        {"client_id"},
        {"refresh_interval", Type::Time},
        {"fetch_timeout", Type::Time}}},
      {"marathon_sd_configs",
       "marathon.plain",
       true,
       false,
       {{"servers", Type::Texts, "marathon_sd: must contain at least one Marathon server"},
        {"auth_token", Type::Hidden},
        {"auth_token_file"},
        {"refresh_interval", Type::Time}}},
      {"nerve_sd_configs", "zookeeper.plain", false, false,
       zookeeper_fields("nerve SD config must contain at least one Zookeeper server",
                        "nerve SD config must contain at least one path")},
      {"nomad_sd_configs",
       "nomad.plain",
       true,
       false,
       {{"allow_stale", Type::Flag},
        {"namespace"},
        {"refresh_interval", Type::Time},
        {"region"},
        {"server", Type::Text, "nomad SD configuration requires a server address"},
        {"tag_separator"}}},
      {"puppetdb_sd_configs", "puppetdb.plain", true, false,
       usual_fields({{"url", Type::Text, "URL is missing"},
                     {"query", Type::Text, "query missing"},
                     {"include_parameters", Type::Flag}})},
      {"serverset_sd_configs", "zookeeper.plain", false, false,
       zookeeper_fields("serverset SD config must contain at least one Zookeeper server",
                        "serverset SD config must contain at least one path")},
      {"triton_sd_configs", "triton.plain", false, false,
       usual_fields({{"account", Type::Text, "triton SD configuration requires an account"},
                     {"role", Type::Text, "", "container|cn"},
                     {"dns_suffix", Type::Text, "triton SD configuration requires a dns_suffix"},
                     {"endpoint", Type::Text, "triton SD configuration requires an endpoint"},
                     {"groups", Type::Texts},
                     {"version", Type::Number},
                     {"tls_config", Type::Tls}})},
      {"uyuni_sd_configs",
       "uyuni.plain",
       true,
       false,
       {{"server", Type::Text, "Uyuni SD configuration requires server host"},
        {"username", Type::Text, "Uyuni SD configuration requires a username"},
        {"password", Type::Hidden, "Uyuni SD configuration requires a password"},
        {"entitlement"},
        {"separator"},
        {"refresh_interval", Type::Time}}},
  };
}

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds = cloud_kinds();
  for (Kind& kind : cluster_kinds()) kinds.push_back(std::move(kind));
  return kinds;
}

bool is_one_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    if (words.substr(0, bar) == word) return true;
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return false;
}

// True: something was given.
bool read_field(const Field& field, YamlFields& fields, const std::string& base_dir) {
  switch (field.type) {
    case Type::Text: {
      std::string text;
      fields.read(field.name, text);
      return !text.empty();
    }
    case Type::Hidden: {
      Secret text;
      fields.read(field.name, text);
      return !text.empty();
    }
    case Type::Number: {
      int64_t number = 0;
      fields.read(field.name, number);
      break;
    }
    case Type::Flag: {
      bool flag = false;
      fields.read(field.name, flag);
      break;
    }
    case Type::Time: {
      Duration time{};
      fields.read(field.name, time);
      break;
    }
    case Type::Texts: {
      std::vector<std::string> texts;
      fields.read(field.name, texts);
      return !texts.empty();
    }
    case Type::Filters: {
      std::vector<scrape::DiscoveryFilter> filters;
      if (const YamlNode* at = fields.take(field.name))
        fields.fail(read_discovery_filters(*at, filters));
      break;
    }
    case Type::Tls: {
      net::TlsOptions tls;
      if (const YamlNode* at = fields.take(field.name))
        fields.fail(read_tls_config(*at, base_dir, tls));
      break;
    }
  }
  return true;
}

Status check_field(const Field& field, const YamlNode& node, bool is_given) {
  if (!is_given && !field.missing.empty()) return node.error(std::string(field.missing));
  const YamlNode* at = node.find(field.name);
  if (field.words.empty() || at == nullptr || !is_given) return {};
  if (is_one_of(field.words, at->scalar())) return {};
  std::string words(field.words);
  std::replace(words.begin(), words.end(), '|', ' ');
  return at->error(
      fmt::format("unknown {} {}, expected one of: {}", field.name, quote(at->scalar()), words));
}

}  // namespace

std::vector<std::string_view> unimplemented_kinds() {
  std::vector<std::string_view> keys;
  for (const Kind& kind : all_kinds()) keys.push_back(kind.key);
  return keys;
}

Status check_unimplemented(std::string_view key, const YamlNode& node,
                           const std::string& base_dir) {
  const std::vector<Kind> kinds = all_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [key](const Kind& candidate) { return candidate.key == key; });
  YamlFields fields(node);
  std::vector<bool> is_given;
  for (const Field& field : kind->fields) is_given.push_back(read_field(field, fields, base_dir));
  net::HttpClientConfig http;
  if (kind->has_http) read_http_config(fields, base_dir, http);
  if (kind->is_lenient) {
    for (const YamlNode::Entry& entry : node.entries()) fields.take(entry.key);
  }
  VAGT_CHECK_OK(fields.finish(kind->type_name));
  for (size_t i = 0; i < kind->fields.size(); ++i)
    VAGT_CHECK_OK(check_field(kind->fields[i], node, is_given[i]));
  return {};
}

}  // namespace vagt::config
