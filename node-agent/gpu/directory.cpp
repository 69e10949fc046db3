#include "node-agent/gpu/directory.h"

namespace vagt::agent {

void GpuDirectory::release_until(Timestamp until) {
  base::MutexLock lock(mutex_);
  released_until_ = until;
}

Timestamp GpuDirectory::released_until() const {
  base::MutexLock lock(mutex_);
  return released_until_;
}

std::string GpuDirectory::normal(std::string_view pci_bus_id) {
  std::string out;
  for (const char c : pci_bus_id)
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const size_t colon = out.find(':');
  if (colon == 8) out.erase(0, 4);  // the domain has four digits, but for hosts with very many
  if (!out.empty() && out.find('.') == std::string::npos) out += ".0";
  return out;
}

void GpuDirectory::set_identity(std::string_view pci_bus_id, Identity identity) {
  const std::string key = normal(pci_bus_id);
  if (key.empty()) return;
  base::MutexLock lock(mutex_);
  identities_.insert_or_assign(key, std::move(identity));
}

std::optional<GpuDirectory::Identity> GpuDirectory::identity(std::string_view pci_bus_id) const {
  const std::string key = normal(pci_bus_id);
  base::MutexLock lock(mutex_);
  const auto found = identities_.find(key);
  return found == identities_.end() ? std::nullopt : std::optional(found->second);
}

void GpuDirectory::set_xids(std::string_view pci_bus_id, Xids xids) {
  const std::string key = normal(pci_bus_id);
  base::MutexLock lock(mutex_);
  xids_.insert_or_assign(key, xids);
}

GpuDirectory::Xids GpuDirectory::xids(std::string_view pci_bus_id) const {
  const std::string key = normal(pci_bus_id);
  base::MutexLock lock(mutex_);
  const auto found = xids_.find(key);
  return found == xids_.end() ? Xids{} : found->second;
}

}  // namespace vagt::agent
