#include "api/tensor_result.hpp"

#include <mutex>

#include "api/arrow_export.hpp"
#include "api/element_types.hpp"
#include "api/translation.hpp"
#include "engine/results/tensor_memory.hpp"

namespace eindb {

struct TensorResult::Impl {
  explicit Impl(std::shared_ptr<const TensorRelation> result) : relation(std::move(result)) {}

  // The whole tensor as one tile, made at the first request.
  const Tile& whole() const {
    std::call_once(once_, [&] {
      made_ = whole_tile(*relation);
      // The result has a single tile itself. One that a stored tensor's cache keeps, too, is not its own.
      constexpr long kHere = 2;
      const bool is_only = relation->grid.tile_count() == 1;
      owns_ = !made_->is_borrowed() && (!is_only || made_.use_count() <= kHere);
    });
    return *made_;
  }
  bool owns_whole() const {
    whole();
    return owns_;
  }

  std::shared_ptr<const TensorRelation> relation;

 private:
  mutable std::once_flag once_;
  mutable TilePtr made_;
  mutable bool owns_ = false;
};

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

void TensorResult::to_arrow(ArrowArrayStream& stream, std::int64_t rows_per_batch) const {
  translated("", [&] { export_cells(impl_->relation, rows_per_batch, stream); });
}

void TensorResult::to_arrow(ArrowSchema& schema, ArrowArray& array) const {
  translated("", [&] { export_tensor(*impl_->relation, {impl_->whole().bytes().data(), impl_}, schema, array); });
}

}  // namespace eindb
