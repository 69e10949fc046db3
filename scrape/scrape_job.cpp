#include "scrape/scrape_job.h"

#include <fmt/core.h>

namespace vagt::scrape {
namespace {

// Of one page where sample_limit does not say otherwise: more would take hundreds of megabytes.
constexpr uint64_t kMostSamples = 500'000;

}  // namespace

Result<JobPtr> compile_job(ScrapeConfig config) {
  const std::string where = fmt::format("scrape config {}", quote(config.job_name));
  auto job = std::make_shared<ScrapeJob>();
  auto relabel = Relabeler::compile(config.relabel, config.name_scheme);
  if (!relabel) return std::move(relabel).at(where).error();
  auto metric_relabel = Relabeler::compile(config.metric_relabel, config.name_scheme);
  if (!metric_relabel) return std::move(metric_relabel).at(where).error();
  job->relabel = std::move(*relabel);
  job->samples = {config.honor_labels, config.honor_timestamps, config.track_timestamps_staleness,
                  config.name_scheme,  config.limits,           std::move(*metric_relabel)};
  if (job->samples.limits.samples == 0) job->samples.limits.samples = kMostSamples;
  job->profile = std::make_shared<const net::HttpClientConfig>(config.http);
  job->accept = exposition::accept_header(config.protocols, config.escaping);
  job->config = std::move(config);
  return JobPtr(std::move(job));
}

}  // namespace vagt::scrape
