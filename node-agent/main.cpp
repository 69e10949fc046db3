// vagt-agent: parses flags and serves, or prints, one page of metrics.
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/version.h"
#include "node-agent/page_server.h"
#include "node-agent/reboot/marker.h"
#include "node-agent/reboot/readiness.h"
#include "node-agent/snapshot.h"
#include "node-agent/state_file.h"

namespace {

using namespace vagt;

// Blocked in every thread, so that only the wait below gets them.
sigset_t block_stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);  // there is nothing to reload
  return set;
}

int fail(const base::Logger& log, const Status& status) {
  log.error("cannot start", {{"reason", status.message()}});
  return 1;
}

int serve(agent::Agent& agent, const agent::Options& options, const sigset_t& stop_signals) {
  const base::Logger& log = options.sources.log;
  options.sources.state->check(options.sources.state_dir, log.with_component("state"));
  auto server = agent::PageServer::start(agent, options);
  if (!server) return fail(log, server.error());
  agent.start();
  for (const uint16_t port : (*server)->ports())
    log.info("serving", {{"version", kVersion}, {"port", port}});
  int signal = 0;
  sigwait(&stop_signals, &signal);
  log.info("stopping", {{"signal", signal}});
  return 0;
}

int doctor(const agent::Options& options) {
  std::string text;
  const bool good = agent::print_readiness(agent::check_readiness(options.sources), text);
  std::fputs(text.c_str(), stdout);
  return good ? 0 : 1;
}

// The marker first, on the disk, then the reboot.
int mark_reboot(const agent::Options& options) {
  const char* user = std::getenv("SUDO_USER");
  if (user == nullptr) user = std::getenv("USER");
  agent::RebootMarker marker;
  marker.expires_at = SystemClock().now() + options.reboot_ttl;
  marker.reason = options.reboot_reason;
  marker.by = user != nullptr ? user : "root";
  marker.boot_id =
      agent::read_line(options.sources.proc("sys/kernel/random/boot_id")).value_or(std::string());
  const std::string path = agent::marker_path(options.sources.state_dir);
  if (const Status status = agent::save_state(path, agent::print_marker(marker)); !status.ok()) {
    std::fprintf(stderr, "vagt-agent: %s\n", status.message().c_str());
    return 1;
  }
  // Written by root, read by the agent, which runs as the directory's owner.
  struct stat directory {};
  if (stat(options.sources.state_dir.c_str(), &directory) == 0 &&
      chown(path.c_str(), directory.st_uid, directory.st_gid) != 0)
    std::fprintf(stderr, "vagt-agent: %s stays %u's: the agent may not be able to read it\n",
                 path.c_str(), geteuid());
  std::printf("%s written\n", path.c_str());
  if (!options.reboot) return 0;
  execlp("systemctl", "systemctl", "reboot", nullptr);
  std::perror("vagt-agent: systemctl reboot");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  agent::Options options;
  agent::Exit exit;
  if (!agent::parse_flags(argc, argv, options, exit)) {
    std::fputs(exit.out.c_str(), stdout);
    std::fputs(exit.err.c_str(), stderr);
    return exit.code;
  }
  if (options.doctor) return doctor(options);
  if (options.mark_reboot) return mark_reboot(options);
  const sigset_t stop_signals = block_stop_signals();
  const SystemClock clock;
  options.sources.clock = &clock;
  options.sources.log = base::make_stderr_logger(options.log_level, options.log_format);
  auto made = agent::Agent::make(options);
  if (!made) return fail(options.sources.log, made.error());
  if (options.snapshot) {
    const Status status = agent::write_snapshots(**made, options, stop_signals);
    return status.ok() ? 0 : fail(options.sources.log, status);
  }
  if (!options.collect_once) return serve(**made, options, stop_signals);
  const std::string page = (*made)->collect_once();
  const bool written = std::fwrite(page.data(), 1, page.size(), stdout) == page.size();
  return written && std::fflush(stdout) == 0 ? 0 : 1;
}
