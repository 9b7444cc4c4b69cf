#include "optimizer/partitions/cell_work.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "tensor/access_form.hpp"
#include "tensor/cell_move.hpp"

namespace eindb {
namespace {

// Measured for FLOAT64 on cores with AVX-512 and AVX2: a step of a run along a label that only dense operands have; one
// that finds values of dense operands by a coordinate each; one at which several operands of cells meet; and what a
// cell takes beside its steps.
constexpr double kRunStepSeconds = 0.25e-9;
constexpr double kSingleStepSeconds = 0.8e-9;
constexpr double kMeetingStepSeconds = 2.0e-9;
constexpr double kCellSeconds = 0.5e-9;
constexpr double kMadeCellSeconds = 10e-9;
constexpr double kMovedCellSeconds = 10e-9;  // of an access: to find its place, and its order among others
constexpr double kMadeCellOfRunSeconds = 20e-9;
// Seconds of a line, which is the cells of an operand that differ in one label alone, beside those of its cells; of
// each value in the run of a dense operand that a line is added to; of a line that is merged with one of another
// operand, where cells of either count; and of a line of the result.
constexpr double kLineSeconds = 1e-9;
constexpr double kPlaceSeconds = 1e-9;
constexpr double kMergedLineSeconds = 15e-9;
constexpr double kMadeLineSeconds = 15e-9;
// A result with all values is filled with zeros before single ones are added to it: in new memory, or in a cache.
constexpr double kFillSecondsPerByte = 0.15e-9;
constexpr double kCachedFillSecondsPerByte = 0.04e-9;
constexpr double kCachedResult = 2 << 20;  // bytes
constexpr double kShortestRun = 4;
// Parts into which a label of cells may be cut, so that threads end at about the same time.
constexpr std::int64_t kMostParts = 64;

bool is_of_cells(const Vertex& vertex, const OperandCells& cells, Label label) {
  for (std::size_t n = 0; n < cells.size(); ++n)
    if (cells[n] && contains(vertex.einsum.inputs[n], label)) return true;
  return false;
}

CellLines lines_of(const std::vector<std::size_t>& places, double cells, double seconds) {
  return {{places.begin(), places.end() - 1}, places.back(), cells, seconds};
}

}  // namespace

OperandCells cells_of_inputs(const EinGraph& graph, const Vertex& vertex) {
  OperandCells cells;
  for (const auto input : vertex.inputs) cells.push_back(graph.vertex(input).cells);
  return cells;
}

std::optional<CellPattern> pattern_of(const EinGraph& graph, const Vertex& vertex, const OperandCells& cells) {
  std::vector<bool> of_cells;
  for (const auto& count : cells) of_cells.push_back(count.has_value());
  return cell_pattern(vertex.einsum, input_types(graph, vertex.inputs), of_cells, harmless_facts(cells.size()),
                      Zero::EitherSign);
}

void add_cell_work(const EinGraph& graph, const Vertex& vertex, VertexShape& shape) {
  const auto cells = cells_of_inputs(graph, vertex);
  if (std::none_of(cells.begin(), cells.end(), [](const auto& count) { return count.has_value(); })) return;
  const auto pattern = pattern_of(graph, vertex, cells);
  CHECK(pattern.has_value(), "a vertex reads cells where it can be computed from them");
  double run = 1;
  for (const auto label : shape.extents.empty() ? Labels() : vertex.einsum.labels()) {
    const bool of_cells = is_of_cells(vertex, cells, label);
    const auto extent = graph.labels().extent(label);
    if (!of_cells) run *= static_cast<double>(extent);
    shape.most_parts.push_back(of_cells ? std::min(extent, kMostParts) : 1);
  }
  const double steps = cell_steps(vertex.einsum, graph.labels(), cells, *pattern);
  const auto of_cells = std::count_if(cells.begin(), cells.end(), [](const auto& count) { return count.has_value(); });
  const bool moves = access_form(vertex.einsum) || is_diagonal(vertex.einsum);
  if (moves) run = 1;  // each cell finds the labels that it has not
  const auto step = moves                 ? kMovedCellSeconds
                    : run >= kShortestRun ? kRunStepSeconds
                    : of_cells > 1        ? kMeetingStepSeconds
                                          : kSingleStepSeconds;
  shape.cell_seconds = steps * step;
  shape.shares_cells = !vertex.cells && *pattern == CellPattern::Intersection && !moves;
  for (std::size_t n = 0; n < cells.size(); ++n) {
    if (cells[n]) {
      shape.cell_seconds += cells[n]->cells * kCellSeconds;
      const auto line =
          *pattern == CellPattern::Union ? kMergedLineSeconds : kLineSeconds + (run > 1 ? run * kPlaceSeconds : 0);
      shape.cell_lines.push_back(lines_of(shape.inputs[n], cells[n]->cells, line));
    }
    shape.stored_shares.push_back(graph.vertex(vertex.inputs[n]).stored_share());
  }
  if (!vertex.cells) {
    const auto bytes =
        static_cast<double>(vertex.bound.element_count()) * static_cast<double>(size_of(vertex.compute_dtype));
    shape.cell_seconds += bytes * (bytes <= kCachedResult ? kCachedFillSecondsPerByte : kFillSecondsPerByte);
  }
  if (vertex.cells) {
    shape.cell_seconds += vertex.cells->cells * (run >= kShortestRun ? kMadeCellOfRunSeconds : kMadeCellSeconds);
    shape.cell_lines.push_back(lines_of(shape.output, vertex.cells->cells, kMadeLineSeconds));
    shape.result_share = vertex.stored_share();
    // Cells that several calls make of one part of the result are not combined.
    for (const auto place : shape.aggregated) shape.whole.push_back(place);
  }
  CHECK(shape.most_parts.size() == shape.extents.size(), "every label of a vertex may be cut into parts");
}

}  // namespace eindb
