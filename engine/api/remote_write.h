// The body of Prometheus remote write 1.0: snappy over protobuf, decoded without a protobuf
// library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/sample.h"
#include "base/status.h"
#include "tsdb/store.h"

namespace vagt::engine::api {

struct WriteSeries {
  Labels labels;
  std::vector<Sample> samples;
  bool histograms = false;  // native histogram samples were in it; they are not stored yet
};
struct WriteRequest {
  std::vector<WriteSeries> series;
  std::vector<std::pair<std::string, tsdb::Metadata>> metadata;
  // Samples of series whose labels are none; the other series go on without them.
  size_t refused = 0;
  Status first_refusal;  // what the first such series had wrong
};

// What `body` says it becomes, `most` at the most; 0: not snappy.
size_t inflated_size(std::string_view body, size_t most);
// InvalidArgument: not snappy, or malformed protobuf. LimitExceeded: more than max_bytes inflated.
Result<WriteRequest> decode_write_request(std::string_view body, size_t max_bytes);

// Appends everything; samples that the store refuses are counted and do not hold up the rest.
struct WriteOutcome {
  size_t stored = 0, refused = 0;
  Status first_refusal;  // why the first refused sample was; Ok when none was
};
Result<WriteOutcome> append_write_request(const WriteRequest& request, tsdb::Store& store);

}  // namespace vagt::engine::api
