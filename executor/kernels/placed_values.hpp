#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "executor/kernels/expression_program.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/level_table.hpp"
#include "executor/kernels/loop_nest.hpp"
#include "tensor/placed_value.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {

/// Where a program that computes values with their indices (tensor/placed_value) has both.
struct PlacedRegisters {
  std::size_t value = 0;         ///< number of the register; what follows it computes no value
  DType type = DType::Float64;   ///< of the value: FLOAT32, FLOAT64 or INT64
  std::size_t index_stream = 0;  ///< moves by 1 with the index
};

/// nullopt if the EinSum is no aggregate of values with their indices, or if the program has no registers for them.
std::optional<PlacedRegisters> placed_registers(const ExpressionProgram& program, const EinSum& einsum);

/// The number of the stream that the instruction `number` of a program reads.
std::size_t stream_of(const ExpressionProgram& program, std::size_t number);

/// Takes extremes and the indices at which they stand into cells of the result, which are `stride` elements apart.
/// `begin`: what `places` are counted from. Overwrites the cells if `first`.
template <class T>
void merge_placed(Aggregate aggregate, const T* values, const std::int32_t* places, std::int64_t count,
                  std::int64_t begin, std::complex<double>* to, std::int64_t stride, bool first) {
  for (std::int64_t n = 0; n < count; ++n, to += stride) {
    const auto found = placed_number(values[n], begin + places[n], aggregate);
    *to = first ? found : scalar_first_extreme(aggregate, *to, found);
  }
}

/// The extremes of computed values along the aggregated label, with the first index that has each: FirstLeast or
/// FirstGreatest in one pass. Boxes of values stay in the caches, where they are folded, and then searched for what was
/// found, or where both come of one pass over adjacent cells.
///
/// `operands`, `loops` and `begin` are those of the expression kernel, the last stream of which is the output. Returns
/// false without doing anything if the aggregated label has too many indices for a call. Thread-safe.
bool place_computed(const LevelTable& level, const ExpressionProgram& program, const PlacedRegisters& placed,
                    Aggregate aggregate, std::span<const LabelView> operands, std::vector<Loop> loops,
                    std::span<const Stream> streams, const StreamOffsets& begin, const MutableLabelView& accumulator,
                    bool first);

}  // namespace eindb
