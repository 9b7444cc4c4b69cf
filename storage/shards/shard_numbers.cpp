#include "storage/shards/shard_numbers.hpp"

#include <limits>
#include <random>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {
namespace {

constexpr int kBlockBits = 32;

}  // namespace

void ShardNumbers::reserve(const std::function<std::int64_t()>& next_block) {
  const std::lock_guard lock(mutex_);
  if (end_ > 0) return;
  const auto block = next_block();
  CHECK(block > 0 && block + 1 < std::int64_t{1} << (63 - kBlockBits), "a block of numbers fits 63 bits");
  next_ = block << kBlockBits;
  end_ = (block + 1) << kBlockBits;
}

std::int64_t ShardNumbers::take(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  CHECK(end_ > 0, "numbers are reserved before they are given");
  CHECK(count > 0 && next_ <= end_, "numbers are given once, from the block that was reserved");
  if (count > end_ - next_) {
    throw Error(ErrorKind::Unsupported, "this process has given all its numbers to contents of sharded tensors",
                std::nullopt, "restart the coordinator");
  }
  const auto first = next_;
  next_ += count;
  return first;
}

std::int64_t random_identity() {
  std::random_device device;
  std::uniform_int_distribution<std::int64_t> positive(1, std::numeric_limits<std::int64_t>::max());
  return positive(device);
}

}  // namespace eindb
