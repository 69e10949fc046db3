// `alerting` and `storage`.
#include <fmt/core.h>

#include "config/http_config.h"
#include "config/sections.h"

namespace vagt::config {
namespace {

using base::YamlFields;
using base::YamlNode;

Result<AlertmanagerTarget> read_alertmanager(const YamlNode& node, const ReadContext& context) {
  AlertmanagerTarget config;
  YamlFields fields(node);
  fields.read("scheme", config.scheme).read("path_prefix", config.path_prefix);
  fields.read("timeout", config.timeout).read("api_version", config.api_version);
  read_http_config(fields, context.base_dir, config.http);
  fields.fail(read_discovery(fields, context, config.discovery));
  fields.fail(read_relabel_configs(fields.take("relabel_configs"), context.defaults.name_scheme,
                                   "empty or null Alertmanager target relabeling rule",
                                   config.relabel));
  fields.fail(read_relabel_configs(
      fields.take("alert_relabel_configs"), context.defaults.name_scheme,
      "empty or null Alertmanager alert relabeling rule", config.alert_relabel));
  VAGT_CHECK_OK(fields.finish("config.AlertmanagerConfig"));
  if (config.relabel.empty()) VAGT_CHECK_OK(check_static_addresses(node));
  if (config.api_version == "v1") {
    // Alertmanager itself dropped it in 0.27; what answers there speaks v2.
    context.notice(*node.find("api_version"),
                   "Alertmanager's API v1 is gone, v2 is spoken instead");
    config.api_version = "v2";
  }
  if (config.api_version != "v2") {
    return node.find("api_version")
        ->error(fmt::format("expected Alertmanager api version to be one of [v2] but got {}",
                            config.api_version));
  }
  return config;
}

Status read_retention(const YamlNode& node, StorageConfig& out) {
  YamlFields fields(node);
  fields.read("time", out.retention_time);
  fields.read("percentage", out.retention_percentage);
  if (const YamlNode* size = fields.take("size"); size != nullptr && !size->is_null()) {
    if (size->scalar().starts_with('-')) {
      fields.fail(size->error("'storage.tsdb.retention.size' must be greater than or equal to 0"));
    } else {
      auto bytes = size->as_bytes();
      bytes ? void(out.retention_size_bytes = *bytes) : void(fields.fail(bytes.error()));
    }
  }
  VAGT_CHECK_OK(fields.finish("config.plain"));
  if (out.retention_percentage &&
      (*out.retention_percentage < 0 || *out.retention_percentage > 100)) {
    return node.find("percentage")
        ->error("'storage.tsdb.retention.percentage' must be in the range [0, 100]");
  }
  return {};
}

Status read_chunk_encoding(const YamlNode& node, StorageConfig& out) {
  YamlFields fields(node);
  fields.read("floats", out.chunk_encoding_floats);
  VAGT_CHECK_OK(fields.finish("config.plain"));
  const YamlNode* at = node.find("floats");
  if (at == nullptr || out.chunk_encoding_floats == "xor" || out.chunk_encoding_floats == "xor2")
    return {};
  return at->error(fmt::format(
      "'storage.tsdb.chunk_encoding.floats' must be 'xor' or 'xor2', or the field must be "
      "omitted entirely, got {}",
      quote(out.chunk_encoding_floats)));
}

Status read_tsdb(const YamlNode& node, StorageConfig& out) {
  YamlFields fields(node);
  fields.read("out_of_order_time_window", out.out_of_order_time_window);
  fields.read("stale_series_compaction_threshold", out.stale_series_compaction_threshold);
  if (const YamlNode* at = fields.take("retention")) fields.fail(read_retention(*at, out));
  if (const YamlNode* at = fields.take("chunk_encoding"))
    fields.fail(read_chunk_encoding(*at, out));
  return fields.finish("config.plain");
}

Status read_exemplars(const YamlNode& node, StorageConfig& out) {
  YamlFields fields(node);
  fields.read("max_exemplars", out.max_exemplars);
  return fields.finish("config.ExemplarsConfig");
}

}  // namespace

Status read_alerting(const YamlNode& node, const ReadContext& context, AlertingConfig& out) {
  YamlFields fields(node);
  fields.fail(read_relabel_configs(fields.take("alert_relabel_configs"),
                                   context.defaults.name_scheme,
                                   "empty or null alert relabeling rule", out.alert_relabel));
  if (const YamlNode* list = fields.take("alertmanagers"); list != nullptr && !list->is_null()) {
    if (!list->is_sequence()) return list->error("alertmanagers: expected a list");
    for (const YamlNode& item : list->items()) {
      if (item.is_null()) return item.error("empty or null Alertmanager config section");
      VAGT_TRY(AlertmanagerTarget target, read_alertmanager(item, context));
      out.alertmanagers.push_back(std::move(target));
    }
  }
  return fields.finish("config.plain");
}

Status read_storage(const YamlNode& node, StorageConfig& out) {
  YamlFields fields(node);
  if (const YamlNode* at = fields.take("tsdb")) fields.fail(read_tsdb(*at, out));
  if (const YamlNode* at = fields.take("exemplars")) fields.fail(read_exemplars(*at, out));
  return fields.finish("config.StorageConfig");
}

}  // namespace vagt::config
