#include "optimizer/cell_masks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/access_form.hpp"
#include "tensor/cell_form.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

bool may_be_masked(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  if (vertex.is_input() || vertex.cells || graph.is_output(id) || !is_plain(vertex) || vertex.keeps_order ||
      vertex.einsum.block || access_form(vertex.einsum) || index_search(vertex.einsum))
    return false;
  return vertex.einsum.aggregate == Aggregate::Sum || vertex.einsum.aggregate == Aggregate::None;
}

// The dimensions of operand n along which operand `cells` lies; nullopt if it has labels that the other one lacks.
std::optional<std::vector<std::size_t>> dimensions_of(const EinSum& einsum, std::size_t n, std::size_t cells) {
  const auto& labels = einsum.inputs[n];
  if (DistinctLabels(labels).labels().size() < labels.size()) return std::nullopt;
  std::vector<std::size_t> dimensions;
  for (const auto label : einsum.inputs[cells]) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found == labels.end()) return std::nullopt;
    dimensions.push_back(static_cast<std::size_t>(found - labels.begin()));
  }
  return dimensions;
}

bool reads(const ScalarExpression& e, std::size_t n) {
  const auto operands = operands_of(e);
  return std::find(operands.begin(), operands.end(), n) != operands.end();
}

// Whether a condition may tell -0 of operand n from +0, as 1 / x < 0 does. `decides`: the expression is part of one.
bool tells_zeros_apart(const ScalarExpression& e, std::size_t n, bool decides = false) {
  if (e.kind() != ScalarExpression::Kind::Call || !reads(e, n)) return false;
  const auto op = e.op();
  const bool is_truth = gives_boolean(op);
  const bool keeps_zeros = converts_to(op) || op == ScalarOp::Abs || op == ScalarOp::Negate;
  if (decides && !is_truth && !keeps_zeros) return true;
  for (std::size_t a = 0; a < e.arguments().size(); ++a)
    if (tells_zeros_apart(*e.arguments()[a], n, decides || is_truth || is_condition(e, a))) return true;
  return false;
}

// Whether the vertex is zero where this operand has no cell, and where it has one that is a zero of either sign,
// whatever all values are.
bool needs_cell_of(const EinGraph& graph, const Vertex& vertex, std::size_t operand) {
  if (tells_zeros_apart(*vertex.einsum.expression, operand)) return false;
  std::vector<bool> of_cells(vertex.inputs.size(), false);
  of_cells[operand] = true;
  const std::vector<OperandFacts> facts(vertex.inputs.size(), {.magnitude = kUnbounded});
  return cell_pattern(vertex.einsum, input_types(graph, vertex.inputs), of_cells, facts) == CellPattern::Intersection;
}

// The masks that a reader of the vertex allows.
std::vector<CellMask> masks_by(const EinGraph& graph, const Vertex& reader, VertexId id) {
  std::vector<CellMask> masks;
  if (reader.einsum.block || reader.einsum.user || access_form(reader.einsum)) return masks;
  const auto read = std::count(reader.inputs.begin(), reader.inputs.end(), id);
  if (read != 1) return masks;
  const auto n =
      static_cast<std::size_t>(std::find(reader.inputs.begin(), reader.inputs.end(), id) - reader.inputs.begin());
  for (std::size_t c = 0; c < reader.inputs.size(); ++c) {
    const auto& cells = graph.vertex(reader.inputs[c]);
    // A computed operand may itself depend on the vertex.
    if (c == n || !cells.cells || !cells.is_input()) continue;
    auto dimensions = dimensions_of(reader.einsum, n, c);
    if (dimensions && needs_cell_of(graph, reader, c)) masks.push_back({id, reader.inputs[c], *std::move(dimensions)});
  }
  return masks;
}

}  // namespace

std::vector<CellMask> find_masks(const EinGraph& graph) {
  std::vector<std::optional<std::vector<CellMask>>> allowed(graph.size());  // by all readers so far
  const auto agree = [](const CellMask& a, const CellMask& b) {
    return a.cells == b.cells && a.dimensions == b.dimensions;
  };
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& reader = graph.vertices()[v];
    for (const auto input : reader.inputs) {
      if (!may_be_masked(graph, input)) continue;
      auto& known = allowed[input.index()];
      auto masks = known && known->empty() ? std::vector<CellMask>() : masks_by(graph, reader, input);
      if (known) {
        std::erase_if(*known, [&](const CellMask& mask) {
          return std::none_of(masks.begin(), masks.end(), [&](const CellMask& other) { return agree(mask, other); });
        });
      } else {
        known = std::move(masks);
      }
    }
  }
  std::vector<CellMask> found;
  for (const auto& masks : allowed)
    if (masks && !masks->empty()) found.push_back(masks->front());
  return found;
}

EinGraph with_mask(const EinGraph& graph, const CellMask& mask) {
  EinGraph out;
  out.labels() = graph.labels();
  std::vector<VertexId> now(graph.size());
  std::vector<bool> is_there(graph.size(), false);
  const auto add = [&](std::size_t n) {
    if (is_there[n]) return;
    now[n] = add_renumbered(out, graph.vertices(), n, now);
    is_there[n] = true;
  };
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (VertexId(n) != mask.vertex) {
      add(n);
      continue;
    }
    CHECK(graph.vertex(mask.cells).is_input(), "a mask is a stored tensor, which may come before all others");
    add(mask.cells.index());
    auto masked = graph.vertex(mask.vertex);
    for (auto& input : masked.inputs) input = now[input.index()];
    Labels labels;
    for (const auto dimension : mask.dimensions) labels.push_back(masked.einsum.output[dimension]);
    const auto operand = ScalarExpression::operand(masked.inputs.size());
    masked.inputs.push_back(now[mask.cells.index()]);
    masked.einsum.inputs.push_back(std::move(labels));
    const auto zero = ScalarExpression::integer(0);
    const auto expression = ScalarExpression::call(
        ScalarOp::Case, {ScalarExpression::call(ScalarOp::NotEqual, {operand, zero}), masked.einsum.expression, zero});
    masked.einsum.expression =
        with_types(expression, input_types(out, masked.inputs), out.labels(), masked.compute_dtype);
    now[n] = out.add(unite_operands(std::move(masked)));
    is_there[n] = true;
  }
  out.set_outputs(outputs_now(graph, now));
  return out;
}

}  // namespace eindb
