#include "node-agent/reboot/readiness.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace vagt::agent {
namespace {

constexpr std::string_view kModuleEndings[] = {"", ".zst", ".xz", ".gz"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

class Checker {
 public:
  explicit Checker(const Sources& sources) : sources_(sources) {
    if (!sources.fixtures.mtimes.empty())
      if (auto pairs = read_pairs(sources.fixtures.mtimes)) mtimes_ = std::move(pairs).value();
  }

  Readiness check() {
    out_.running = read_line(sources_.proc("sys/kernel/osrelease")).value_or(running_release());
    find_kernels();
    out_.flag_required = exists(sources_.root("run/reboot-required"));
    out_.nouveau_loaded = exists(sources_.sys("module/nouveau"));
    secure_boot();
    services();
    for (const std::string& kernel : kernels_)
      if (auto module = find_module(kernel)) out_.modules.push_back(describe(kernel, *module));
    // Nothing to say about a driver on a host that has none.
    const bool has_driver = !out_.modules.empty() || exists(sources_.proc("driver/nvidia"));
    if (!has_driver || out_.next.empty()) return std::move(out_);
    nouveau_blacklisted();
    module_for_next();
    dkms_built();
    initramfs_current();
    signature();
    return std::move(out_);
  }

 private:
  static std::string running_release() {
    utsname name{};
    return uname(&name) == 0 ? name.release : "";
  }

  void add(std::string name, bool ok, std::string found, std::string fix) {
    out_.checks.push_back(
        {std::move(name), ok, ok ? std::string() : std::move(found), std::move(fix)});
  }

  void find_kernels() {
    for (const std::string& file : list_directory(sources_.root("boot")))
      if (file.compare(0, 8, "vmlinuz-") == 0 && !contains(file, "rescue"))
        kernels_.push_back(file.substr(8));
    if (kernels_.empty())
      for (const std::string& release : list_directory(sources_.root("lib/modules")))
        kernels_.push_back(release);
    std::sort(kernels_.begin(), kernels_.end(), version_less);
    if (kernels_.empty()) return;
    out_.newest = out_.next = kernels_.back();
    // A pinned entry names its kernel.
    std::string text;
    if (!read_file(sources_.root("etc/default/grub"), text).ok()) return;
    std::string_view rest = text, line;
    while (next_line(rest, line)) {
      if (trim(line).substr(0, 13) != "GRUB_DEFAULT=") continue;
      for (const std::string& kernel : kernels_)
        if (ends_with(line.substr(0, line.find_last_not_of("\"' ") + 1), kernel))
          out_.next = kernel;
    }
  }

  std::string modules_directory(const std::string& kernel) const {
    for (const char* root : {"lib/modules/", "usr/lib/modules/"})
      if (std::string path = sources_.root(root + kernel); exists(path)) return path;
    return sources_.root("lib/modules/" + kernel);
  }

  // Path below the kernel's module directory.
  std::optional<std::string> find_module(const std::string& kernel) const {
    const std::string base = modules_directory(kernel);
    for (const char* place : {"updates/dkms/", "updates/", "extra/", "extra/nvidia/",
                              "kernel/drivers/video/", "kernel/nvidia-open/", "kernel/drivers/gpu/",
                              "weak-updates/nvidia/", "kernel/drivers/char/drm/"})
      for (const std::string_view ending : kModuleEndings) {
        std::string path = std::string(place) + "nvidia.ko" + std::string(ending);
        if (exists(base + '/' + path)) return path;
      }
    return std::nullopt;
  }

  InstalledModule describe(const std::string& kernel, const std::string& module) const {
    InstalledModule out;
    out.kernel = kernel;
    for (const std::string& version : dkms_versions())
      if (exists(sources_.root("var/lib/dkms/nvidia/" + version + '/' + kernel)))
        out.version = version;
    out.loaded = kernel == out_.running && exists(sources_.sys("module/nvidia"));
    if (out.loaded && out.version.empty())
      out.version = read_line(sources_.sys("module/nvidia/version")).value_or(std::string());
    if (ends_with(module, ".ko"))
      out.is_signed = has_signature(modules_directory(kernel) + '/' + module);
    return out;
  }

  static std::optional<bool> has_signature(const std::string& path) {
    constexpr std::string_view kTrailer = "~Module signature appended~\n";
    const int fd = open_regular(path);
    if (fd < 0) return std::nullopt;
    char end[kTrailer.size()];
    const bool read = lseek(fd, -static_cast<off_t>(kTrailer.size()), SEEK_END) >= 0 &&
                      ::read(fd, end, sizeof end) == static_cast<ssize_t>(sizeof end);
    close(fd);
    return read && std::string_view(end, sizeof end) == kTrailer;
  }

  std::vector<std::string> dkms_versions() const {
    std::vector<std::string> versions;
    for (const std::string& version : list_directory(sources_.root("var/lib/dkms/nvidia")))
      if (!version.empty() && version[0] >= '0' && version[0] <= '9') versions.push_back(version);
    return versions;
  }

  std::optional<double> mtime(const std::string& path) const {
    if (!sources_.fixtures.mtimes.empty()) {
      const auto found = mtimes_.find(path);
      return found == mtimes_.end() ? std::nullopt : to_number(found->second);
    }
    struct stat info {};
    if (stat(sources_.root(path).c_str(), &info) != 0) return std::nullopt;
    return static_cast<double>(info.st_mtim.tv_sec);
  }

  void nouveau_blacklisted() {
    bool listed = false;
    for (const char* directory :
         {"etc/modprobe.d", "usr/lib/modprobe.d", "lib/modprobe.d", "run/modprobe.d"})
      for (const std::string& file : list_directory(sources_.root(directory)))
        if (ends_with(file, ".conf"))
          listed = listed || blacklists_nouveau(sources_.root(directory) + '/' + file);
    listed = listed || kernel_line_blacklists() || !has_nouveau();
    add("nouveau_blacklisted", listed, "nothing keeps nouveau from taking the GPUs at boot",
        "echo 'blacklist nouveau' > /etc/modprobe.d/blacklist-nouveau.conf && update-initramfs -u");
  }

  static bool blacklists_nouveau(const std::string& path) {
    std::string text;
    if (!read_file(path, text).ok()) return false;
    std::string_view rest = text, line;
    while (next_line(rest, line))
      if (next_word(line) == "blacklist" && next_word(line) == "nouveau") return true;
    return false;
  }

  bool kernel_line_blacklists() const {
    std::string text;
    if (!read_file(sources_.root("etc/default/grub"), text).ok()) return false;
    std::string_view rest = text, line;
    while (next_line(rest, line))
      if (trim(line).substr(0, 18) == "GRUB_CMDLINE_LINUX" &&
          (contains(line, "modprobe.blacklist=nouveau") ||
           contains(line, "rd.driver.blacklist=nouveau")))
        return true;
    return false;
  }

  bool has_nouveau() const {
    const std::string directory =
        modules_directory(out_.next) + "/kernel/drivers/gpu/drm/nouveau/nouveau.ko";
    for (const std::string_view ending : kModuleEndings)
      if (exists(directory + std::string(ending))) return true;
    return false;
  }

  void module_for_next() {
    const auto module = find_module(out_.next);
    std::string dependencies;
    read_file(modules_directory(out_.next) + "/modules.dep", dependencies)
        .ignore("a missing list names nothing");
    const bool listed = module && contains(dependencies, *module + ':');
    add("module_for_newest_kernel", listed,
        module ? "nvidia.ko is not in modules.dep of " + out_.next
               : "no nvidia.ko for kernel " + out_.next,
        module ? "depmod " + out_.next : "dkms autoinstall -k " + out_.next);
  }

  void dkms_built() {
    const auto versions = dkms_versions();
    if (versions.empty()) return;  // not a DKMS module
    bool built = false;
    for (const std::string& version : versions) {
      const std::string path = sources_.root("var/lib/dkms/nvidia/" + version + '/' + out_.next);
      for (const std::string& arch : list_directory(path))
        built = built || exists(path + '/' + arch + "/module");
    }
    add("dkms_built", built, "DKMS has not built the driver for kernel " + out_.next,
        "apt install linux-headers-" + out_.next + " && dkms autoinstall -k " + out_.next);
  }

  void initramfs_current() {
    const std::string& kernel = out_.next;
    std::optional<double> image;
    for (const std::string& path :
         {"boot/initrd.img-" + kernel, "boot/initramfs-" + kernel + ".img"})
      if (!image && exists(sources_.root(path))) image = mtime(path);
    double newest = mtime("boot/vmlinuz-" + kernel).value_or(0);
    for (const std::string& file : list_directory(sources_.root("etc/modprobe.d")))
      newest = std::max(newest, mtime("etc/modprobe.d/" + file).value_or(0));
    if (const auto module = find_module(kernel))
      newest = std::max(newest, mtime("lib/modules/" + kernel + '/' + *module).value_or(0));
    add("initramfs_current", image && *image >= newest,
        image ? "the initramfs of " + kernel + " is older than the driver or its settings"
              : "kernel " + kernel + " has no initramfs",
        "update-initramfs -u -k " + kernel);
  }

  void secure_boot() {
    for (const std::string& variable : list_directory(sources_.sys("firmware/efi/efivars"))) {
      if (variable.compare(0, 11, "SecureBoot-") != 0) continue;
      std::string bytes;  // four of attributes, then the value
      if (read_file(sources_.sys("firmware/efi/efivars/" + variable), bytes).ok() &&
          bytes.size() >= 5)
        out_.secure_boot = bytes[4] == 1;
    }
  }

  void signature() {
    if (!out_.secure_boot.value_or(false)) return;
    for (const InstalledModule& module : out_.modules)
      if (module.kernel == out_.next && module.is_signed)
        add("secureboot_signature", *module.is_signed,
            "Secure Boot is on and nvidia.ko of " + out_.next + " is not signed",
            "mokutil --import /var/lib/dkms/mok.pub && dkms autoinstall --force");
  }

  // A unit is known when its file is there, and enabled when a target wants it.
  void services() {
    struct Service {
      std::string unit, pid_file, check;
      std::optional<bool>* up;
    };
    for (const Service& service :
         {Service{"nvidia-persistenced.service", "run/nvidia-persistenced/nvidia-persistenced.pid",
                  "persistence", &out_.persistenced_up},
          Service{"nvidia-fabricmanager.service", "run/nvidia-fabricmanager/nv-fabricmanager.pid",
                  "fabricmanager", &out_.fabricmanager_up}}) {
      bool installed = false, enabled = false;
      for (const char* directory :
           {"etc/systemd/system/", "usr/lib/systemd/system/", "lib/systemd/system/"})
        installed = installed || exists(sources_.root(directory + service.unit));
      for (const std::string& target : list_directory(sources_.root("etc/systemd/system")))
        enabled = enabled ||
                  (ends_with(target, ".wants") &&
                   is_link(sources_.root("etc/systemd/system/" + target + '/' + service.unit)));
      if (!installed) continue;
      const auto pid = read_number(sources_.root(service.pid_file));
      *service.up = pid && exists(sources_.proc(std::to_string(static_cast<int>(*pid))));
      add(service.check, enabled, service.unit + " is installed and not enabled",
          "systemctl enable --now " + service.unit);
    }
  }

  static bool is_link(const std::string& path) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0;
  }

  const Sources& sources_;
  std::map<std::string, std::string> mtimes_;
  std::vector<std::string> kernels_;  // oldest first
  Readiness out_;
};

}  // namespace

