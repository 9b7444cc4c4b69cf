#include "executor/epilogue.hpp"

#include <algorithm>

#include "tensor/annihilation.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kStripElements = 8192;  // fit in the fast caches

// The epilogue as an EinSum over a strip of the aggregated tile.
std::optional<Kernel> kernel_of(const EinSum& einsum, DType compute_dtype) {
  if (einsum.epilogue == nullptr) return std::nullopt;
  LabelTable labels;
  const Labels strip{labels.add("element", kStripElements)};
  const EinSum of_strip{.inputs = {strip},
                        .output = strip,
                        .aggregated = {},
                        .expression = einsum.epilogue,
                        .aggregate = Aggregate::None};
  return Kernel(of_strip, labels, {compute_dtype}, compute_dtype, compute_dtype);
}

}  // namespace

Epilogue::Epilogue(const EinSum& einsum, DType compute_dtype)
    : kernel_(kernel_of(einsum, compute_dtype)), keeps_zero_(eindb::keeps_zero(einsum, compute_dtype)) {}

// Strip by strip, so that no second tile of the same size is needed.
void Epilogue::apply(Tile& tile) const {
  if (!kernel_) return;
  const auto count = tile.shape().element_count();
  const auto element_size = static_cast<std::int64_t>(size_of(tile.dtype()));
  for (std::int64_t begin = 0; begin < count; begin += kStripElements) {
    const PartRange range{0, std::min(kStripElements, count - begin)};
    auto* values = tile.mutable_bytes().data() + begin * element_size;
    const auto aggregated = Tile::borrow(tile.dtype(), Shape({range.size}), values);
    auto strip = Tile::uninitialized(tile.dtype(), Shape({range.size}));
    const Tile* operand = aggregated.get();
    kernel_->run(std::span(&operand, 1), std::span(&range, 1), strip, true);
    std::copy(strip.bytes().begin(), strip.bytes().end(), values);
  }
}

}  // namespace eindb
