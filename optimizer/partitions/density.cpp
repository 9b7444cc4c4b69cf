#include "optimizer/partitions/density.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "tensor/annihilation.hpp"

namespace eindb {
namespace {

// Sets of operands are bit masks; more operands than this are treated as dense.
constexpr std::size_t kMostOperandsWeighed = 6;

double at_least_one_of(double probability, double tries) { return 1 - std::pow(1 - probability, tries); }

double share_made(const SparseWork& work, const std::vector<double>& present) {
  CHECK(work.saves_call.size() == std::size_t{1} << present.size(),
        "of every set of absent operands it is known whether it saves a call");
  double saved = 0;
  for (std::size_t absent = 0; absent < work.saves_call.size(); ++absent) {
    if (!work.saves_call[absent]) continue;
    double probability = 1;
    for (std::size_t n = 0; n < present.size(); ++n)
      probability *= (absent >> n & 1U) != 0 ? 1 - present[n] : present[n];
    saved += probability;
  }
  return std::clamp(1 - saved, 0.0, 1.0);
}

// The partition vector that follows the tiles of the operands: per label the largest number of parts of any operand.
Partition natural_parts(const VertexShape& shape) {
  Partition d(shape.extents.size(), 1);
  for (std::size_t n = 0; n < shape.sparse.operands.size(); ++n) {
    const auto& parts = shape.sparse.operands[n].parts;
    CHECK(parts.empty() || parts.size() == shape.inputs[n].size(), "an operand is cut along each of its dimensions");
    for (std::size_t k = 0; k < parts.size(); ++k) {
      auto& own = d[shape.inputs[n][k]];
      own = std::max(own, parts[k]);
    }
  }
  return d;
}

TileDensity density_of(const EinGraph& graph, const Vertex& vertex) {
  if (vertex.is_input()) return {vertex.stored->present, vertex.stored->grid.partition()};
  const auto shape = shape_of(graph, vertex);
  if (shape.sparse.operands.empty() || !keeps_zero(vertex.einsum, vertex.compute_dtype)) return {};
  const auto d = natural_parts(shape);
  return {share_of_groups(shape, d), project(d, shape.output)};
}

}  // namespace

void estimate_densities(EinGraph& graph) {
  // Results of dense tensors are dense, as vertices say from the start.
  const auto is_sparse = [](const Vertex& vertex) {
    return vertex.is_input() ? vertex.stored->present < 1 : vertex.density != TileDensity{};
  };
  if (std::none_of(graph.vertices().begin(), graph.vertices().end(), is_sparse)) return;
  for (std::size_t v = 0; v < graph.size(); ++v)
    graph.set_density(VertexId(v), density_of(graph, graph.vertex(VertexId(v))));
}

SparseWork sparse_work_of(const EinGraph& graph, const Vertex& vertex) {
  SparseWork work;
  const auto count = vertex.inputs.size();
  if (count > kMostOperandsWeighed) return work;
  for (const auto input : vertex.inputs) work.operands.push_back(graph.vertex(input).density);
  if (std::none_of(work.operands.begin(), work.operands.end(), [](const auto& o) { return o.is_sparse(); })) return {};
  std::vector<DType> types;
  for (const auto input : vertex.inputs) types.push_back(graph.vertex(input).dtype);
  bool saves_some = false;
  for (std::size_t absent = 0; absent < std::size_t{1} << count; ++absent) {
    std::vector<OperandFacts> facts;
    for (std::size_t n = 0; n < count; ++n) facts.push_back({.zero = (absent >> n & 1U) != 0, .magnitude = 0});
    work.saves_call.push_back(absent != 0 && changes_nothing(vertex.einsum, facts, types));
    saves_some = saves_some || work.saves_call.back();
  }
  return saves_some ? work : SparseWork{};
}

double present_in(const TileDensity& density, const Partition& parts) {
  if (!density.is_sparse()) return 1;
  CHECK(density.parts.size() == parts.size(), "a sparse tensor is cut along each of its dimensions");
  double tiles = 1;
  for (std::size_t d = 0; d < parts.size(); ++d)
    tiles *= std::max(1.0, static_cast<double>(density.parts[d]) / static_cast<double>(parts[d]));
  return at_least_one_of(density.present, tiles);
}

double share_of_calls(const VertexShape& shape, const Partition& d) {
  const double reached = reached_share(shape, d);
  if (shape.sparse.operands.empty()) return reached;
  CHECK(shape.sparse.operands.size() == shape.inputs.size(), "the density of every operand is known");
  std::vector<double> present;
  for (std::size_t n = 0; n < shape.inputs.size(); ++n)
    present.push_back(present_in(shape.sparse.operands[n], project(d, shape.inputs[n])));
  return reached * share_made(shape.sparse, present);
}

double share_of_groups(const VertexShape& shape, const Partition& d) {
  return at_least_one_of(share_of_calls(shape, d), kernel_calls(project(d, shape.aggregated)));
}

}  // namespace eindb
