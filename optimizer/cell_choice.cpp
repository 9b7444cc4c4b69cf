#include "optimizer/cell_choice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "optimizer/cell_joins.hpp"
#include "optimizer/cell_masks.hpp"
#include "optimizer/partitions/cell_work.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "plan/cell_product.hpp"
#include "tensor/access_form.hpp"
#include "tensor/annihilation.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/cell_estimate.hpp"
#include "tensor/cell_gather.hpp"
#include "tensor/cell_move.hpp"

namespace eindb {
namespace {

// Tensors with a larger share of cells are read as dense ones: with coordinates, cells take as many bytes.
constexpr double kMostDense = 0.5;
// Results that are smaller than this, or have a larger share of cells, are dense.
constexpr double kFewResults = 16384;
constexpr double kMostDenseResult = 0.25;

class CellChoice {
 public:
  CellChoice(EinGraph graph, const CalibratedModel& model, const CellLimits& limits)
      : graph_(std::move(graph)), model_(model), limits_(limits), readers_(graph_.size()) {
    for (std::size_t v = 0; v < graph_.size(); ++v)
      for (const auto input : graph_.vertex(VertexId(v)).inputs) {
        auto& readers = readers_[input.index()];
        if (readers.empty() || readers.back() != VertexId(v)) readers.push_back(VertexId(v));
      }
  }

  EinGraph run() {
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (may_be_cells(VertexId(v))) try_alone(VertexId(v));
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      try_together(VertexId(v));
      try_result(VertexId(v));
    }
    return std::move(graph_);
  }

 private:
  struct Together {
    EinGraph tried;
    std::vector<VertexId> changed;  // held as cells there
    std::vector<VertexId> made;     // those of them that are computed
  };

  bool may_be_cells(VertexId id) const {
    const auto& stored = graph_.vertex(id).stored;
    if (!stored || stored->as_cells || !stored->cells || stored->selection) return false;
    const auto all = static_cast<double>(stored->grid.shape().element_count());
    return (limits_.always || stored->cells->cells <= kMostDense * all) && !has_scales(stored->encoding) &&
           fits(stored->cells->cells, stored->dtype, stored->grid.rank()) && !readers_[id.index()].empty() &&
           CellBlock::may_have(stored->grid.shape());
  }

  bool fits(double cells, DType type, std::size_t rank) const {
    return cells * static_cast<double>(CellGather::bytes_for(type, rank, 1)) / 2 <= limits_.memory;
  }

  // Also with results of few cells: one with all values may take as long as what the cells save.
  void try_alone(VertexId id) {
    Together together{graph_, {id}, {}};
    together.tried.hold_as_cells(id, graph_.vertex(id).stored->cells);
    if (take_if_faster(together.tried, {id}, {})) return;
    for (const auto reader : readers_[id.index()]) {
      auto made = result_of(together.tried, reader);
      if (!made) continue;
      together.tried.hold_as_cells(reader, std::move(made));
      together.changed.push_back(reader);
      together.made.push_back(reader);
    }
    if (!together.made.empty()) take_if_faster(std::move(together.tried), together.changed, together.made);
  }

  // The few cells of the result of a vertex that is computed from cells.
  std::optional<CellEstimate> result_of(const EinGraph& graph, VertexId id) const {
    const auto& vertex = graph.vertex(id);
    if (vertex.is_input() || vertex.cells || vertex.bound.rank() == 0 || must_be_dense(id)) return std::nullopt;
    const auto cells = cells_of_inputs(graph, vertex);
    if (std::none_of(cells.begin(), cells.end(), [](const auto& count) { return count.has_value(); }))
      return std::nullopt;
    const auto all = static_cast<double>(vertex.bound.element_count());
    const auto pattern = pattern_of(graph, vertex, cells);
    if (!pattern) return std::nullopt;
    auto made = observed(graph, id);
    if (!made) made = cell_results(vertex.einsum, graph.labels(), cells, *pattern);
    if (!limits_.always && (all < kFewResults || made->cells > kMostDenseResult * all)) return std::nullopt;
    if (!CellBlock::may_have(vertex.bound) || !fits(made->cells, vertex.dtype, vertex.bound.rank()))
      return std::nullopt;
    if (!keeps_zero(vertex.einsum, vertex.compute_dtype)) return std::nullopt;
    return made;
  }

  std::optional<CellEstimate> observed(const EinGraph& graph, VertexId id) const {
    if (limits_.observed == nullptr || limits_.observed->empty()) return std::nullopt;
    const auto product = product_of(graph, id);
    return product ? observed_of(*limits_.observed, *product) : std::nullopt;
  }

