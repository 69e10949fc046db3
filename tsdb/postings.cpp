#include "tsdb/postings.h"

#include <algorithm>
#include <new>

#include "tsdb/bytes.h"

namespace vagt::tsdb {
namespace {

constexpr uint32_t kLongest = 5;  // bytes of a difference
constexpr size_t kFewLate = 16;   // are not worth a rebuild

}  // namespace

void Postings::resize(uint32_t capacity) {
  if (capacity == 0) {
    bytes_.reset();
  } else {
    char* bytes = static_cast<char*>(std::realloc(bytes_.get(), capacity));
    if (bytes == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(bytes);
  }
  capacity_ = capacity;
}

void Postings::push(Slot slot) {
  if (count_++ == 0) {
    first_ = last_ = slot;
    return;
  }
  if (used_ + kLongest > capacity_) resize(used_ + used_ / 4 + 2 * kLongest);
  uint32_t difference = slot - last_;
  for (; difference >= 0x80; difference >>= 7)
    bytes_.get()[used_++] = static_cast<char>(difference | 0x80);
  bytes_.get()[used_++] = static_cast<char>(difference);
  last_ = slot;
}

void Postings::add(Slot slot) {
  if (count_ == 0 || slot > last_) {
    push(slot);
    return;
  }
  if (late_ == nullptr) late_ = std::make_unique<std::vector<Slot>>();
  late_->push_back(slot);
  if (late_->size() > std::max<size_t>(kFewLate, count_ / 8)) tidy();
}

void Postings::append_to(std::vector<Slot>& out) const {
  const size_t before = out.size();
  out.reserve(before + size());
  if (count_ > 0) out.push_back(first_);
  Slot at = first_;
  for (ByteReader in({bytes_.get(), used_}); !in.done();)
    out.push_back(at += static_cast<Slot>(in.varint()));
  if (late_ == nullptr) return;
  const auto middle = static_cast<std::ptrdiff_t>(out.size());
  out.insert(out.end(), late_->begin(), late_->end());
  std::sort(out.begin() + middle, out.end());
  std::inplace_merge(out.begin() + static_cast<std::ptrdiff_t>(before), out.begin() + middle,
                     out.end());
}

void Postings::rebuild(const std::vector<Slot>& slots) {
  late_.reset();
  used_ = count_ = 0;
  for (const Slot slot : slots) push(slot);
}

void Postings::remove(const std::unordered_set<Slot>& gone) {
  std::vector<Slot> slots;
  append_to(slots);
  std::erase_if(slots, [&](Slot slot) { return gone.contains(slot); });
  rebuild(slots);
  resize(used_);
}

void Postings::tidy() {
  if (late_ != nullptr) {
    std::vector<Slot> slots;
    append_to(slots);
    rebuild(slots);
  }
  if (capacity_ > used_ + 2 * kLongest) resize(used_);
}

size_t Postings::memory_bytes() const {
  return capacity_ +
         (late_ != nullptr ? sizeof(std::vector<Slot>) + late_->capacity() * sizeof(Slot) : 0);
}

}  // namespace vagt::tsdb
