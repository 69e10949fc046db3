#include "cli/server_status.h"

#include <ostream>

#include "cli/alertmanager_api.h"

namespace vagt::cli {
namespace {

Result<StatusView> fetch(Context& context) {
  VAGT_TRY(AlertmanagerApi api, AlertmanagerApi::connect(context));
  return api.status();
}

}  // namespace

int config_show(Context& context, const NoOptions&) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  const auto status = fetch(context);
  if (!status) return context.fail(status.error());
  if (*output == Output::Json) {
    context.out << status->config_json << "\n";
    return kSuccess;
  }
  context.out << status->config_text << "\n";
  if (*output == Output::Simple) return kSuccess;
  for (const auto& [name, value] : status->versions) context.out << name << " " << value << "\n";
  context.out << "Version " << status->versions[3].second << "\n";
  context.out << "uptime " << status->uptime << "\n";
  return kSuccess;
}

int cluster_show(Context& context, const NoOptions&) {
  const auto output = context.output();
  if (!output) return context.fail(output.error());
  const auto status = fetch(context);
  if (!status) return context.fail(status.error());
  if (*output == Output::Json) {
    context.out << status->cluster_json << "\n";
    return kSuccess;
  }
  context.out << "Cluster Status:  " << status->cluster_status << "\n"
              << "Node Name:       " << status->cluster_name << "\n";
  if (*output == Output::Simple) return kSuccess;
  context.out << "\nAddress  Name\n";
  for (const auto& [name, address] : status->peers) context.out << address << "  " << name << "\n";
  return kSuccess;
}

}  // namespace vagt::cli
