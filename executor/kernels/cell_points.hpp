#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "executor/kernels/cell_nest.hpp"
#include "executor/kernels/expression_kernel.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Any expression of an EinSum at points that lie anywhere: the operands' values are gathered into runs of some
/// hundred, and label values and random numbers as further operands beside them. Immutable, thread-safe.
class PointExpression {
 public:
  static constexpr std::int64_t kMostPoints = 1024;  ///< that are gathered, as a rule
  static constexpr std::int64_t kMostOfRun = 4096;   ///< of evaluate()

  /// The EinSum's expression has types, for these operands' types.
  PointExpression(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute);

  /// A number that depends on the indices alone: a label's value, or a random number.
  struct Number {
    std::optional<Instruction::Kind> random;  ///< Uniform or Normal
    std::uint64_t seed = 0;
    std::vector<std::uint64_t> coefficients;  ///< of the label's value, or the row-major number, by label
  };
  const std::vector<Number>& numbers() const { return numbers_; }
  /// Of the operands, and the numbers behind them.
  const std::vector<DType>& types() const { return types_; }
  /// The number n at these indices in the whole tensors, as `into` has it, which is of its type.
  void write_number(std::size_t n, std::span<const std::int64_t> indices, std::byte* into) const;

  /// The values of `count` points, at most kMostOfRun, of the compute type; columns[n] has the values of operand or
  /// number n.
  void evaluate(std::span<const std::byte* const> columns, std::int64_t count, std::byte* values) const;

 private:
  struct Rewritten {
    EinSum einsum;
    LabelTable labels;
  };
  Rewritten rewritten(const EinSum& einsum, const LabelTable& labels);

  DType compute_;
  std::vector<DType> types_;
  std::vector<Number> numbers_;
  std::optional<ExpressionKernel> kernel_;
};

/// The points of a nest, with the values of all operands there. One call's state.
class PointJoin {
 public:
  /// How an operand's values are found: those of a trie, or of a dense operand of the nest; of type types()[n].
  struct Source {
    bool is_trie;
    std::size_t number;       ///< of the trie or the dense operand
    const std::byte* values;  ///< the first one
  };

  PointJoin(const CellNest& nest, const PointExpression& expression, std::vector<Source> sources, DType compute,
            std::size_t label_count, bool takes_union);

  /// Takes the values of some points: the numbers of the cells of the result, and as many values.
  using Take = std::function<void(std::span<const std::int64_t> cells, const std::byte* values)>;
  void run(Take take);

 private:
  void visit(std::size_t number, std::int64_t cell);
  void bind(std::size_t number, std::int64_t index, const std::int64_t* nodes, std::int64_t cell);
  void add_point(std::int64_t cell);
  void add_leaf(std::size_t number, std::int64_t cell);
  void add_held(const CellNest::Level& level, std::int64_t cell);
  bool unites_columns() const;
  void unite_columns(const CellNest::Level& level, std::int64_t cell);
  void flush();

  const CellNest& nest_;
  const PointExpression& expression_;
  std::vector<Source> sources_;
  bool takes_union_;
  bool unites_columns_;
  Take take_;
  TrieCursors cursors_;
  std::vector<std::int64_t> indices_;                          // by label, in the whole tensors
  std::vector<std::int64_t> at_;                               // by dense operand: the offset of its value
  std::vector<std::int64_t> cell_at_;                          // by trie: its cell, or -1
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // of the tries of the levels above
  std::vector<std::int64_t> held_;                             // indices of points of an innermost loop
  std::vector<std::vector<std::int64_t>> held_nodes_;          // by trie of that loop: the nodes there, or -1
  std::vector<std::int64_t> cells_;                            // of the points gathered
  std::size_t held_count_ = 0;
  std::vector<std::vector<std::byte>> columns_;  // by operand, and number behind
  std::vector<std::byte> values_;
};

}  // namespace eindb
