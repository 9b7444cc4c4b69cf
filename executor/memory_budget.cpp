#include "executor/memory_budget.hpp"

#include <string>

#include "common/error.hpp"

namespace eindb {
namespace {

std::string in_mebibytes(std::int64_t bytes) { return std::to_string((bytes + (1 << 20) - 1) >> 20U) + " MiB"; }

// A tile together with its share of the budget.
struct TrackedTile {
  Tile tile;
  std::shared_ptr<MemoryBudget> budget;

  TrackedTile(Tile t, std::shared_ptr<MemoryBudget> b) : tile(std::move(t)), budget(std::move(b)) {}
  TrackedTile(const TrackedTile&) = delete;
  TrackedTile& operator=(const TrackedTile&) = delete;
  ~TrackedTile() { budget->release(static_cast<std::int64_t>(tile.byte_size())); }
};

}  // namespace

std::shared_ptr<MemoryBudget> MemoryBudget::create(std::int64_t limit) {
  return std::shared_ptr<MemoryBudget>(new MemoryBudget(limit));
}

void MemoryBudget::reserve(std::int64_t bytes) {
  const auto now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now > limit_) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw Error(
        ErrorKind::MemoryLimit,
        "the statement needs at least " + in_mebibytes(now) + ", more than the memory_limit of " + in_mebibytes(limit_),
        std::nullopt, "raise it with SET memory_limit = '...'");
  }
  auto peak = peak_.load(std::memory_order_relaxed);
  while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void MemoryBudget::release(std::int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

TilePtr MemoryBudget::track(Tile tile) {
  reserve(static_cast<std::int64_t>(tile.byte_size()));
  auto tracked = std::make_shared<TrackedTile>(std::move(tile), shared_from_this());
  return {tracked, &tracked->tile};
}

}  // namespace eindb
