#include "tensor/tile.hpp"

#include <cstring>
#include <memory>
#include <string>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "tensor/tile_memory.hpp"

namespace eindb {
namespace {

std::size_t checked_byte_size(DType type, const Shape& shape) {
  return static_cast<std::size_t>(checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(type))));
}

}  // namespace

void Tile::Free::operator()(std::byte* p) const noexcept {
  if (!borrowed) TileMemory::instance().give_back(p, mapped);
}

Tile::Tile(DType type, Shape shape, bool zeroed)
    : dtype_(type), shape_(std::move(shape)), byte_size_(checked_byte_size(type, shape_)) {
  const auto block = TileMemory::instance().take(byte_size_);
  if (block.data == nullptr) {
    throw Error(ErrorKind::MemoryLimit, "no memory for a tile of " + std::to_string(byte_size_) + " bytes",
                std::nullopt, "raise parallelism or lower tile_bytes to work on smaller tiles");
  }
  data_ = std::unique_ptr<std::byte[], Free>(block.data, Free{.borrowed = false, .mapped = block.mapped});
  if (zeroed && !block.zero) std::memset(block.data, 0, byte_size_);
}

// Only constant tiles are made this way: see borrow().
Tile::Tile(DType type, Shape shape, const std::byte* values)
    : dtype_(type),
      shape_(std::move(shape)),
      byte_size_(checked_byte_size(type, shape_)),
      data_(const_cast<std::byte*>(values), Free{.borrowed = true, .mapped = 0}) {}

Tile Tile::zeros(DType type, Shape shape) { return {type, std::move(shape), true}; }
Tile Tile::uninitialized(DType type, Shape shape) { return {type, std::move(shape), false}; }
TilePtr Tile::borrow(DType type, Shape shape, const std::byte* values) {
  return std::make_shared<const Tile>(Tile(type, std::move(shape), values));
}

bool Tile::is_all_zero() const {
  const auto all = bytes();
  return all.empty() || (all.front() == std::byte{0} && std::memcmp(all.data(), all.data() + 1, all.size() - 1) == 0);
}

}  // namespace eindb
