// A job with everything compiled that a scrape would otherwise work out each time. Immutable,
// shared.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "net/http_client.h"
#include "scrape/sample_labels.h"
#include "scrape/scrape_config.h"

namespace vagt::scrape {

struct ScrapeJob {
  ScrapeConfig config;
  Relabeler relabel;  // of targets
  SampleRules samples;
  net::HttpClient::Profile profile;
  std::string accept;  // header
};
using JobPtr = std::shared_ptr<const ScrapeJob>;

// InvalidArgument: a rule does not compile; the message names the job.
Result<JobPtr> compile_job(ScrapeConfig config);

}  // namespace vagt::scrape
