#include "optimizer/rewrites/packed_factors.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tensor/access_form.hpp"

namespace eindb {
namespace {

// The label by which a vertex reads one of these.
Label as_read(const Labels& read, const Labels& labels, Label label) {
  return read[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin())];
}

// How a vertex picks rows, if it does nothing else.
std::optional<DeterminedLabel> picked_rows(const Vertex& vertex, const Labels& labels, const Labels& core) {
  const auto& einsum = vertex.einsum;
  if (einsum.inputs.size() != 1) return std::nullopt;
  const auto form = access_form(einsum);
  if (!form || form->determined.size() != 1 || form->gathers() || einsum.epilogue != nullptr) return std::nullopt;
  const auto& read = einsum.inputs.front();
  auto rows = form->determined.front();
  const auto& coefficients = rows.coefficients;
  const bool is_of_rows = as_read(read, labels, core[0]) == rows.label && contains(einsum.aggregated, rows.label) &&
                          std::count(read.begin(), read.end(), rows.label) == 1;
  if (!is_of_rows || coefficients.size() > 1 || (coefficients.size() == 1 && coefficients.front().second != 1))
    return std::nullopt;
  return rows;
}

std::int64_t count_of(const EinGraph& graph, const DeterminedLabel& rows) {
  return rows.coefficients.empty() ? 1 : graph.labels().extent(rows.coefficients.front().first);
}

}  // namespace

ScalarPtr label_plus(Label label, std::int64_t offset) {
  auto index = ScalarExpression::label_index(label);
  if (offset == 0) return index;
  return ScalarExpression::call(ScalarOp::Add, {std::move(index), ScalarExpression::integer(offset)});
}

ScalarPtr operand_where(Label label, ScalarPtr index) {
  auto is_there = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(label), std::move(index)});
  return ScalarExpression::call(ScalarOp::Case,
                                {std::move(is_there), ScalarExpression::operand(0), ScalarExpression::integer(0)});
}

std::optional<PackedRows> packed_rows_read(const EinGraph& graph, const Vertex& vertex, const Labels& labels,
                                           const Labels& core) {
  const auto rows = picked_rows(vertex, labels, core);
  if (!rows) return std::nullopt;
  return PackedRows{rows->offset, count_of(graph, *rows)};
}

std::optional<VertexId> reread(EinGraph& graph, const Vertex& vertex, const PackedFactors& packed) {
  const auto picked = picked_rows(vertex, packed.labels, packed.core);
  if (!picked) return std::nullopt;
  const auto& einsum = vertex.einsum;
  const auto& read = einsum.inputs.front();
  const auto& rows = *picked;
  const auto& coefficients = rows.coefficients;
  const auto count = count_of(graph, rows);
  const auto holds = [&](const PackedPiece& piece) {
    return rows.offset >= piece.first && rows.offset + count <= piece.first + graph.labels().extent(piece.rows);
  };
  const auto piece = std::find_if(packed.pieces.begin(), packed.pieces.end(), holds);
  if (piece == packed.pieces.end()) return std::nullopt;

  auto aggregated = difference(einsum.aggregated, {rows.label});
  const auto extent = graph.labels().extent(piece->rows);
  const bool is_whole = !coefficients.empty() && rows.offset == piece->first && count == extent &&
                        !contains(read, coefficients.front().first);
  const auto row =
      is_whole ? coefficients.front().first : graph.labels().add(std::string(graph.labels().name(piece->rows)), extent);
  if (!is_whole) aggregated.push_back(row);
  Labels labels;
  for (const auto label : piece->labels)
    labels.push_back(label == piece->rows            ? row
                     : label == piece->labels.back() ? as_read(read, packed.labels, packed.core[1])
                                                     : as_read(read, packed.labels, label));
  const auto index = rows.offset - piece->first;
  const auto aggregate = aggregated.empty() ? Aggregate::None : Aggregate::Sum;
  EinSum from_piece{.inputs = {std::move(labels)},
                    .output = einsum.output,
                    .aggregated = std::move(aggregated),
                    .expression = is_whole ? ScalarExpression::operand(0)
                                  : coefficients.empty()
                                      ? operand_where(row, ScalarExpression::integer(index))
                                      : operand_where(row, label_plus(coefficients.front().first, index)),
                    .aggregate = aggregate};
  auto made = make_vertex(graph, vertex.name, {piece->vertex}, std::move(from_piece), vertex.compute_dtype);
  made.dtype = vertex.dtype;
  return graph.add(std::move(made));
}

}  // namespace eindb
