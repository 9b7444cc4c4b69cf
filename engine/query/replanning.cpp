#include "engine/query/replanning.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/stopwatch.hpp"
#include "engine/query/planning_options.hpp"
#include "optimizer/checkpoints.hpp"
#include "optimizer/optimizer.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/remaining_graph.hpp"
#include "plan/cell_product.hpp"
#include "storage/cells/cell_tally.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {

TilePtr ComputedTiles::read(const std::string& tensor, std::int64_t tile_id) {
  const auto found = computed_.find(tensor);
  return found == computed_.end() ? stored_.read(tensor, tile_id) : found->second->values(tile_id);
}

TilePtr ComputedTiles::read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                     ValueOrder order) {
  return stored_.read_attached(tensor, grid, tile_id, order);
}

TilePtr ComputedTiles::read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) {
  const auto found = computed_.find(tensor);
  if (found == computed_.end()) return stored_.read_cells(tensor, grid, tile_id);
  auto& relation = *found->second;
  CHECK(relation.grid() == grid, "what was computed is read in its own partition");
  if (auto tile = relation.stored_tile(tile_id)) return tile;
  const auto shape = grid.tile_shape(grid.key_of(tile_id));
  return memory_->track(
      Tile::of_cells(std::make_shared<const CellBlock>(CellBlock::of_numbers(relation.dtype(), shape, {}, {}))));
}

std::optional<TilePtr> ComputedTiles::read_cut(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                               const std::function<std::optional<Tile>()>& assemble) {
  if (computed_.contains(tensor)) return std::nullopt;
  return stored_.read_cut(tensor, grid, tile_id, assemble);
}

void ComputedTiles::let_go(const std::string& tensor) noexcept {
  if (!computed_.contains(tensor)) stored_.let_go(tensor);
}

bool Replanner::goes_on(const ReachedCheckpoint& reached) {
  const auto& node = planned_.plan.fragment().node(reached.node);
  CHECK(node.cells.has_value(), "a checkpoint has cells");
  const auto factor = session_.user.settings.replan_factor();
  const auto expected = std::max(1.0, *node.cells);
  const auto found = std::max(1.0, static_cast<double>(reached.cells));
  if (factor == 0 || std::max(found / expected, expected / found) < factor) return true;
  const CalibratedModel model(session_.user.machine(), session_.user.settings.threads());
  const bool is_short =
      seconds_left(planned_.plan.graph, planned_.plan.fragment(), reached.node, found, model) < kLeastSecondsLeft;
  if (is_short && factor > 1) return true;
  try {
    if (auto rest = plan_rest(reached)) rest_.emplace(*std::move(rest));
  } catch (const Error& error) {
    // The running plan can continue: a setting may not apply to the remaining part, such as labels that it does not
    // have.
    if (error.kind() == ErrorKind::Cancelled || error.kind() == ErrorKind::Internal) throw;
  }
  return !rest_.has_value();
}

std::optional<Replanner::Rest> Replanner::plan_rest(const ReachedCheckpoint& reached) const {
  const Stopwatch watch;
  const auto& graph = planned_.plan.graph;
  const auto& fragment = planned_.plan.fragment();
  std::vector<std::size_t> results;
  for (auto n = reached.node.index() + 1; n < fragment.nodes.size(); ++n)
    if (const auto number = fragment.nodes[n].result_number()) results.push_back(*number);
  std::sort(results.begin(), results.end());
  std::map<VertexId, InputTensor> tensors;
  std::map<std::string, std::shared_ptr<Relation>> computed;
  for (const auto& [id, relation] : reached.held) {
    const auto& node = fragment.node(id);
    // Stored tensors are read again, whatever cut of them there is.
    if (graph.vertex(node.vertex).is_input() || tensors.contains(node.vertex)) continue;
    auto tensor = tensor_of(id, *relation);
    CHECK(computed.emplace(tensor.name, relation).second, "what was computed has names of its own");
    tensors.emplace(node.vertex, std::move(tensor));
  }
  note(reached, tensors);
  const auto is_there = [&](std::size_t number) { return tensors.contains(graph.outputs()[number]); };
  if (std::any_of(results.begin(), results.end(), is_there)) return std::nullopt;
  const auto& whole = planned_.query;
  auto left = remaining_graph(graph, tensors, results);
  BoundQuery query{.graph = std::move(left.graph),
                   .results = {},
                   .regions = {},
                   .path_optimizer = whole.path_optimizer,
                   .path_weight = whole.path_weight,
                   .cuts = whole.cuts};
  ResultRequest request{.without_workers = true};
  std::vector<bool> dense;
  for (const auto number : results) {
    query.results.push_back(whole.results[number]);
    request.partitions.emplace_back(planned_.result_grid(number).partition());
    dense.push_back(!planned_.holds_cells(number));
  }
  auto options = planning_options(query, session_.user, session_.statement, request);
  options.dense_results = std::move(dense);
  options.disabled_passes.emplace("input_types");  // the tiles come in the types that the whole plan reads
  auto plan = optimize(query.graph, options);
  if (plan.shortfall) return std::nullopt;
  auto made = std::make_shared<const QueryPlan>(QueryPlan{.query = std::move(query),
                                                          .plan = std::move(plan),
                                                          .order_given = planned_.order_given,
                                                          .parameters = planned_.shared->parameters,
                                                          .predicted_seconds = 0,
                                                          .place = std::nullopt,
                                                          .observed = planned_.shared->observed,
                                                          .observed_before = 0,
                                                          .computed = products_of(tensors),
                                                          .runs = {},
                                                          .inputs = {}});
  const auto& node = fragment.node(reached.node);
  return Rest{.planned = PlannedQuery(std::move(made), nullptr, PlanSource::Made, watch.seconds()),
              .results = std::move(results),
              .computed = std::move(computed),
              .vertex = graph.vertex(node.vertex).name,
              .expected = *node.cells,
              .found = reached.cells};
}

