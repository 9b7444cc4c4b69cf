#include "executor/memory_budget.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "executor/never_fits.hpp"
#include "executor/tile_buffer.hpp"

namespace eindb {
namespace {

/// The interval at which a task without room checks again, since tiles released by other tasks cause no notification.
constexpr std::chrono::milliseconds kPatience{1};

std::string in_mebibytes(double bytes) {
  return std::to_string(static_cast<std::int64_t>(std::ceil(bytes / (1 << 20)))) + " MiB";
}

// A tile together with its share of the budget.
struct TrackedTile {
  Tile tile;
  std::shared_ptr<MemoryBudget> budget;

  TrackedTile(Tile t, std::shared_ptr<MemoryBudget> b) : tile(std::move(t)), budget(std::move(b)) {}
  TrackedTile(const TrackedTile&) = delete;
  TrackedTile& operator=(const TrackedTile&) = delete;
  // If the tile's elements have moved to a tile in progress, they count there.
  ~TrackedTile() {
    if (tile.is_of_cells() || tile.bytes().data() != nullptr)
      budget->release(static_cast<std::int64_t>(tile.byte_size()));
  }
};

}  // namespace

MemoryBudget::MemoryBudget(std::int64_t limit, std::string scratch_directory, std::int64_t memory_limit)
    : limit_(limit),
      memory_limit_(memory_limit == 0 ? limit : memory_limit),
      buffer_(std::make_unique<TileBuffer>(*this, std::move(scratch_directory))) {}

MemoryBudget::~MemoryBudget() = default;

std::shared_ptr<MemoryBudget> MemoryBudget::create(std::int64_t limit, std::string scratch_directory,
                                                   std::int64_t memory_limit) {
  CHECK(limit >= 0 && memory_limit >= 0, "a limit is a number of bytes");
  // In one piece with its count of owners.
  struct Made final : MemoryBudget {
    Made(std::int64_t bytes, std::string directory, std::int64_t setting)
        : MemoryBudget(bytes, std::move(directory), setting) {}
  };
  return std::make_shared<Made>(limit, std::move(scratch_directory), memory_limit);
}

bool MemoryBudget::try_reserve(std::int64_t bytes) noexcept {
  auto used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - used - idle_bytes()) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  raise_peak(used + bytes);
  return true;
}

void MemoryBudget::add(std::int64_t bytes) noexcept {
  raise_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void MemoryBudget::raise_peak(std::int64_t used) noexcept {
  auto peak = peak_.load(std::memory_order_relaxed);
  while (peak < used && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

void MemoryBudget::reserve(std::int64_t bytes) {
  CHECK(bytes >= 0, "what is taken is not given back");
  if (take_in_advance(bytes)) return;
  while (!try_reserve(bytes)) make_room(bytes);
}

bool MemoryBudget::take_in_advance(std::int64_t bytes) noexcept {
  auto* const advance = Advance::current_;
  if (advance == nullptr || advance->budget_.get() != this || advance->left_ < bytes) return false;
  advance->left_ -= bytes;
  return true;
}

void MemoryBudget::make_room(std::int64_t bytes) {
  const auto ended = ended_.load();
  const auto used = this->used();
  if (bytes <= limit_) {
    const auto missing = bytes - (limit_ - used - idle_bytes());
    if (missing <= 0) return;
    if (keeper_ != nullptr && keeper_->evict(missing) > 0) return;
    if (buffer_->evict(missing) > 0) return;
    // A task that has just ended may have released memory since the last check.
    if (wait_for_others() || ended_.load() != ended) return;
  }
  const auto setting = static_cast<double>(memory_limit_);
  const auto needed = (static_cast<double>(used) + static_cast<double>(bytes)) / static_cast<double>(limit_) * setting;
  const auto message = "the statement needs at least " + in_mebibytes(needed) + ", more than the memory_limit of " +
                       in_mebibytes(setting);
  constexpr double kMost = 0x1p62;
  const auto hint = hint_ ? hint_(static_cast<std::int64_t>(std::min(std::ceil(needed), kMost)))
                          : "raise it with SET memory_limit = '...'";
  if (bytes > limit_) throw NeverFits(ErrorKind::MemoryLimit, message, std::nullopt, hint);
  throw Error(ErrorKind::MemoryLimit, message, std::nullopt, hint);
}

std::int64_t MemoryBudget::written_bytes() const { return buffer_->written_bytes(); }

bool MemoryBudget::wait_for_others() {
  const bool others_go_on = ++waiting_ < tasks_ || buffer_->is_evicting();
  if (others_go_on) {
    std::unique_lock lock(mutex_);
    released_.wait_for(lock, kPatience);
  }
  --waiting_;
  return others_go_on;
}

void MemoryBudget::release(std::int64_t bytes) noexcept {
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  if (waiting_.load(std::memory_order_relaxed) > 0) released_.notify_all();
}

TilePtr MemoryBudget::track(Tile tile) {
  MemoryReservation reservation(shared_from_this(), static_cast<std::int64_t>(tile.byte_size()));
  return track(CountedTile{std::move(reservation), std::move(tile)});
}

TilePtr MemoryBudget::track(CountedTile counted) {
  CHECK(counted.reservation.bytes() == static_cast<std::int64_t>(counted.tile.byte_size()), "all of a tile counts");
  auto tracked = std::make_shared<TrackedTile>(std::move(counted.tile), shared_from_this());
  counted.reservation.hand_over();
  return {tracked, &tracked->tile};
}

CountedTile MemoryBudget::untrack(TilePtr tile) {
  CHECK(tile.use_count() == 1, "a tile is worked on by one task");
  const auto bytes = static_cast<std::int64_t>(tile->byte_size());
  auto& own = const_cast<Tile&>(*tile);  // the object belongs to a TrackedTile and is not const
  return {MemoryReservation::adopt(shared_from_this(), bytes), std::move(own)};
}

CountedTile counted_tile(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape, DType becomes) {
  const auto size = static_cast<std::int64_t>(std::max(size_of(type), size_of(becomes)));
  MemoryReservation reservation(memory, checked_multiply(shape.element_count(), size));
  return {std::move(reservation), Tile::uninitialized(type, std::move(shape))};
}

CountedTile counted_zeros(const std::shared_ptr<MemoryBudget>& memory, DType type, Shape shape) {
  MemoryReservation reservation(memory,
                                checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(type))));
  return {std::move(reservation), Tile::zeros(type, std::move(shape))};
}

}  // namespace eindb
