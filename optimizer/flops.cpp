#include "optimizer/flops.hpp"

#include <algorithm>
#include <limits>

namespace eindb {
namespace {

// An operation over n arguments is n - 1 of two, or one of one.
double operations_of(const ScalarExpression& e) {
  if (e.kind() != ScalarExpression::Kind::Call) return 0;
  auto count = static_cast<double>(std::max<std::size_t>(2, e.arguments().size()) - 1);
  for (const auto& argument : e.arguments()) count += operations_of(*argument);
  return count;
}

// Thousands of labels at once are beyond a double.
double finite(double value) { return std::min(value, std::numeric_limits<double>::max()); }

double cells_of(const Labels& labels, const LabelTable& table) {
  double cells = 1;
  for (const auto label : labels) cells = finite(cells * static_cast<double>(table.extent(label)));
  return cells;
}

}  // namespace

GraphFlops flops_of(const EinGraph& graph) {
  GraphFlops out;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    const double operations =
        operations_of(*vertex.einsum.expression) + (vertex.einsum.aggregate == Aggregate::None ? 0 : 1);
    out.flops = finite(out.flops + operations * cells_of(vertex.einsum.labels(), graph.labels()));
    if (vertex.einsum.epilogue != nullptr)
      out.flops =
          finite(out.flops + operations_of(*vertex.einsum.epilogue) * cells_of(vertex.einsum.output, graph.labels()));
    out.largest_result = std::max(out.largest_result, cells_of(vertex.einsum.output, graph.labels()));
  }
  return out;
}

}  // namespace eindb
