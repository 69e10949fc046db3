// The folder's own metrics, under Prometheus's names where the meaning is the same.
#pragma once

#include <string_view>

#include "base/metrics.h"

namespace vagt::scrape {

struct ScrapeMetrics {
  explicit ScrapeMetrics(base::Registry& registry)
      : pools(registry.counter("prometheus_target_scrape_pools_total",
                               "Scrape pools made since the start.")),
        pool_reloads(registry.counter("prometheus_target_scrape_pool_reloads_total",
                                      "Reloads of scrape pools whose job changed.")),
        pools_failed(registry.counter("prometheus_target_scrape_pools_failed_total",
                                      "Scrape pools that could not be made.")),
        target_limit(registry.counter("prometheus_target_scrape_pool_exceeded_target_limit_total",
                                      "Times a job had more targets than its target_limit.")),
        sample_limit(registry.counter("prometheus_target_scrapes_exceeded_sample_limit_total",
                                      "Scrapes refused for their number of samples or labels.")),
        body_limit(registry.counter("prometheus_target_scrapes_exceeded_body_size_limit_total",
                                    "Scrapes refused for the size of their body.")),
        duplicates(registry.counter("prometheus_target_scrapes_sample_duplicate_timestamp_total",
                                    "Samples refused: their series or timestamp occurred before.")),
        out_of_order(registry.counter("prometheus_target_scrapes_sample_out_of_order_total",
                                      "Samples refused: older than what is stored.")),
        out_of_bounds(registry.counter("prometheus_target_scrapes_sample_out_of_bounds_total",
                                       "Samples refused: too old or too far ahead.")),
        refused(registry.counter("vagt_scrape_refused_series_total",
                                 "New series refused over the cardinality budget.")),
        scrapes(registry.counter("vagt_scrape_scrapes_total", "Scrapes finished.")),
        scrapes_failed(
            registry.counter("vagt_scrape_scrapes_failed_total", "Scrapes that ended with up 0.")),
        skipped(registry.counter("vagt_scrape_skipped_total",
                                 "Scrapes not begun because the one before was still under way.")),
        samples(registry.counter("vagt_scrape_samples_total", "Samples read from pages.")),
        commits_failed(
            registry.counter("vagt_scrape_commits_failed_total", "Scrapes the store refused.")),
        failure_log_errors(registry.counter("vagt_scrape_failure_log_errors_total",
                                            "Lines not written to scrape_failure_log_file.")),
        file_errors(registry.counter("prometheus_sd_file_read_errors_total",
                                     "Target files that could not be read.")),
        http_failures(registry.counter("prometheus_sd_http_failures_total",
                                       "Answers of http_sd_configs that were none.")),
        updates(registry.counter("prometheus_sd_received_updates_total",
                                 "Updates received from discovery sources.",
                                 Labels::of({{"name", "scrape"}}))),
        failed_configs(registry.gauge("prometheus_sd_failed_configs",
                                      "Discovery sections that are accepted but do not run.",
                                      Labels::of({{"name", "scrape"}}))) {}

  base::Counter &pools, &pool_reloads, &pools_failed, &target_limit, &sample_limit, &body_limit,
      &duplicates, &out_of_order, &out_of_bounds, &refused, &scrapes, &scrapes_failed, &skipped,
      &samples, &commits_failed, &failure_log_errors, &file_errors, &http_failures, &updates;
  base::Gauge& failed_configs;
};

}  // namespace vagt::scrape
