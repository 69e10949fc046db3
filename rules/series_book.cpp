#include "rules/series_book.h"

#include <cmath>

#include "base/sample.h"

namespace vagt::rules {

void ResultWriter::write(SeriesBook::Entry& entry, double value) {
  append(*entry.labels, entry.ref, std::isnan(value) && !is_stale(value) ? normal_nan() : value);
}

void ResultWriter::end(const Labels& labels, tsdb::SeriesRef ref) {
  append(labels, ref, stale_marker());
}

void ResultWriter::append(const Labels& labels, tsdb::SeriesRef& ref, double value) {
  if (!appender_) appender_ = store_.appender();
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (ref == tsdb::SeriesRef::None) {
      Result<tsdb::SeriesRef> found = appender_->series(labels);
      if (!found) {
        ++dropped_;
        if (first_error_.ok()) first_error_ = std::move(found).error();
        return;
      }
      ref = *found;
    }
    const Code code = appender_->append(ref, {at_, value});
    if (code == Code::NotFound) {
      ref = tsdb::SeriesRef::None;
      continue;
    }
    if (code == Code::Ok)
      ++samples_;
    else
      ++dropped_;
    return;
  }
}

Status ResultWriter::commit() {
  if (!appender_) return {};
  Status status = appender_->commit();
  appender_.reset();
  return status.ok() ? first_error_ : status;
}

}  // namespace vagt::rules
