#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/access_kernel.hpp"
#include "executor/kernels/block_kernel.hpp"
#include "executor/kernels/contraction_kernel.hpp"
#include "executor/kernels/expression_kernel.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/log_sum_exp_kernel.hpp"
#include "executor/kernels/pair_kernel.hpp"
#include "executor/kernels/row_gather.hpp"
#include "executor/kernels/scan_kernel.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "tensor/kernel_choice.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// Evaluates one EinSum on tiles: one call of the join's kernel in the tensor-relational algebra. The result equals
/// that of tensor/reference_evaluator up to floating-point reassociation.
///
/// SUM over a product of two operands uses matrix products if its matrices are more than thin strips, other aggregates
/// of two operands use register blocks like theirs (LOGSUMEXP the products of exponentials), accesses by computed
/// indices visit only the cells that they reach, scans every cell once, functions of whole
/// vectors take them one by one, and all other expressions use the general
/// kernel.
///
/// Immutable after construction and plan_calls_of(), thread-safe: all tasks of a join share one.
class Kernel {
 public:
  /// `labels` has the extents of the whole tensors (for the cell numbers of RANDOM), `operand_types` the element types
  /// of the input tiles, `compute` the type of the expression's value and of the accumulator. Every operation is
  /// computed in its own type; operations without a type get one here (tensor/scalar_types).
  /// `holds_bytes`: all values of all operands are ones of INT8.
  Kernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute, DType result,
         const LevelTable& level = preferred_level_table(), bool holds_bytes = false);

  /// Plans calls on tiles of these sizes, one per label of einsum.labels(), whose values are plain and row-major, so
  /// that run() begins with their product itself. Calls on others are planned one by one. Before the kernel is shared.
  void plan_calls_of(std::span<const std::int64_t> label_sizes);

  /// Adds the cells of one call to `accumulator`, a tile of type `compute` over the labels of einsum.output.
  /// `label_ranges` has the range of global indices of the call for every label, in the order of einsum.labels();
  /// `operands[n]` is the tile of input n over these ranges. With `first` the accumulator is uninitialised and gets
  /// overwritten; otherwise results are aggregated into it. Without an aggregate every call must be the first.
  void run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
           bool first) const;

  /// The same on views over einsum.labels(), for strips of larger tiles. No label's range may be empty.
  void run(std::span<const LabelView> operands, std::span<const PartRange> label_ranges,
           const MutableLabelView& accumulator, bool first) const;

  /// Whether a call on these ranges, none of them empty, reads tiles of operand `n` that are encoded so
  /// (Tile::encoding); otherwise they must be decoded. Those of other operands are plain.
  bool reads_encoded(std::size_t n, Encoding encoding, std::span<const PartRange> label_ranges) const;
  /// Whether such a call takes its two operands, which hold bytes, as they are: those that are encoded as INT8, and
  /// plain ones.
  bool reads_bytes(std::span<const PartRange> label_ranges) const;

  /// Whether a call on these ranges reads operands in any order of their dimensions at the same speed, or nearly so.
  bool reads_any_order(std::span<const PartRange> label_ranges) const;

  /// Whether a call on these ranges adds nothing, whatever the operands are: it reaches none of the cells of an access,
  /// or only cells after those of a running sum.
  bool is_empty(std::span<const PartRange> label_ranges) const {
    return (access_ && access_->is_empty(label_ranges)) || (scan_ && scan_->is_empty(label_ranges));
  }
  /// The kernel of an access; null for other EinSums.
  const AccessKernel* access() const { return access_ ? &*access_ : nullptr; }
  /// That of an access whose result consists of rows of its source; null for other EinSums.
  const RowGather* row_gather() const { return row_gather_ ? &*row_gather_ : nullptr; }

  /// The most bytes beside operands and accumulator for a call on tiles with ranges of at most these sizes, one per
  /// label of einsum.labels(), not counting the general kernel's few blocks in the fastest cache. The calling thread
  /// keeps most of them for its next call, until Workspace::release_this_thread.
  std::size_t workspace_bytes(std::span<const std::int64_t> label_sizes) const;
  /// Likewise for a thread that helps with such a call (executor/kernels/lent_threads); 0 where nobody can.
  std::size_t lent_bytes(std::span<const std::int64_t> label_sizes) const;

  /// For EXPLAIN: "gemm m=2048 n=2048 k=2048 batch=1 packed" ("in place", "by vector", "in lanes": see
  /// matrix_product.hpp; "in bytes"), "pairs MIN of sums m=8 n=8 k=8 batch=1", "gather", "scan", "fold in order (2
  /// operations)" or "expression (7 operations)". It is how a call on tiles with ranges of these sizes is computed, one
  /// per label of einsum.labels(), none of them zero.
  std::string describe(std::span<const std::int64_t> label_sizes) const;
  /// The same for a call on the whole tensors.
  std::string describe() const { return describe(whole_extents_); }

 private:
  struct Views {
    std::vector<LabelView> operands;
    MutableLabelView result;
  };

  // Calls on tiles of these sizes.
  struct PlannedCalls {
    std::vector<std::int64_t> sizes;  // by label
    KernelKind kind;
    // Of tiles of these shapes, with plain and row-major values, where the kernel multiplies matrices of the operands
    // as they are.
    std::vector<Shape> operands;
    Shape result;
    std::optional<ProductPlan> product;
  };

  void check(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
             const Tile& accumulator) const;
  bool covers(const Tile& tile, const Labels& of_tile, std::span<const PartRange> label_ranges) const;
  bool are_planned(std::span<const PartRange> label_ranges) const;
  const ProductPlan* planned_product(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                                     const Tile& accumulator) const;
  KernelKind kind_of(std::span<const PartRange> label_ranges) const;
  bool reads_bytes(std::span<const std::int64_t> label_sizes) const;
  std::string path(std::span<const std::int64_t> label_sizes) const;
  Views views_of_tiles(std::span<const std::int64_t> label_sizes) const;
  std::vector<std::int64_t> extents_of(const Labels& labels, std::span<const PartRange> label_ranges) const;

  EinSum einsum_;  // with MAX or MIN in place of a user's aggregate that is computed likewise
  EinSum empty_;   // has the aggregate of no cells
  Labels labels_;
  std::vector<std::int64_t> whole_extents_;
  std::vector<DType> operand_types_;
  DType compute_;
  const LevelTable& level_;
  bool holds_bytes_;
  ExpressionKernel general_;
  KernelChoice choice_;
  std::optional<PlannedCalls> planned_;           // those of the most usual sizes
  std::optional<AccessKernel> access_;            // where the choice is Access
  std::optional<RowGather> row_gather_;           // where it moves rows
  std::optional<ScanKernel> scan_;                // where it is Scan
  std::optional<BlockKernel> block_;              // where it is Block
  std::optional<ContractionKernel> contraction_;  // where the choice may be Matrices
  std::optional<PairKernel> pairs_;               // and where it may be Pairs
  std::optional<LogSumExpKernel> log_sum_exp_;    // likewise, instead of pairs_ where that is the aggregate
};

}  // namespace eindb
