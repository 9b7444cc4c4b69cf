#include "optimizer/partitions/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "optimizer/partitions/chain_shape.hpp"
#include "optimizer/partitions/density.hpp"
#include "plan/local_fragment.hpp"

namespace eindb {
namespace {

class Predictor {
 public:
  Predictor(const EinGraph& graph, const Fragment& plan, const CalibratedModel& model)
      : graph_(graph), plan_(plan), model_(model), read_(plan.nodes.size()), is_read_(plan.nodes.size(), false) {
    for (const auto& node : plan.nodes) {
      for (const auto input : inputs_of(node)) {
        if (plan.node(input).stored() == nullptr) continue;
        const auto [tiles, bytes] = read_by(node, input);
        auto& read = read_[input.index()];
        read = {std::max(read.tiles, tiles), std::max(read.bytes, bytes)};
      }
    }
  }

  Prediction run() {
    Prediction out;
    out.seconds = model_.start(most_calls());
    for (const auto& node : plan_.nodes) {
      auto predicted = std::visit([&](const auto& op) { return of(node, op); }, node.op);
      // A join that is read by a group-by runs as part of it, and its inputs have no other reader.
      for (const auto input : inputs_of(node)) predicted.seconds += reading(input.index());
      out.seconds += predicted.seconds;
      out.elements += predicted.elements;
      out.nodes.push_back(predicted);
    }
    return out;
  }

 private:
  double most_calls() const {
    double most = 1;
    for (const auto& node : plan_.nodes)
      if (const auto* join = std::get_if<JoinNode>(&node.op))
        most = std::max(most, kernel_calls(join->partition.parts));
    return most;
  }

  static NodePrediction of(const FragmentNode&, const ScanNode&) { return {}; }
  static NodePrediction of(const FragmentNode&, const SinkNode&) { return {}; }

  NodePrediction of(const FragmentNode& node, const RepartitionNode& repartition) const {
    const auto& from = plan_.node(repartition.input).grid.partition();
    const auto& extents = node.grid.shape().extents();
    const auto present = graph_.vertex(node.vertex).density.present * node.stored_share();
    return {present * model_.repartition(from, node.grid.partition(), extents, size_of(node.dtype)),
            present * transfers_model().repartition(from, node.grid.partition(), extents, size_of(node.dtype))};
  }

  // Each input is copied once, as if it were cut like the result.
  NodePrediction of(const FragmentNode& node, const ConcatenationNode& joined) const {
    NodePrediction sum;
    for (const auto input : joined.inputs) {
      const auto& from = plan_.node(input);
      auto wanted = node.grid.partition();
      const auto& extents = from.grid.shape().extents();
      const auto share =
          static_cast<double>(extents[joined.along]) / static_cast<double>(node.grid.shape()[joined.along]);
      const auto parts = std::round(static_cast<double>(wanted[joined.along]) * share);
      wanted[joined.along] = std::clamp<std::int64_t>(static_cast<std::int64_t>(parts), 1, extents[joined.along]);
      const auto present = graph_.vertex(from.vertex).density.present * from.stored_share();
      sum.seconds += present * model_.repartition(from.grid.partition(), wanted, extents, size_of(node.dtype));
      sum.elements +=
          present * transfers_model().repartition(from.grid.partition(), wanted, extents, size_of(node.dtype));
    }
    return sum;
  }

  NodePrediction of(const FragmentNode& node, const JoinNode& join) const {
    if (!join.steps.empty()) return of_chain(chain_of(node.vertex), join);
    const auto shape = shape_of(graph_, graph_.vertex(node.vertex));
    return {model_.join(shape, join.partition.parts), transfers_model().join(shape, join.partition.parts)};
  }

  const FusedChain& chain_of(VertexId result) const {
    const auto& chains = graph_.chains();
    const auto chain = std::find_if(chains.begin(), chains.end(), [&](const auto& c) { return c.result == result; });
    CHECK(chain != chains.end(), "a join of steps computes a chain of its graph");
    return *chain;
  }

  // Sums the steps as if each were a join of its own. Epilogues are steps of the same vertex, which counts once.
  NodePrediction of_chain(const FusedChain& chain, const JoinNode& join) const {
    NodePrediction sum;
    for (std::size_t s = 0; s < join.steps.size(); ++s) {
      const auto& vertex = graph_.vertex(join.steps[s].vertex);
      if (s > 0 && join.steps[s - 1].vertex == join.steps[s].vertex) continue;
      const auto shape = shape_in_chain(graph_, join.steps[s].vertex, chain);
      const auto parts = join.partition.project(vertex.einsum.labels());
      sum.seconds += model_.join(shape, parts);
      sum.elements += transfers_model().join(shape, parts);
    }
    return sum;
  }