bool version_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto take = [&](std::string_view& text) {
        while (text.size() > 1 && text[0] == '0' && is_digit(text[1])) text.remove_prefix(1);
        size_t n = 0;
        while (n < text.size() && is_digit(text[n])) ++n;
        const std::string_view digits = text.substr(0, n);
        text.remove_prefix(n);
        return digits;
      };
      const std::string_view x = take(a), y = take(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() && !b.empty();
}

Readiness check_readiness(const Sources& sources) { return Checker(sources).check(); }

bool print_readiness(const Readiness& readiness, std::string& out) {
  bool good = true;
  const auto line = [&](bool ok, const std::string& what, const std::string& fix) {
    out += fmt::format("{}  {}\n", ok ? "ok  " : "FIX ", what);
    if (!ok && !fix.empty()) out += "        " + fix + '\n';
    good = good && ok;
  };
  out += fmt::format("running kernel {}, newest installed {}, next to start {}\n",
                     readiness.running, readiness.newest.empty() ? "none" : readiness.newest,
                     readiness.next.empty() ? "none" : readiness.next);
  line(!readiness.nouveau_loaded,
       readiness.nouveau_loaded ? "nouveau is loaded" : "nouveau is not loaded", "rmmod nouveau");
  for (const ReadinessCheck& check : readiness.checks)
    line(check.ok, check.ok ? check.name : check.name + ": " + check.found, check.fix);
  if (readiness.checks.empty()) out += "no NVIDIA driver is installed: nothing else to check\n";
  if (readiness.flag_required ||
      (!readiness.newest.empty() && readiness.newest != readiness.running))
    out += "a reboot is required\n";
  return good;
}

}  // namespace vagt::agent
