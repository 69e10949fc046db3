// vagtctl silence add | query | expire | update | import
#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace vagt::cli {

struct SilenceTimes {
  std::string duration, start, end;  // Prometheus's duration; RFC 3339. `end` wins over `duration`
};

struct SilenceAdd {
  std::vector<std::string> matchers;
  SilenceTimes times{"1h", "", ""};
  std::string author, comment;
};
int silence_add(Context& context, const SilenceAdd& add);

struct SilenceQuery {
  std::vector<std::string> matchers;
  bool expired = false, quiet = false;
  std::string created_by, within;
};
int silence_query(Context& context, const SilenceQuery& query);

struct SilenceUpdate {
  std::vector<std::string> ids;
  SilenceTimes times;
  std::string comment;
  bool quiet = false;
};
int silence_update(Context& context, const SilenceUpdate& update);

int silence_expire(Context& context, const std::vector<std::string>& ids);

struct SilenceImport {
  std::string file;    // "" reads standard input
  bool force = false;  // as new ones, whatever ids they have
};
int silence_import(Context& context, const SilenceImport& import);

}  // namespace vagt::cli