  NodePrediction of(const FragmentNode& node, const GroupByNode& group_by) const {
    const auto* partition = plan_.node(group_by.input).label_partition();
    CHECK(partition != nullptr, "a group-by reads what is cut along labels");
    const auto& parts = partition->parts;
    const auto shape = shape_of(graph_, graph_.vertex(node.vertex));
    return {model_.aggregation(shape, parts), transfers_model().aggregation(shape, parts)};
  }

  // The shares of a stored tensor's tiles and of its bytes that are read.
  struct Read {
    double tiles = 0;
    double bytes = 0;
  };

  // Where rows are gathered, nothing else is read of those tiles that were read before.
  Read read_by(const FragmentNode& reader, NodeId input) const {
    const auto* join = std::get_if<JoinNode>(&reader.op);
    if (join == nullptr || !join->steps.empty()) return {1, 1};
    const auto shape = shape_of(graph_, graph_.vertex(reader.vertex));
    if (!shape.rows || join->inputs[*shape.rows] == input) return {1, 1};
    auto parts = join->partition.parts;
    for (const auto place : shape.output) parts[place] = 1;
    const auto cells = tile_elements(shape, parts, shape.output);
    const auto all = static_cast<double>(plan_.node(input).grid.shape().element_count());
    return {share_with_rows(shape, parts), std::min(1.0, cells / std::max(1.0, all))};
  }

  // The tiles of a stored tensor are read only once, by its first reader.
  double reading(std::size_t n) {
    const auto& node = plan_.nodes[n];
    const auto* stored = node.stored();
    if (stored == nullptr || stored->attached || stored->is_computed || is_read_[n]) return 0;
    is_read_[n] = true;
    const auto bytes = RelationView{node.dtype, node.grid, node.stored_share()}.bytes() * read_[n].bytes;
    const auto tiles = static_cast<double>(node.grid.tile_count()) * read_[n].tiles;
    // What is stored is known in cells already, of the tiles that have some.
    if (stored->as_cells)
      return model_.read(tiles * present_in(graph_.vertex(node.vertex).density, node.grid.partition()), bytes);
    return model_.read(tiles, bytes) * stored->present;
  }

  const EinGraph& graph_;
  const Fragment& plan_;
  const CalibratedModel& model_;
  std::vector<Read> read_;  // by all readers of a node
  std::vector<bool> is_read_;
};

}  // namespace

Prediction predict(const EinGraph& graph, const Fragment& plan, const CalibratedModel& model) {
  return Predictor(graph, plan, model).run();
}

double seconds_of_block(const EinGraph& graph, const PhysicalPlan& plan, StepId compute, const CalibratedModel& model) {
  const auto& op = std::get<ComputeStep>(plan.step(compute).op);
  const auto first = std::find_if(op.at.begin(), op.at.end(), [](const auto& at) { return at.has_value(); });
  CHECK(first != op.at.end(), "some rank computes a step");
  double blocks = 1;
  for (const auto parts : op.blocks) blocks *= static_cast<double>(parts);
  const auto rank = static_cast<Rank>(first - op.at.begin());
  return predict(graph, local_fragment(plan, compute, rank), model).seconds / blocks;
}

double predicted_seconds(const EinGraph& graph, const PhysicalPlan& plan, const CalibratedModel& model) {
  if (const auto* fragment = plan.fragment()) return predict(graph, *fragment, model).seconds;
  double seconds = 0;
  for (std::size_t n = 0; n < plan.steps.size(); ++n)
    if (std::holds_alternative<ComputeStep>(plan.steps[n].op))
      seconds += seconds_of_block(graph, plan, StepId(n), model);
  return seconds;
}

std::vector<VertexId> vertices_served(const Fragment& plan) {
  std::vector<VertexId> served;
  for (const auto& node : plan.nodes) served.push_back(node.vertex);
  for (std::size_t n = plan.nodes.size(); n-- > 0;) {
    // Readers come later in the plan, so going backwards the first reader is the last to write.
    for (const auto input : inputs_of(plan.nodes[n])) {
      CHECK(input.index() < n, "what a node reads stands before it in the plan");
      const auto role = plan.node(input).role();
      if (role == OperatorRole::Source || role == OperatorRole::Layout) served[input.index()] = served[n];
    }
  }
  return served;
}

}  // namespace eindb