  bool must_be_dense(VertexId id) const {
    const auto number = graph_.output_number(id);
    return number && *number < limits_.dense_results.size() && limits_.dense_results[*number];
  }

  void try_result(VertexId id) {
    auto made = result_of(graph_, id);
    if (!made) return;
    auto tried = graph_;
    tried.hold_as_cells(id, std::move(made));
    take_if_faster(std::move(tried), {id}, {id});
  }

  // Operands of a vertex that are worth it only together with each other: X + Y, A * v + B * w. What else their other
  // readers need is tried with them.
  void try_together(VertexId id) {
    constexpr std::size_t kMost = 16;
    const auto& inputs = graph_.vertex(id).inputs;
    const bool has_any = std::any_of(inputs.begin(), inputs.end(),
                                     [&](VertexId input) { return may_be_cells(input) || result_of(graph_, input); });
    if (!has_any) return;
    Together together{graph_, {}, {}};
    std::size_t completed = 0;  // of those that are changed, so many have readers that can be computed
    const auto complete = [&] {
      for (; completed < together.changed.size() && together.changed.size() <= kMost; ++completed)
        for (const auto reader : readers_[together.changed[completed].index()])
          if (!can_be_computed(together.tried, together.tried.vertex(reader))) add_operands(reader, together);
      return together.changed.size() <= kMost;
    };
    add_operands(id, together);
    if (!complete()) return;
    const bool are_several = together.changed.size() > 1 || !together.made.empty();
    if (are_several && take_if_faster(together.tried, together.changed, together.made)) return;
    // As with one operand, a result with all values may take as long as what the cells save.
    auto made = result_of(together.tried, id);
    if (!made) return;
    together.tried.hold_as_cells(id, std::move(made));
    together.changed.push_back(id);
    together.made.push_back(id);
    if (complete()) take_if_faster(std::move(together.tried), together.changed, together.made);
  }

  void add_operands(VertexId reader, Together& together) const {
    for (const auto input : graph_.vertex(reader).inputs) {
      if (std::find(together.changed.begin(), together.changed.end(), input) != together.changed.end()) continue;
      const auto& vertex = graph_.vertex(input);
      if (may_be_cells(input)) {
        together.tried.hold_as_cells(input, vertex.stored->cells);
      } else if (auto result = result_of(together.tried, input)) {
        together.tried.hold_as_cells(input, std::move(result));
        together.made.push_back(input);
      } else {
        continue;
      }
      together.changed.push_back(input);
    }
  }

  // If all readers of what is now held as cells can be computed from these. Returns whether they were taken.
  bool take_if_faster(EinGraph tried, const std::vector<VertexId>& changed, std::vector<VertexId> affected) {
    for (const auto id : changed)
      for (const auto reader : readers_[id.index()])
        if (std::find(affected.begin(), affected.end(), reader) == affected.end()) affected.push_back(reader);
    double before = 0;
    double after = 0;
    for (const auto reader : affected) {
      if (!can_be_computed(tried, tried.vertex(reader))) return false;
      before += seconds(graph_, reader);
      after += seconds(tried, reader);
    }
    if (!limits_.always && !(after < before)) return false;
    graph_ = std::move(tried);
    return true;
  }

  static bool can_be_computed(const EinGraph& graph, const Vertex& vertex) {
    const auto cells = cells_of_inputs(graph, vertex);
    const auto pattern = pattern_of(graph, vertex, cells);
    return pattern &&
           (!vertex.cells || leaves_zeros(vertex.einsum, graph.labels(), input_types(graph, vertex.inputs), *pattern));
  }

  // In one call, which both ways share among threads alike.
  double seconds(const EinGraph& graph, VertexId id) const {
    const auto& vertex = graph.vertex(id);
    const auto shape = shape_of(graph, vertex);
    double seconds = model_.join(shape, Partition(shape.extents.size(), 1));
    // An access to plain values reads few of them, but all of a tile of few cells are made for it.
    if (const auto form = vertex.is_input() ? std::nullopt : access_form(vertex.einsum))
      seconds += seconds_to_expand(graph, vertex, *form);
    return seconds;
  }

