#include "executor/kernels/tile_operations.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/user_fold.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {

Tile identity_tile(Aggregate aggregate, DType type, Shape shape) {
  auto tile = Tile::uninitialized(type, std::move(shape));
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    std::fill_n(tile.mutable_data<T>(), tile.shape().element_count(), identity_of<T>(aggregate));
  });
  return tile;
}

Tile identity_tile(const EinSum& einsum, DType type, Shape shape) {
  if (einsum.user == nullptr) return identity_tile(einsum.aggregate, type, std::move(shape));
  auto tile = Tile::uninitialized(type, std::move(shape));
  const auto value = initial_value(*einsum.user, type);
  dispatch(type, [&](auto t) {
    using T = typename decltype(t)::type;
    std::fill_n(tile.mutable_data<T>(), tile.shape().element_count(), value.as<T>());
  });
  return tile;
}

void combine(const EinSum& einsum, Tile& into, const Tile& from) {
  if (einsum.user == nullptr) return combine(einsum.aggregate, into, from);
  CHECK(into.dtype() == from.dtype() && into.shape() == from.shape(), "partial results have one type and shape");
  const UserFold fold(einsum.user, into.dtype());
  VectorCombiner(preferred_level_table(), fold)
      .combine(into.mutable_bytes().data(), into.bytes().data(), {from.bytes().data(), 1},
               into.shape().element_count());
}

void combine(Aggregate aggregate, Tile& into, const Tile& from) {
  CHECK(into.dtype() == from.dtype() && into.shape() == from.shape(), "partial results have one type and shape");
  combine(aggregate, into.dtype(), into.mutable_bytes(), from.bytes());
}

void combine(Aggregate aggregate, DType type, std::span<std::byte> into, std::span<const std::byte> from) {
  CHECK(aggregate != Aggregate::None && aggregate != Aggregate::User, "partial results of an aggregate are combined");
  CHECK(into.size() == from.size() && into.size() % size_of(type) == 0, "partial results have as many elements");
  const auto count = static_cast<std::int64_t>(into.size() / size_of(type));
  preferred_level_table().of(type).combine[slot_of(aggregate)](into.data(), from.data(), count);
}

Tile convert(const Tile& tile, DType type) {
  auto result = Tile::uninitialized(type, tile.shape());
  preferred_level_table().of(type).move[slot_of(tile.dtype())](
      {result.mutable_bytes().data(), 0, 1}, {tile.bytes().data(), 0, 1}, 1, tile.shape().element_count());
  return result;
}

}  // namespace eindb
