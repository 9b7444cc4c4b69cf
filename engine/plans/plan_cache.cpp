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

const CachedPlan* PlanCache::find(std::string_view key, const std::function<bool(CachedPlan&)>& holds) {
  if (capacity_ == 0) return nullptr;
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    const auto entry = found->second;
    if (holds(entry->cached)) {
      entries_.splice(entries_.begin(), entries_, entry);
      ++counters_.hits;
      return &entry->cached;
    }
    erase(entry);
  }
  ++counters_.misses;
  return nullptr;
}

void PlanCache::insert(std::string key, CachedPlan plan) {
  Entry entry{std::move(key), std::move(plan), 0};
  if (capacity_ == 0 || entry.bytes() > most_bytes_ / 4) return;
  entries_.push_front(std::move(entry));
  bytes_ += entries_.front().bytes();
  const bool is_new = by_key_.emplace(entries_.front().key, entries_.begin()).second;
  CHECK(is_new, "a plan is cached once");
  make_room();
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
  by_key_.erase(entry->key);
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
  return bytes == bytes_ && entries_.size() == by_key_.size();
}

}  // namespace eindb
