#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "executor/kernels/cell_kernel.hpp"
#include "executor/kernels/cell_nest.hpp"
#include "executor/kernels/cell_order.hpp"
#include "executor/kernels/cell_sink.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"
#include "tensor/scalar_value.hpp"
#include "tensor/shape.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// One call of a kernel of cells: it holds the order of the loops, the tries in that order, and the values converted to
/// the compute type. Arguments as those of CellKernel::run, which outlive it.
class CellKernel::Call {
 public:
  /// Without an order it takes that with the least expected time.
  Call(const CellKernel& kernel, std::span<const Tile* const> operands, std::span<const PartRange> ranges,
       bool makes_cells, std::optional<LabelOrder> order);
  LabelOrder take_order() { return std::move(order_); }
  std::size_t workspace_bytes() const;
  void run(Tile& accumulator);
  /// Whether the cells of the only operand are aggregated as they lie, and counted with it.
  bool reduces() const;
  /// Aggregates them into `values`, one for each result, and adds their numbers to `counts`.
  void reduce(Tile& values, Tile& counts);
  /// Adds the number of cells of each result.
  void count_cells(Tile& accumulator);
  CellBlock make_cells();

 private:
  using Mode = CellSink<double>::Mode;
  Mode mode() const;
  std::int64_t row_places() const;
  std::size_t gathering_bytes() const;
  // The most cells that the result has, by operands that have all its labels; 0 if there are none.
  std::int64_t most_cells() const;
  template <class T>
  CellSink<T> sink_of_cells(Aggregate aggregate) const;
  // The cells of the only operand in another order of dimensions, with the expression's values; nullopt if the result
  // is another one, or some are +0.
  template <class T>
  std::optional<CellBlock> mapped_cells();
  // The cells of two operands that have the result's labels, united; nullopt if the call is another one.
  std::optional<CellBlock> united_cells();
  // The dimensions of an operand in the order of the result's, which has the same labels; nullopt if it has not.
  std::optional<std::vector<std::size_t>> order_of_result(std::size_t n) const;
  // With its levels as the dimensions of another block.
  static CellTrie as_natural(CellTrie trie);
  // Whether the expression's values are those of the only operand.
  bool is_plain_operand() const;
  template <class T>
  void reduce_into(T* values, std::int64_t* counts);
  template <class T>
  CellBlock reduced_cells();
  void leave_out_dense();
  template <class T>
  CellBlock with_rest(const CellBlock& cells);
  const Labels& input(std::size_t n) const { return kernel_.einsum_.inputs[n]; }
  std::int64_t extent(std::size_t place) const { return ranges_[place].size; }
  OrderProblem order_problem() const;
  // The dimensions of an operand of cells in the order of the loops.
  std::vector<std::size_t> trie_order(std::size_t n) const;
  bool is_used(std::size_t n) const;
  void prepare_nest();
  void add_trie(std::size_t n);
  void add_dense(std::size_t n);
  void add_lists_of_places();
  // Labels that nothing depends on: a factor of the sum, or nodes that need not be told apart.
  ScalarValue take_out_levels();
  void skip_levels();
  template <class T, class Sink>
  void run_into(Sink& sink);
  template <class T, class Sink>
  void run_product(Sink& sink);
  // Indices of the outermost label between which a call has about as much work each, for threads that help with it:
  // from the first one, 0, to its extent. Two where nobody can help, or it does not pay.
  std::vector<std::int64_t> cuts() const;
  // The values of the expression for those of the only operand.
  std::vector<std::byte> mapped_values(std::span<const std::byte> values) const;
  template <class T, class Sink>
  void run_points(Sink& sink);

  const CellKernel& kernel_;
  std::span<const Tile* const> operands_;
  std::span<const PartRange> ranges_;
  Shape output_;
  std::vector<std::int64_t> output_strides_;  // by label
  bool uses_product_ = false;
  bool makes_cells_ = false;
  LabelOrder order_;
  CellNest nest_;
  std::vector<std::unique_ptr<CellTrie>> tries_;  // sorted ones
  std::vector<std::vector<std::int32_t>> places_;
  std::vector<std::size_t> trie_operands_;  // the operand of each trie of the nest
  std::vector<std::size_t> dense_operands_;
};

}  // namespace eindb
