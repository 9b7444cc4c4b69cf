#include "optimizer/cell_choice.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "optimizer/cell_joins.hpp"
#include "optimizer/partitions/cell_work.hpp"
#include "tensor/annihilation.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/cell_estimate.hpp"
#include "tensor/cell_gather.hpp"

namespace eindb {
namespace {

// Tensors with a larger share of cells are read as dense ones: with coordinates, cells take as many bytes.
constexpr double kMostDense = 0.5;
// Results that are smaller than this, or have a larger share of cells, are dense.
constexpr double kFewResults = 65536;
constexpr double kMostDenseResult = 0.1;

class CellChoice {
 public:
  CellChoice(EinGraph graph, const CalibratedModel& model, bool always, double memory)
      : graph_(std::move(graph)), model_(model), always_(always), memory_(memory), readers_(graph_.size()) {
    for (std::size_t v = 0; v < graph_.size(); ++v)
      for (const auto input : graph_.vertex(VertexId(v)).inputs) {
        auto& readers = readers_[input.index()];
        if (readers.empty() || readers.back() != VertexId(v)) readers.push_back(VertexId(v));
      }
  }

  EinGraph run() {
    for (std::size_t v = 0; v < graph_.size(); ++v)
      if (may_be_cells(VertexId(v))) try_set({VertexId(v)});
    for (std::size_t v = 0; v < graph_.size(); ++v) {
      std::vector<VertexId> together;
      for (const auto input : graph_.vertex(VertexId(v)).inputs)
        if (may_be_cells(input) && std::find(together.begin(), together.end(), input) == together.end())
          together.push_back(input);
      if (together.size() > 1) try_set(together);
    }
    for (std::size_t v = 0; v < graph_.size(); ++v) try_result(VertexId(v));
    return std::move(graph_);
  }

 private:
  bool may_be_cells(VertexId id) const {
    const auto& stored = graph_.vertex(id).stored;
    if (!stored || stored->as_cells || !stored->cells || stored->attached || stored->selection) return false;
    const auto all = static_cast<double>(stored->grid.shape().element_count());
    return (always_ || stored->cells->cells <= kMostDense * all) && !has_scales(stored->encoding) &&
           fits(stored->cells->cells, stored->dtype, stored->grid.rank()) && !readers_[id.index()].empty() &&
           CellBlock::may_have(stored->grid.shape());
  }

  bool fits(double cells, DType type, std::size_t rank) const {
    return cells * static_cast<double>(CellGather::bytes_for(type, rank, 1)) / 2 <= memory_;
  }

  void try_set(const std::vector<VertexId>& inputs) {
    auto tried = graph_;
    for (const auto input : inputs) tried.hold_as_cells(input, graph_.vertex(input).stored->cells);
    take_if_faster(std::move(tried), inputs, {});
  }

  // A result of few cells of a vertex that is computed from cells.
  void try_result(VertexId id) {
    const auto& vertex = graph_.vertex(id);
    if (vertex.is_input() || vertex.bound.rank() == 0) return;
    const auto cells = cells_of_inputs(graph_, vertex);
    if (std::none_of(cells.begin(), cells.end(), [](const auto& count) { return count.has_value(); })) return;
    const auto all = static_cast<double>(vertex.bound.element_count());
    const auto pattern = pattern_of(graph_, vertex, cells);
    if (!pattern) return;
    auto made = cell_results(vertex.einsum, graph_.labels(), cells, *pattern);
    if (!always_ && (all < kFewResults || made.cells > kMostDenseResult * all)) return;
    if (!CellBlock::may_have(vertex.bound) || !fits(made.cells, vertex.dtype, vertex.bound.rank())) return;
    if (!keeps_zero(vertex.einsum, vertex.compute_dtype)) return;
    auto tried = graph_;
    tried.hold_as_cells(id, std::move(made));
    take_if_faster(std::move(tried), {id}, {id});
  }

  // If all readers of what is now held as cells can be computed from these.
  void take_if_faster(EinGraph tried, const std::vector<VertexId>& changed, std::vector<VertexId> affected) {
    for (const auto id : changed)
      for (const auto reader : readers_[id.index()])
        if (std::find(affected.begin(), affected.end(), reader) == affected.end()) affected.push_back(reader);
    double before = 0;
    double after = 0;
    for (const auto reader : affected) {
      if (!can_be_computed(tried, tried.vertex(reader))) return;
      before += seconds(graph_, reader);
      after += seconds(tried, reader);
    }
    if (always_ || after < before) graph_ = std::move(tried);
  }

  static bool can_be_computed(const EinGraph& graph, const Vertex& vertex) {
    const auto cells = cells_of_inputs(graph, vertex);
    const auto pattern = pattern_of(graph, vertex, cells);
    return pattern &&
           (!vertex.cells || leaves_zeros(vertex.einsum, graph.labels(), input_types(graph, vertex.inputs), *pattern));
  }

  // In one call, which both ways share among threads alike.
  double seconds(const EinGraph& graph, VertexId id) const {
    const auto shape = shape_of(graph, graph.vertex(id));
    return model_.join(shape, Partition(shape.extents.size(), 1));
  }

  EinGraph graph_;
  const CalibratedModel& model_;
  const bool always_;
  const double memory_;
  std::vector<std::vector<VertexId>> readers_;  // by vertex, each once
};

}  // namespace

bool may_hold_cells(const EinGraph& graph) {
  return std::any_of(graph.vertices().begin(), graph.vertices().end(),
                     [](const Vertex& vertex) { return vertex.is_input() && vertex.stored->cells; });
}

EinGraph choose_cells(EinGraph graph, const CalibratedModel& model, bool always, double memory) {
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (graph.vertex(VertexId(v)).cells) graph.hold_as_cells(VertexId(v), std::nullopt);
  graph.drop_chains();
  return merge_joins_of_cells(CellChoice(std::move(graph), model, always, memory).run(), model);
}

}  // namespace eindb
