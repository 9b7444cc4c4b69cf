#include "engine/plan_cache.hpp"

#include <iterator>
#include <utility>

#include "common/check.hpp"

namespace eindb {

void PlanCache::resize(std::size_t entries) {
  capacity_ = entries;
  make_room();
}

std::shared_ptr<const QueryPlan> PlanCache::find(std::string_view key, const std::function<bool(CachedPlan&)>& holds) {
  if (capacity_ == 0) return nullptr;
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    const auto entry = found->second;
    if (holds(entry->cached)) {
      entries_.splice(entries_.begin(), entries_, entry);
      ++counters_.hits;
      return entry->cached.plan;
    }
    erase(entry);
  }
  ++counters_.misses;
  return nullptr;
}

void PlanCache::insert(std::string key, CachedPlan plan) {
  Entry entry{std::move(key), std::move(plan)};
  if (capacity_ == 0 || entry.bytes() > most_bytes_ / 4) return;
  entries_.push_front(std::move(entry));
  bytes_ += entries_.front().bytes();
  const bool is_new = by_key_.emplace(entries_.front().key, entries_.begin()).second;
  CHECK(is_new, "a plan is cached once");
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
