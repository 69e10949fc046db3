// What the head's index is made of: postings and label pairs, against the plain containers.
#include "tsdb/head_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tsdb/postings.h"

namespace vagt::tsdb {
namespace {

Slot any(std::mt19937& random, size_t below) { return static_cast<Slot>(random() % below); }

std::vector<Slot> slots_of(const Postings& postings) {
  std::vector<Slot> slots;
  postings.append_to(slots);
  return slots;
}

TEST(Postings, AnyOrderOfAddingAndRemovingReadsBackSorted) {
  std::mt19937 random(3);
  for (int round = 0; round < 60; ++round) {
    Postings postings;
    std::set<Slot> expected;
    Slot next = any(random, 1000);
    const unsigned widest = 1u << (random() % 20);
    for (int i = 0; i < 600; ++i) {
      if (random() % 8 == 0) {  // a slot used again
        if (const Slot slot = any(random, next + 1); expected.insert(slot).second)
          postings.add(slot);
      } else if (expected.insert(next).second) {
        postings.add(next);
      }
      next += 1 + any(random, widest);
      if (random() % 150 == 0) postings.tidy();
      if (random() % 150 != 0) continue;
      std::unordered_set<Slot> gone;
      for (const Slot slot : expected)
        if (random() % 3 == 0) gone.insert(slot);
      postings.remove(gone);
      std::erase_if(expected, [&](Slot slot) { return gone.contains(slot); });
    }
    ASSERT_EQ(postings.size(), expected.size());
    EXPECT_EQ(slots_of(postings), std::vector<Slot>(expected.begin(), expected.end()));
  }
}

TEST(Postings, NeighboursCostAByteAndOneSlotNothing) {
  Postings postings;
  postings.add(7'000'000);
  EXPECT_EQ(postings.memory_bytes(), 0u);
  for (Slot slot = 7'000'001; slot < 7'010'000; ++slot) postings.add(slot);
  postings.tidy();
  EXPECT_LE(postings.memory_bytes(), 10'010u);
  EXPECT_EQ(slots_of(postings).back(), 7'009'999u);
  postings.remove({7'000'000});
  EXPECT_EQ(slots_of(postings).front(), 7'000'001u);
}

TEST(PairLists, WhatIsGivenBackServesTheNextOfThatLength) {
  std::mt19937 random(4);
  PairLists lists;
  struct Kept {
    uint32_t place;
    std::vector<PairId> ids;
  };
  std::vector<Kept> kept;
  const auto check = [&](const Kept& each) {
    const PairRange range = lists.at(each.place, each.ids.size());
    EXPECT_EQ(std::vector<PairId>(range.begin(), range.end()), each.ids);
  };
  for (int i = 0; i < 20'000; ++i) {
    if (!kept.empty() && random() % 3 == 0) {
      std::swap(kept[random() % kept.size()], kept.back());
      check(kept.back());
      lists.give_back(kept.back().place, kept.back().ids.size());
      kept.pop_back();
      continue;
    }
    std::vector<PairId> ids(random() % 12);
    for (PairId& id : ids) id = static_cast<PairId>(random() >> random() % 32);
    const auto place = lists.keep(ids);
    ASSERT_TRUE(place);
    kept.push_back({*place, ids});
  }
  for (const Kept& each : kept) check(each);
  const size_t before = lists.memory_bytes();
  const std::vector<PairId> ids = {1, 300, UINT32_MAX};
  const uint32_t place = *lists.keep(ids);
  for (int i = 0; i < 1000; ++i) {
    lists.give_back(place, ids.size());
    ASSERT_EQ(*lists.keep(ids), place);
  }
  EXPECT_LE(lists.memory_bytes(), before + 16);
}

}  // namespace
}  // namespace vagt::tsdb
