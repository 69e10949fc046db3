#include "tsdb/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <filesystem>

#include "tsdb/database_options.h"

namespace vagt::tsdb {
namespace {

// RocksDB insists on a family called "default": meta is that one.
constexpr std::array<const char*, kFamilies> kNames = {"default", "journal",  "head", "series",
                                                       "chunks",  "postings", "state"};

rocksdb::Slice slice(std::string_view s) { return {s.data(), s.size()}; }
std::string_view view(const rocksdb::Slice& s) { return {s.data(), s.size()}; }

Status to_status(const rocksdb::Status& s) {
  if (s.ok()) return {};
  if (s.IsNoSpace()) return {Code::Unavailable, "disk full: " + s.ToString()};
  if (s.IsCorruption()) return {Code::Corruption, s.ToString()};
  if (s.IsNotFound()) return {Code::NotFound, s.ToString()};
  return {Code::Io, s.ToString()};
}

}  // namespace

struct Batch::Impl {
  // Families are resolved when the batch is written: handles belong to a Database.
  enum class Kind : uint8_t { Put, Append, Erase, EraseRange };
  struct Op {
    Kind kind;
    Family family;
    uint32_t key_size;
    size_t value_size;
  };
  std::vector<Op> ops;
  std::string bytes;  // keys and values, one after the other
  void add(Kind kind, Family family, std::string_view key, std::string_view value) {
    ops.push_back({kind, family, static_cast<uint32_t>(key.size()), value.size()});
    bytes.append(key).append(value);
  }
};

Batch::Batch() : impl_(std::make_unique<Impl>()) {}
Batch::~Batch() = default;
void Batch::put(Family family, std::string_view key, std::string_view value) {
  impl_->add(Impl::Kind::Put, family, key, value);
}
void Batch::append(Family family, std::string_view key, std::string_view value) {
  impl_->add(Impl::Kind::Append, family, key, value);
}
void Batch::erase(Family family, std::string_view key) {
  impl_->add(Impl::Kind::Erase, family, key, {});
}
void Batch::erase_range(Family family, std::string_view begin, std::string_view end) {
  impl_->add(Impl::Kind::EraseRange, family, begin, end);
}
size_t Batch::bytes() const { return impl_->bytes.size() + impl_->ops.size() * 16; }
bool Batch::empty() const { return impl_->ops.empty(); }
void Batch::clear() {
  impl_->ops.clear();
  impl_->bytes.clear();
}

struct Scan::Impl {
  std::unique_ptr<rocksdb::Iterator> it;
};
Scan::Scan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scan::~Scan() = default;
void Scan::seek(std::string_view key) { impl_->it->Seek(slice(key)); }
void Scan::seek_to_last() { impl_->it->SeekToLast(); }
bool Scan::valid() const { return impl_->it->Valid(); }
void Scan::next() { impl_->it->Next(); }
std::string_view Scan::key() const { return view(impl_->it->key()); }
std::string_view Scan::value() const { return view(impl_->it->value()); }
Status Scan::status() const { return to_status(impl_->it->status()); }

struct Database::Impl {
  std::unique_ptr<rocksdb::DB> db;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilies> handles{};
  std::vector<rocksdb::ColumnFamilyHandle*> all;
  rocksdb::ColumnFamilyHandle* of(Family family) const {
    return handles[static_cast<size_t>(family)];
  }
  ~Impl() {
    for (auto* handle : all) db->DestroyColumnFamilyHandle(handle);
    if (db != nullptr) db->Close().PermitUncheckedError();
  }
};

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Database::~Database() = default;

namespace {

// RocksDB says all of this as an error about the file LOCK.
Status not_opened(const std::string& path, const rocksdb::Status& why) {
  const std::string text = why.ToString();
  const auto says = [&text](std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  if (why.IsIOError() && (says("lock hold by current process") || says("While lock file")))
    return {Code::Unavailable,
            "the data directory " + path + " is in use by another process: " + text};
  if (why.IsIOError() && (says("Read-only file system") || says("Permission denied")))
    return Status::io("the data directory " + path + " cannot be written: " + text);
  return to_status(why).at(path);
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const DatabaseOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.path, error);
  if (error) return Status::io("cannot create " + options.path + ": " + error.message());
  const auto cache = rocksdb::NewLRUCache(options.cache_bytes, 2);
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (size_t i = 0; i < kFamilies; ++i)
    families.emplace_back(kNames[i], family_options(static_cast<Family>(i), cache));
  // A new database makes its families in one go: one by one, each costs several fsyncs.
  std::vector<rocksdb::ColumnFamilyDescriptor> later;
  if (!std::filesystem::exists(options.path + "/CURRENT", error)) {
    later.assign(families.begin() + 1, families.end());
    families.resize(1);
  }
  auto impl = std::make_unique<Impl>();
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      rocksdb::DB::Open(database_options(options), options.path, families, &impl->all, &db);
  if (!opened.ok()) return not_opened(options.path, opened);
  impl->db.reset(db);
  if (!later.empty()) {
    std::vector<rocksdb::ColumnFamilyHandle*> made;
    const rocksdb::Status created = db->CreateColumnFamilies(later, &made);
    impl->all.insert(impl->all.end(), made.begin(), made.end());
    if (!created.ok()) return Status(to_status(created).at(options.path));
  }
  for (size_t i = 0; i < kFamilies; ++i) impl->handles[i] = impl->all[i];
  return std::unique_ptr<Database>(new Database(std::move(impl)));
}

Status Database::write(const Batch& batch, bool sync) {
  using Kind = Batch::Impl::Kind;
  rocksdb::WriteBatch out(batch.bytes() + 64);
  rocksdb::Status s;
  const char* at = batch.impl_->bytes.data();
  for (const auto& op : batch.impl_->ops) {
    auto* family = impl_->of(op.family);
    const rocksdb::Slice key(at, op.key_size), value(at + op.key_size, op.value_size);
    at += op.key_size + op.value_size;
    switch (op.kind) {
      case Kind::Put:
        s = out.Put(family, key, value);
        break;
      case Kind::Append:
        s = out.Merge(family, key, value);
        break;
      case Kind::Erase:
        s = out.Delete(family, key);
        break;
      case Kind::EraseRange:
        s = out.DeleteRange(family, key, value);
        break;
    }
    if (!s.ok()) return to_status(s);
  }
  rocksdb::WriteOptions how;
  how.sync = sync;
  return to_status(impl_->db->Write(how, &out));
}

namespace {

Result<std::optional<std::string>> get_one(rocksdb::DB& db, const rocksdb::ReadOptions& how,
                                           rocksdb::ColumnFamilyHandle* family,
                                           std::string_view key) {
  std::string value;
  const rocksdb::Status s = db.Get(how, family, slice(key), &value);
  if (s.IsNotFound()) return std::optional<std::string>();
  if (!s.ok()) return to_status(s);
  return std::optional<std::string>(std::move(value));
}

}  // namespace

Result<std::optional<std::string>> Database::get(Family family, std::string_view key) const {
  return get_one(*impl_->db, {}, impl_->of(family), key);
}

Result<std::optional<std::string>> Database::peek(Family family, std::string_view key) const {
  rocksdb::ReadOptions how;
  how.fill_cache = false;
  return get_one(*impl_->db, how, impl_->of(family), key);
}

std::unique_ptr<Scan> Database::scan(Family family) const {
  auto impl = std::make_unique<Scan::Impl>();
  impl->it.reset(impl_->db->NewIterator({}, impl_->of(family)));
  return std::unique_ptr<Scan>(new Scan(std::move(impl)));
}

std::unique_ptr<Scan> Database::sweep(Family family) const {
  rocksdb::ReadOptions how;
  how.fill_cache = false;
  how.readahead_size = 512u << 10;
  auto impl = std::make_unique<Scan::Impl>();
  impl->it.reset(impl_->db->NewIterator(how, impl_->of(family)));
  return std::unique_ptr<Scan>(new Scan(std::move(impl)));
}

Status Database::sync_log() { return to_status(impl_->db->SyncWAL()); }

Status Database::flush() {
  return to_status(impl_->db->Flush(rocksdb::FlushOptions(), impl_->all));
}

Status Database::compact(Family family) {
  rocksdb::CompactRangeOptions how;
  how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  return to_status(impl_->db->CompactRange(how, impl_->of(family), nullptr, nullptr));
}

Status Database::drop_range(Family family, std::string_view begin, std::string_view end) {
  const rocksdb::Slice from = slice(begin), to = slice(end);
  const rocksdb::Status files =
      rocksdb::DeleteFilesInRange(impl_->db.get(), impl_->of(family), &from, &to, false);
  if (!files.ok()) return to_status(files);
  // It skips the newest level and files that straddle the range.
  return to_status(impl_->db->DeleteRange({}, impl_->of(family), from, to));
}

Status Database::resume() { return to_status(impl_->db->Resume()); }

Status Database::copy_to(const std::string& path) const {
  rocksdb::Checkpoint* checkpoint = nullptr;
  const rocksdb::Status made = rocksdb::Checkpoint::Create(impl_->db.get(), &checkpoint);
  const std::unique_ptr<rocksdb::Checkpoint> owner(checkpoint);
  if (!made.ok()) return to_status(made);
  return to_status(checkpoint->CreateCheckpoint(path));
}

uint64_t Database::memtable_bytes() const {
  uint64_t total = 0;
  for (rocksdb::ColumnFamilyHandle* family : impl_->all) {
    uint64_t bytes = 0;
    impl_->db->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
    total += bytes;
  }
  return total;
}

uint64_t Database::file_bytes(Family family) const {
  uint64_t bytes = 0;
  impl_->db->GetIntProperty(impl_->of(family), rocksdb::DB::Properties::kLiveSstFilesSize, &bytes);
  return bytes;
}

uint64_t Database::range_bytes(Family family, std::string_view begin, std::string_view end) const {
  const rocksdb::Range range(slice(begin), slice(end));
  uint64_t bytes = 0;
  rocksdb::SizeApproximationOptions how;
  how.include_memtables = true;
  impl_->db->GetApproximateSizes(how, impl_->of(family), &range, 1, &bytes).PermitUncheckedError();
  return bytes;
}

Status Database::verify() const { return to_status(impl_->db->VerifyChecksum()); }

}  // namespace vagt::tsdb