  static double seconds_to_expand(const EinGraph& graph, const Vertex& vertex, const AccessForm& form) {
    constexpr double kSecondsPerByte = 0.1e-9;
    const auto& source = graph.vertex(vertex.inputs[form.source]);
    if (source.cells || !source.stored || !source.stored->cells) return 0;
    auto bytes = static_cast<double>(size_of(source.dtype));
    const auto labels = vertex.einsum.labels();
    std::vector<PartRange> whole;
    for (const auto label : labels) whole.push_back({0, graph.labels().extent(label)});
    const auto& dimensions = vertex.einsum.inputs[form.source];
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
      const auto label = dimensions[d];
      const auto extent = static_cast<double>(graph.labels().extent(label));
      const auto tile = std::max(1.0, static_cast<double>(source.stored->grid.largest(d)));
      auto reached = extent;
      for (const auto& determined : form.determined) {
        if (determined.label != label || determined.operand) continue;
        if (const auto bounds = determined.bounds(labels, whole))
          reached = std::min(reached, static_cast<double>(bounds->second - bounds->first) + 1);
      }
      bytes *= std::min(extent, std::ceil(reached / tile) * tile);
    }
    return bytes * kSecondsPerByte;
  }

  EinGraph graph_;
  const CalibratedModel& model_;
  const CellLimits& limits_;
  std::vector<std::vector<VertexId>> readers_;  // by vertex, each once
};

// Makes diagonals of stored tensors of cells vertices of their own, which their readers join with other cells: the
// trace SUM(A[i,i]) becomes SUM(D[i]).
EinGraph with_own_diagonals(const EinGraph& graph) {
  const auto splits = [&](const Vertex& vertex, std::size_t n) {
    const auto& labels = vertex.einsum.inputs[n];
    const auto& input = graph.vertex(vertex.inputs[n]);
    return input.stored && input.stored->cells && !is_diagonal(vertex.einsum) && !vertex.einsum.block &&
           DistinctLabels(labels).labels().size() < labels.size();
  };
  const auto splits_any = [&](const Vertex& vertex) {
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n)
      if (splits(vertex, n)) return true;
    return false;
  };
  if (std::none_of(graph.vertices().begin(), graph.vertices().end(), splits_any)) return graph;
  VertexNames names(graph);
  std::size_t v = 0;
  return rewrite_each(graph, [&](EinGraph& made, const Vertex& vertex) -> std::optional<VertexId> {
    const auto& before = graph.vertices()[v++];
    if (!splits_any(before)) return std::nullopt;
    auto rewritten = vertex;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      if (!splits(before, n)) continue;
      EinSum diagonal{.inputs = {vertex.einsum.inputs[n]},
                      .output = DistinctLabels(vertex.einsum.inputs[n]).labels(),
                      .aggregated = {},
                      .expression = ScalarExpression::operand(0),
                      .aggregate = Aggregate::None};
      rewritten.einsum.inputs[n] = diagonal.output;
      rewritten.inputs[n] =
          made.add(make_vertex(made, names.next(vertex.name), {vertex.inputs[n]}, std::move(diagonal)));
    }
    return made.add(std::move(rewritten));
  });
}

}  // namespace

bool may_hold_cells(const EinGraph& graph) {
  return std::any_of(graph.vertices().begin(), graph.vertices().end(),
                     [](const Vertex& vertex) { return vertex.is_input() && vertex.stored->cells; });
}

namespace {

EinGraph chosen_without_masks(EinGraph graph, const CalibratedModel& model, const CellLimits& limits) {
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (graph.vertex(VertexId(v)).cells) graph.hold_as_cells(VertexId(v), std::nullopt);
  graph.drop_chains();
  auto chosen = CellChoice(with_own_diagonals(graph), model, limits).run();
  const auto moves_cells = [&](const Vertex& vertex) {
    return !vertex.is_input() && is_diagonal(vertex.einsum) && chosen.vertex(vertex.inputs.front()).cells;
  };
  // A diagonal of plain values is read where it lies.
  if (chosen.size() > graph.size() && std::none_of(chosen.vertices().begin(), chosen.vertices().end(), moves_cells))
    chosen = CellChoice(std::move(graph), model, limits).run();
  return merge_joins_of_cells(chosen, model);
}

// Of all vertices, each in one call.
double seconds_of(const EinGraph& graph, const CalibratedModel& model) {
  double seconds = 0;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    const auto shape = shape_of(graph, vertex);
    seconds += model.join(shape, Partition(shape.extents.size(), 1));
  }
  return seconds;
}

}  // namespace

EinGraph choose_cells(EinGraph graph, const CalibratedModel& model, const CellLimits& limits) {
  constexpr std::size_t kMostMasks = 8;
  auto chosen = chosen_without_masks(std::move(graph), model, limits);
  for (std::size_t tried = 0, n = 0; tried < kMostMasks; ++tried) {
    const auto masks = find_masks(chosen);
    if (n >= masks.size()) break;
    auto masked = chosen_without_masks(with_mask(chosen, masks[n]), model, limits);
    if (seconds_of(masked, model) < seconds_of(chosen, model)) chosen = std::move(masked);
    else ++n;
  }
  return chosen;
}

}  // namespace eindb
