// How RocksDB is set, for database.cpp alone.
#pragma once

#include <memory>

#include "tsdb/database.h"

namespace rocksdb {
class Cache;
struct ColumnFamilyOptions;
struct DBOptions;
}  // namespace rocksdb

namespace vagt::tsdb {

rocksdb::ColumnFamilyOptions family_options(Family family,
                                            const std::shared_ptr<rocksdb::Cache>& cache);
rocksdb::DBOptions database_options(const DatabaseOptions& options);

}  // namespace vagt::tsdb