// The products of stored tensors that the computed inputs of the remaining part are equal to.
ComputedProducts Replanner::products_of(const std::map<VertexId, InputTensor>& tensors) const {
  ComputedProducts products;
  for (const auto& [vertex, tensor] : tensors)
    if (auto product = product_of(planned_.plan.graph, vertex, planned_.shared->computed))
      products.emplace(tensor.name, *std::move(product));
  return products;
}

// For the next plan of the whole statement.
void Replanner::note(const ReachedCheckpoint& reached, const std::map<VertexId, InputTensor>& tensors) const {
  const auto& shared = *planned_.shared;
  const auto vertex = planned_.plan.fragment().node(reached.node).vertex;
  const auto found = tensors.find(vertex);
  CHECK(found != tensors.end() && found->second.cells, "the cells of a checkpoint are counted");
  const auto product = product_of(planned_.plan.graph, vertex, shared.computed);
  if (product && shared.observed != nullptr) observe(*shared.observed, *product, *found->second.cells);
}

// As a stored tensor, with a name of its own.
InputTensor Replanner::tensor_of(NodeId id, Relation& relation) const {
  const auto& node = planned_.plan.fragment().node(id);
  const auto& graph = planned_.plan.graph;
  const auto& vertex = graph.vertex(node.vertex);
  InputTensor tensor{.name = vertex.name + " #" + std::to_string(id.index()), .dtype = node.dtype, .grid = node.grid};
  const auto is_taken = [&](const Vertex& other) { return other.stored && other.stored->name == tensor.name; };
  while (std::any_of(graph.vertices().begin(), graph.vertices().end(), is_taken)) tensor.name += " ";
  tensor.present = vertex.density.present;
  tensor.is_computed = true;
  if (node.cells) tensor.cells = count_cells(node, relation);
  return tensor;
}

// The degrees of labels are left out where to count them takes much memory.
CellEstimate Replanner::count_cells(const FragmentNode& node, Relation& relation) const {
  constexpr std::int64_t kShareOfMemory = 64;
  constexpr std::int64_t kMostBytes = 64 << 20;
  constexpr std::int64_t kMostPasses = 2;
  CellEstimate out;
  const auto for_each = [&](const auto& visit) {
    for (std::int64_t n = 0; n < relation.tile_count(); ++n) {
      session_.statement.cancellation().check();
      const auto id = relation.tile_id_of(n);
      const auto tile = relation.stored_tile(id);
      if (tile != nullptr) visit(id, tile->cells());
    }
  };
  for_each([&](std::int64_t, const CellBlock& cells) { out.cells += static_cast<double>(cells.count()); });
  const auto bytes = std::clamp<std::int64_t>(memory_.limit() / kShareOfMemory, 1, kMostBytes);
  CellTally tally(node.grid.shape(), out.cells, bytes);
  if (tally.passes() > kMostPasses || !memory_.try_reserve(tally.bytes())) return out;
  const struct Room {
    MemoryBudget& memory;
    std::int64_t bytes;
    ~Room() { memory.release(bytes); }
  } room{memory_, tally.bytes()};
  for (std::int64_t pass = 0; pass < tally.passes(); ++pass) {
    tally.begin(pass);
    for_each(
        [&](std::int64_t id, const CellBlock& cells) { tally.add(cells, node.grid.tile_begin(node.grid.key_of(id))); });
    tally.end();
  }
  out.spread = tally.spread();
  return out;
}

}  // namespace eindb
