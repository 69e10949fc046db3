#include <fmt/core.h>

#include <set>

#include "base/number_text.h"
#include "engine/api/v1_envelope.h"
#include "engine/api/v1_query.h"

namespace vagt::engine::api {
namespace {

// The time range, matchers and limit of series and label requests.
struct MetadataParams {
  Timestamp start = kMinTime, end = kMaxTime;
  MatcherSets sets;
  size_t limit = 0;
};

Result<MetadataParams> read_metadata_params(const net::ServerRequest& request) {
  MetadataParams params;
  VAGT_TRY(params.limit, limit_param(request));
  VAGT_TRY(params.start, time_param(request, "start", kMinTime));
  VAGT_TRY(params.end, time_param(request, "end", kMaxTime));
  if (params.end < params.start)
    return Status::invalid(
        "invalid parameter \"end\": end timestamp must not be before start time");
  VAGT_TRY(params.sets, match_params(request));
  return params;
}

net::ServerResponse series(const QueryContext& context, const net::ServerRequest& request) {
  const auto params = read_metadata_params(request);
  if (!params.ok()) return v1_error(V1Error::BadData, params.error().message());
  if (params->sets.empty()) return v1_error(V1Error::BadData, "no match[] parameter provided");
  const auto querier = context.store.querier(params->start, params->end);
  std::set<Labels> found;
  for (const auto& matchers : params->sets) {
    const auto cursor = querier->select(matchers, {params->start, params->end, "series"});
    while (cursor->next()) {
      if (request.closed.stop_requested())
        return v1_error(V1Error::Canceled, "the client went away");
      found.insert(cursor->labels());
    }
    if (const Status status = cursor->status(); !status.ok())
      return v1_error(v1_error_of(status), status.message());
  }
  std::vector<std::string> warnings;
  if (params->limit > 0 && found.size() > params->limit)
    warnings.emplace_back("results truncated due to limit");
  return v1_success(
      [&](base::JsonWriter& w) {
        w.begin_array();
        size_t written = 0;
        for (const Labels& labels : found) {
          if (params->limit > 0 && written++ == params->limit) break;
          w.labels(labels);
        }
        w.end_array();
      },
      warnings);
}

// Runs `ask` once per matcher set (once without matchers when there is none) and answers the sorted
// union.
template <class Ask>
net::ServerResponse string_union(const QueryContext& context, const net::ServerRequest& request,
                                 Ask ask) {
  const auto params = read_metadata_params(request);
  if (!params.ok()) return v1_error(V1Error::BadData, params.error().message());
  const auto querier = context.store.querier(params->start, params->end);
  MatcherSets sets = params->sets;
  if (sets.empty()) sets.emplace_back();
  std::set<std::string> found;
  for (const auto& matchers : sets) {
    Result<std::vector<std::string>> part = ask(*querier, matchers);
    if (!part.ok()) return v1_error(v1_error_of(part.error()), part.error().message());
    found.insert(part->begin(), part->end());
  }
  std::vector<std::string> warnings;
  if (params->limit > 0 && found.size() > params->limit)
    warnings.emplace_back("results truncated due to limit");
  return v1_success(
      [&](base::JsonWriter& w) {
        w.begin_array();
        size_t written = 0;
        for (const std::string& text : found) {
          if (params->limit > 0 && written++ == params->limit) break;
          w.string(text);
        }
        w.end_array();
      },
      warnings);
}

net::ServerResponse label_names(const QueryContext& context, const net::ServerRequest& request) {
  return string_union(context, request,
                      [](tsdb::Querier& querier, const std::vector<Matcher>& matchers) {
                        return querier.label_names(matchers);
                      });
}

// `U__` names carry what a path cannot: `_2e_` is a dot, `__` an underscore.
std::string unescape_label_name(const std::string& name) {
  if (!name.starts_with("U__")) return name;
  std::string out;
  for (size_t i = 3; i < name.size(); ++i) {
    if (name[i] != '_') {
      out += name[i];
      continue;
    }
    if (i + 1 < name.size() && name[i + 1] == '_') {
      out += '_';
      ++i;
      continue;
    }
    const size_t close = name.find('_', i + 1);
    if (close == std::string::npos || close == i + 1) return name;
    uint32_t rune = 0;
    for (size_t j = i + 1; j < close; ++j) {
      const char c = name[j];
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
      if (digit < 0 || rune > 0x10FFF) return name;
      rune = rune * 16 + static_cast<uint32_t>(digit);
    }
    append_utf8(out, rune);
    i = close;
  }
  return out;
}

net::ServerResponse label_values(const QueryContext& context, const net::ServerRequest& request,
                                 const PathArgs& args) {
  const std::string name = unescape_label_name(args[0]);
  if (!is_utf8_name(name))
    return v1_error(V1Error::BadData, fmt::format("invalid label name: {}", quote(name)));
  return string_union(context, request,
                      [&name](tsdb::Querier& querier, const std::vector<Matcher>& matchers) {
                        return querier.label_values(name, matchers);
                      });
}

net::ServerResponse metadata(const QueryContext& context, const net::ServerRequest& request) {
  const auto limit = request.param("limit").value_or("");
  size_t most = SIZE_MAX;
  if (!limit.empty()) {
    const auto n = parse_int(limit);
    if (!n) return v1_error(V1Error::BadData, "limit must be a number");
    if (*n >= 0) most = static_cast<size_t>(*n);
  }
  const auto found = context.store.metadata(request.param("metric").value_or(""));
  return v1_success([&](base::JsonWriter& w) {
    w.begin_object();
    for (size_t i = 0; i < found.size() && i < most; ++i) {
      const auto& [name, data] = found[i];
      w.key(name).begin_array().begin_object();
      w.key("type").string(data.type).key("help").string(data.help).key("unit").string(data.unit);
      w.end_object().end_array();
    }
    w.end_object();
  });
}

}  // namespace

void add_series_routes(Router& router, const QueryContext& context) {
  using Function = net::ServerResponse (*)(const QueryContext&, const net::ServerRequest&);
  const auto bind = [&context](Function function) {
    return [&context, function](const net::ServerRequest& request, const PathArgs&) {
      return function(context, request);
    };
  };
  router.get_or_post("/api/v1/series", Lane::Query, bind(series));
  router.get_or_post("/api/v1/labels", Lane::Query, bind(label_names));
  router.get("/api/v1/metadata", Lane::Query, bind(metadata));
  router.get("/api/v1/label/{name}/values", Lane::Query,
             [&context](const net::ServerRequest& request, const PathArgs& args) {
               return label_values(context, request, args);
             });
}

}  // namespace vagt::engine::api
