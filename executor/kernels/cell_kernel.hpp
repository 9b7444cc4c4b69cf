#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/kernels/cell_mover.hpp"
#include "executor/kernels/cell_order.hpp"
#include "executor/kernels/cell_panel.hpp"
#include "executor/kernels/cell_points.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/cell_form.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"
#include "tensor/scalar_value.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// Evaluates one EinSum on tiles of which some are of cells, in time in proportion to the points at which there are
/// cells: a join of the operands' coordinates (Generic Join; Ngo, Re and Rudra, Skew Strikes Back, 2013). The labels
/// are bound one after the other, each to the coordinates that the tries of all operands which have it share at that
/// place. Labels that only dense operands have are ordinary loops. So two matrices multiply row by row (Gustavson), and
/// triangles are counted without their paths.
///
/// Sums of products have loops of their own (cell_product), any other expression is computed on runs of points
/// (cell_points); the cells of an access find their places themselves (cell_mover). Each call chooses the order of the
/// labels from its operands (cell_order).
///
/// Immutable after construction, thread-safe: all tasks of a join share one.
class CellKernel {
 public:
  /// As those of Kernel. `of_cells[n]`: the tiles of operand n are of cells; the others have plain values. `pattern` is
  /// right for this EinSum: see cell_pattern.
  CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
             std::vector<bool> of_cells, CellPattern pattern);

  /// The order of a call's loops and the memory that they need, decided before the call runs.
  struct CallPlan {
    LabelOrder order;
    std::size_t workspace_bytes = 0;  ///< that it takes at most beside operands, accumulator and cells made
  };
  /// The plan of a call of run() or, with `makes_cells`, of make_cells() with the same arguments.
  CallPlan plan(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, bool makes_cells) const;

  /// See Kernel::run.
  void run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
           bool first, const CallPlan& plan) const;
  /// The result of one call as cells, of the compute type, without those that are +0. The result has a label, and
  /// leaves_zeros() says that it may be of cells.
  CellBlock make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                       const CallPlan& plan) const;
  /// Both with a plan made for the call.
  void run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
           bool first) const {
    run(operands, label_ranges, accumulator, first, plan(operands, label_ranges, false));
  }
  CellBlock make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const {
    return make_cells(operands, label_ranges, plan(operands, label_ranges, true));
  }

  /// The most bytes that a thread takes which helps with a call of run() (executor/kernels/lent_threads); 0 where
  /// nobody can. `label_sizes`: the largest ranges of all labels.
  std::size_t lent_bytes(std::span<const std::int64_t> label_sizes) const;

  /// For EXPLAIN: "cells of 2 operands: sum of products", "cells of 1 operand: expression (2 operations), and the
  /// rest".
  std::string describe() const;

 private:
  class Call;
  struct Product {
    std::vector<std::size_t> operands;  ///< distinct
    ScalarValue factor;
  };

  CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
             std::vector<bool> of_cells, CellPattern pattern, std::optional<CellPanel> panel);

  bool takes_panels(std::span<const Tile* const> operands, const Shape& result) const;
  void run_panels(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
                  bool first) const;
  void begin(Tile& accumulator) const;
  void add_moved(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                 Tile& accumulator) const;
  void run_with_rest(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
                     const LabelOrder& order) const;
  static std::optional<Product> product_of(const EinSum& typed, const std::vector<DType>& types, DType compute);
  std::vector<std::int64_t> sizes_of(const Labels& labels, std::span<const PartRange> label_ranges) const;
  std::size_t place_of(Label label) const;
  void check(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const;
  std::int64_t points_of_a_result(std::span<const PartRange> label_ranges) const;

  EinSum einsum_;  // with types
  Labels labels_;
  std::vector<DType> operand_types_;
  DType compute_;
  std::vector<bool> of_cells_;
  CellPattern pattern_;
  std::optional<Product> product_;  // where the expression is one
  PointExpression points_;
  bool maps_values_ = false;  // it is a function of the only operand's value, and no product
  bool leaves_zeros_;
  std::size_t operation_count_;
  std::optional<CellMover> mover_;  // of an access
  std::optional<CellPanel> panel_;
  std::shared_ptr<const CellKernel> panel_kernel_;  // for panel_->einsum()
  std::optional<ScalarValue> rest_;                 // the value where there is no cell, of pattern WithRest
};

/// The plans of one thread's calls, kept from run to run: a plan depends on the sizes of a call's ranges and operands
/// alone, which are those of the last run as a rule, and a short call takes no longer than its plan.
class CellCallPlans {
 public:
  /// As CellKernel::plan(); it is there until the next call.
  const CellKernel::CallPlan& plan(const std::shared_ptr<const CellKernel>& kernel,
                                   std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                                   bool makes_cells);

 private:
  static constexpr std::size_t kMost = 16;

  struct Kept {
    std::shared_ptr<const CellKernel> kernel;
    std::vector<std::int64_t> sizes;
    CellKernel::CallPlan plan;
  };

  std::vector<Kept> kept_;
  std::size_t oldest_ = 0;           // to be replaced next
  std::vector<std::int64_t> sizes_;  // of the call at hand
};

}  // namespace eindb
