#include "engine/plans/plan_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/check.hpp"
#include "engine/plans/plan_size.hpp"

namespace eindb {

void PlanCache::resize(std::size_t entries) {
  capacity_ = entries;
  make_room();
}

const CachedPlan* PlanCache::hit(OfKey& plans, OfKey::iterator found) {
  const auto entry = *found;
  std::rotate(plans.begin(), found, std::next(found));
  entries_.splice(entries_.begin(), entries_, entry);
  ++counters_.hits;
  return &entry->cached;
}

const CachedPlan* PlanCache::miss(const OfKey* plans) {
  if (plans != nullptr && plans->size() >= kMostOfKey) erase(plans->back());
  ++counters_.misses;
  return nullptr;
}

void PlanCache::insert(std::string key, CachedPlan plan) {
  CHECK(plan.plan != nullptr && plan.for_cluster != nullptr, "a plan that is kept has a place for that of a cluster");
  Entry entry{std::move(key), std::move(plan), 0};
  if (capacity_ == 0 || entry.bytes() > most_bytes_ / 4) return;
  entries_.push_front(std::move(entry));
  bytes_ += entries_.front().bytes();
  auto& plans = by_key_[entries_.front().key];
  CHECK(plans.size() < kMostOfKey, "a search makes room for the plan that it did not find");
  plans.insert(plans.begin(), entries_.begin());
  make_room();
}

void PlanCache::drop(const QueryPlan& plan) {
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& known) { return known.cached.plan.get() == &plan; });
  if (entry != entries_.end()) erase(entry);
}

PlanSource PlanCache::count_for_cluster(bool is_hit) {
  if (capacity_ == 0) return PlanSource::Uncached;
  ++(is_hit ? counters_.worker_hits : counters_.worker_misses);
  return is_hit ? PlanSource::Cached : PlanSource::Made;
}

void PlanCache::count_again(const QueryPlan& plan) {
  // The entry was used a moment ago, so the search finds it near the front.
  const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& known) { return known.cached.plan.get() == &plan; });
  if (entry == entries_.end()) return;
  const auto bytes = approximate_bytes(*entry->cached.for_cluster);
  bytes_ = bytes_ - entry->for_cluster + bytes;
  entry->for_cluster = bytes;
  if (entry->bytes() > most_bytes_ / 4) erase(entry);
  make_room();
}

void PlanCache::erase(Entries::iterator entry) {
  CHECK(bytes_ >= entry->bytes(), "the bytes of a cache are those of its entries");
  bytes_ -= entry->bytes();
  const auto known = by_key_.find(entry->key);
  CHECK(known != by_key_.end(), "each entry of a cache is found by its key");
  std::erase(known->second, entry);
  if (known->second.empty()) by_key_.erase(known);
  entries_.erase(entry);
}

void PlanCache::make_room() {
  while (entries_.size() > capacity_ || bytes_ > most_bytes_) {
    erase(std::prev(entries_.end()));
    ++counters_.evictions;
  }
  DCHECK(is_valid(), "each entry of a cache is found by its key, and counted");
}

bool PlanCache::is_valid() const {
  std::size_t bytes = 0;
  for (const auto& entry : entries_) bytes += entry.bytes();
  std::size_t found = 0;
  for (const auto& [key, plans] : by_key_) found += plans.size();
  return bytes == bytes_ && entries_.size() == found;
}

}  // namespace eindb
