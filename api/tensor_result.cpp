#include "api/tensor_result.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "api/arrow_export.hpp"
#include "api/element_types.hpp"
#include "api/translation.hpp"
#include "engine/results/tensor_memory.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/nonzero_cells.hpp"

namespace eindb {

struct TensorResult::Impl {
  explicit Impl(std::shared_ptr<const TensorRelation> result) : relation(std::move(result)) {}

  // The whole tensor as one tile, made at the first request.
  const Tile& whole() const {
    const std::lock_guard lock(mutex_);
    if (made_ != nullptr) return *made_;
    made_ = whole_tile(*relation);
    // The result has a single tile itself. One that a stored tensor's cache keeps, too, is not its own.
    constexpr long kHere = 2;
    const bool is_only = relation->grid.tile_count() == 1;
    owns_ = !made_->is_borrowed() && (!is_only || made_.use_count() <= kHere);
    return *made_;
  }
  bool owns_whole() const {
    whole();
    return owns_;
  }

  std::shared_ptr<const TensorRelation> relation;

 private:
  mutable std::mutex mutex_;  // guards the members below it
  mutable TilePtr made_;
  mutable bool owns_ = false;
};

namespace {

// The cells of a tensor as they are found, tile by tile.
struct FoundCells {
  std::vector<std::int64_t> numbers;  // in row-major order over the whole tensor
  TensorCells cells;
};

template <class T>
void take_cells(const TileGrid& grid, std::int64_t tile_id, const Tile& tile, FoundCells& found) {
  const auto begin = grid.tile_begin(grid.key_of(tile_id));
  const auto strides = grid.shape().row_major_strides();
  for_each_nonzero_cell<T>(tile, [&](std::span<const std::int64_t> at, const T& value) {
    std::int64_t number = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      found.cells.indices[d].push_back(begin[d] + at[d]);
      number += found.cells.indices[d].back() * strides[d];
    }
    found.numbers.push_back(number);
    const auto bytes = std::as_bytes(std::span(&value, 1));
    found.cells.values.insert(found.cells.values.end(), bytes.begin(), bytes.end());
  });
}

void order_cells(const Shape& shape, DType dtype, FoundCells& found) {
  sort_cells(found.numbers, found.cells.values, size_of(dtype));
  const auto strides = shape.row_major_strides();
  for (std::size_t n = 0; n < found.numbers.size(); ++n) {
    auto rest = found.numbers[n];
    for (std::size_t d = 0; d < strides.size(); ++d) {
      found.cells.indices[d][n] = rest / strides[d];
      rest %= strides[d];
    }
  }
}

TensorCells cells_of(const TensorRelation& relation) {
  FoundCells found;
  found.cells.indices.assign(relation.grid.rank(), {});
  relation.tiles->visit([&](const TileGrid& grid, std::int64_t tile_id, const Tile& tile) {
    dispatch(relation.dtype, [&](auto type) { take_cells<typename decltype(type)::type>(grid, tile_id, tile, found); });
  });
  if (!std::is_sorted(found.numbers.begin(), found.numbers.end()))
    order_cells(relation.grid.shape(), relation.dtype, found);
  found.cells.count = static_cast<std::int64_t>(found.numbers.size());
  return std::move(found.cells);
}

}  // namespace

TensorResult tensor_result(std::shared_ptr<const TensorRelation> relation) {
  return TensorResult(std::make_shared<const TensorResult::Impl>(std::move(relation)));
}

TensorResult::TensorResult(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
TensorResult::~TensorResult() = default;
TensorResult::TensorResult(const TensorResult&) = default;
TensorResult& TensorResult::operator=(const TensorResult&) = default;
TensorResult::TensorResult(TensorResult&&) noexcept = default;
TensorResult& TensorResult::operator=(TensorResult&&) noexcept = default;

const std::string& TensorResult::name() const noexcept { return impl_->relation->name; }
const std::vector<std::string>& TensorResult::labels() const noexcept { return impl_->relation->labels; }
ElementType TensorResult::type() const noexcept { return element_type(impl_->relation->dtype); }
const std::vector<std::int64_t>& TensorResult::extents() const noexcept {
  return impl_->relation->grid.shape().extents();
}
std::int64_t TensorResult::element_count() const noexcept { return impl_->relation->grid.shape().element_count(); }

const void* TensorResult::data() const {
  return translated("", [&] { return impl_->whole().bytes().data(); });
}

bool TensorResult::owns_data() const {
  return translated("", [&] { return impl_->owns_whole(); });
}

void TensorResult::copy_elements(void* target, const std::vector<std::int64_t>& strides) const {
  translated("", [&] { copy_to_memory(*impl_->relation, target, strides); });
}

void TensorResult::for_each_tile(const std::function<void(const TileView&)>& f) const {
  const auto& grid = impl_->relation->grid;
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
    const auto tile = translated("", [&] { return impl_->relation->tile(id); });
    const auto key = grid.key_of(id);
    const auto begin = grid.tile_begin(key);
    const auto shape = grid.tile_shape(key);
    f({.begin = begin, .extents = shape.extents(), .data = tile == nullptr ? nullptr : tile->bytes().data()});
  }
}

TensorCells TensorResult::cells() const {
  return translated("", [&] { return cells_of(*impl_->relation); });
}

void TensorResult::to_arrow(ArrowArrayStream& stream, std::int64_t rows_per_batch) const {
  translated("", [&] { export_cells(impl_->relation, rows_per_batch, stream); });
}

void TensorResult::to_arrow(ArrowSchema& schema, ArrowArray& array) const {
  translated("", [&] { export_tensor(*impl_->relation, {impl_->whole().bytes().data(), impl_}, schema, array); });
}

}  // namespace eindb
