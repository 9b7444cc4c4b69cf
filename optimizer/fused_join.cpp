#include "optimizer/fused_join.hpp"

#include <algorithm>
#include <map>

#include "common/check.hpp"
#include "optimizer/partitions/chain_shape.hpp"

namespace eindb {
namespace {

class ChainSteps {
 public:
  ChainSteps(const EinGraph& graph, const FusedChain& chain, const LabelPartition& partition)
      : graph_(graph), chain_(chain) {
    join_.partition = partition;
    join_.rows = chain.rows;
  }

  JoinNode run() {
    for (const auto id : chain_.body)
      for (std::size_t i = 0; i < graph_.vertex(id).inputs.size(); ++i) find_input(id, i);
    for (const auto id : chain_.body) add(id);
    CHECK(made_.size() == chain_.body.size(), "every vertex of a chain is made once");
    describe_outside();
    return std::move(join_);
  }

 private:
  bool is_inside(VertexId id) const { return std::binary_search(chain_.body.begin(), chain_.body.end(), id); }

  void find_input(VertexId reader, std::size_t operand) {
    const auto id = graph_.vertex(reader).inputs[operand];
    if (is_inside(id)) return;
    const auto& labels = graph_.vertex(reader).einsum.inputs[operand];
    const auto [known, is_new] = inputs_.try_emplace({id, labels}, join_.inputs.size());
    if (!is_new) return;
    join_.inputs.emplace_back(id.index());
    join_.einsum.inputs.push_back(labels);
  }

  void add(VertexId id) {
    if (made_.contains(id)) return;
    const auto& vertex = graph_.vertex(id);
    JoinStep step{id, {}, vertex.einsum, vertex.compute_dtype};
    step.einsum.epilogue = nullptr;
    if (const auto twin = twin_in_chain(graph_, id, chain_)) {
      add(*twin);
      step.inputs = {made_.at(*twin)};
      step.einsum.inputs = {graph_.vertex(*twin).einsum.output};
      step.einsum.expression = ScalarExpression::operand(0);
    } else {
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
        const auto input = vertex.inputs[i];
        if (is_inside(input)) add(input);
        step.inputs.push_back(is_inside(input) ? made_.at(input) : inputs_.at({input, vertex.einsum.inputs[i]}));
      }
    }
    auto result = push(std::move(step));
    if (vertex.einsum.epilogue != nullptr) {
      const auto& head = vertex.einsum.output;
      result = push({id,
                     {result},
                     {.inputs = {head},
                      .output = head,
                      .aggregated = {},
                      .expression = vertex.einsum.epilogue,
                      .aggregate = Aggregate::None},
                     vertex.compute_dtype});
    }
    made_.emplace(id, result);
  }

  std::size_t push(JoinStep step) {
    CHECK(std::all_of(step.inputs.begin(), step.inputs.end(),
                      [&](std::size_t input) { return input < join_.inputs.size() + join_.steps.size(); }),
          "a step of a chain reads operands and steps before it");
    join_.steps.push_back(std::move(step));
    return join_.inputs.size() + join_.steps.size() - 1;
  }

  void describe_outside() {
    CHECK(!join_.steps.empty() && join_.steps.back().vertex == chain_.result,
          "the last step of a chain gives its result");
    const auto& result = join_.steps.back();
    join_.compute_dtype = result.compute_dtype;
    join_.einsum.output = result.einsum.output;
    for (const auto label : join_.partition.labels)
      if (!contains(join_.einsum.output, label)) join_.einsum.aggregated.push_back(label);
    if (!join_.einsum.aggregated.empty()) join_.einsum.aggregate = Aggregate::Max;
    join_.einsum.expression = join_.inputs.empty()
                                  ? ScalarExpression::with_type(ScalarExpression::integer(1), join_.compute_dtype)
                                  : ScalarExpression::call(ScalarOp::Not, {ScalarExpression::operand(0)});
    // A partition vector lists the labels in the EinSum's order.
    LabelPartition ordered{join_.einsum.labels(), {}};
    ordered.parts = join_.partition.project(ordered.labels);
    join_.partition = std::move(ordered);
  }

  const EinGraph& graph_;
  const FusedChain& chain_;
  JoinNode join_;
  std::map<std::pair<VertexId, Labels>, std::size_t> inputs_;
  std::map<VertexId, std::size_t> made_;
};

}  // namespace

JoinNode fused_join(const EinGraph& graph, const FusedChain& chain, const LabelPartition& partition) {
  return ChainSteps(graph, chain, partition).run();
}

}  // namespace eindb
