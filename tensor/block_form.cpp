#include "tensor/block_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tensor/user_aggregate.hpp"

namespace eindb {

namespace {

// The labels that an expression names, in the order of its text.
void collect_names_of(const ScalarExpression& e, Labels& out) {
  if (e.kind() == ScalarExpression::Kind::LabelIndex) append_distinct(out, {e.label()});
  for (const auto& argument : e.arguments()) collect_names_of(*argument, out);
}

Labels core_labels(const EinSum& einsum) {
  Labels out;
  collect_names_of(*einsum.expression, out);
  return out;
}

// Whether a factorisation gives singular values or R alone (BlockOp).
bool gives_least_rows(const EinSum& einsum, const LabelTable& table) {
  const auto rows = table.extent(result_core_of(einsum)[0]);
  if (einsum.block->op == BlockOp::Svd) return rows == 1;
  return einsum.block->op == BlockOp::Qr && rows == table.extent(core_of(einsum, 0)[1]);
}

}  // namespace

ScalarPtr block_expression(std::size_t operands, const Labels& core) {
  // Differences, since two of them are equal only with their parts in the same order.
  auto named = ScalarExpression::operand(0);
  const auto name = [&](ScalarPtr part) {
    named = ScalarExpression::call(ScalarOp::Subtract, {std::move(named), std::move(part)});
  };
  for (std::size_t n = 1; n < operands; ++n) name(ScalarExpression::operand(n));
  for (const auto label : core) name(ScalarExpression::label_index(label));
  return named;
}

Labels core_of(const EinSum& einsum, std::size_t n) {
  Labels core;
  for (const auto label : core_labels(einsum))
    if (contains(einsum.aggregated, label) && contains(einsum.inputs[n], label)) core.push_back(label);
  return core;
}

Labels result_core_of(const EinSum& einsum) {
  Labels core;
  for (const auto label : core_labels(einsum))
    if (contains(einsum.output, label)) core.push_back(label);
  return core;
}

bool is_whole(const EinSum& einsum, Label label) {
  if (!einsum.block) return folds_in_order(einsum) && contains(einsum.aggregated, label);
  return contains(einsum.aggregated, label) || contains(core_labels(einsum), label);
}

double block_operations(const EinSum& einsum, const LabelTable& table) {
  const auto cells = [&](const Labels& labels) {
    double count = 1;
    for (const auto label : labels) count *= static_cast<double>(table.extent(label));
    return count;
  };
  const auto core_cells = cells(core_of(einsum, 0));
  const auto result_cells = cells(result_core_of(einsum));
  const auto logarithm = [](double n) { return std::max(1.0, std::log2(std::max(2.0, n))); };
  constexpr double kSelected = 10;    // operations for each value of which some are chosen
  constexpr double kTransformed = 5;  // and of an FFT for each of log n stages
  switch (einsum.block->op) {
    case BlockOp::Order: return core_cells * kSelected + result_cells * kSelected * logarithm(result_cells);
    case BlockOp::Quantile: return core_cells * kSelected;
    case BlockOp::Mode:
    case BlockOp::Distinct:
    case BlockOp::UniqueOrder:
    case BlockOp::UniqueCount:
    case BlockOp::UniqueNumber: return core_cells * kSelected * logarithm(core_cells);
    case BlockOp::Fourier:
    case BlockOp::InverseFourier: {
      const auto transformed = std::max(core_cells, result_cells);
      return transformed * kTransformed * logarithm(transformed);
    }
    case BlockOp::SumRecurrence:
    case BlockOp::MaxRecurrence:
    case BlockOp::MinRecurrence: return 2 * result_cells;
    case BlockOp::UserRecurrence:
    case BlockOp::LogSumExpRecurrence: return 2 * kSelected * result_cells;
    default: break;
  }
  // Multiples of m n min(m, n), which a product of matrices takes twice.
  const auto core = core_of(einsum, 0);
  double least = std::numeric_limits<double>::infinity();
  for (const auto label : core) least = std::min(least, static_cast<double>(table.extent(label)));
  const auto cube = core_cells * least;
  switch (einsum.block->op) {
    case BlockOp::Cholesky: return cube / 3;
    case BlockOp::Determinant:
    case BlockOp::LogDeterminant: return cube * 2 / 3;
    case BlockOp::Solve: return cube * 2 / 3 + 2 * result_cells * least;
    case BlockOp::Inverse: return cube * 8 / 3;
    case BlockOp::LeastSquares:
    case BlockOp::Qr: return cube * (gives_least_rows(einsum, table) ? 2 : 4);
    case BlockOp::Eigh: return cube * 9;
    case BlockOp::PseudoInverse: return cube * 20;
    case BlockOp::Svd: return cube * (gives_least_rows(einsum, table) ? 7 : 20);
    default: break;
  }
  constexpr double kProducts = 20;  // of an exponential
  return kProducts * 2 * cube;
}

}  // namespace eindb
