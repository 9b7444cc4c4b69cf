#include "plan/physical_plan.hpp"

#include <algorithm>

#include "common/check.hpp"

namespace eindb {
namespace {

struct InputsOf {
  std::vector<NodeId> operator()(const ScanNode&) const { return {}; }
  std::vector<NodeId> operator()(const JoinNode& join) const { return join.inputs; }
  template <class Unary>
  std::vector<NodeId> operator()(const Unary& node) const {
    return {node.input};
  }
};

struct NameOf {
  std::string operator()(const ScanNode&) const { return "scan"; }
  std::string operator()(const RepartitionNode&) const { return "repartition"; }
  std::string operator()(const JoinNode& join) const { return join.steps.empty() ? "join" : "fused join"; }
  std::string operator()(const GroupByNode&) const { return "group-by"; }
  std::string operator()(const SinkNode&) const { return "sink"; }
};

}  // namespace

std::size_t PhysicalPlan::result_count() const {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const auto& node) { return std::holds_alternative<SinkNode>(node.op); }));
}

const PhysicalNode& PhysicalPlan::sink(std::size_t result) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const PhysicalNode& node) {
    const auto* op = std::get_if<SinkNode>(&node.op);
    return op != nullptr && op->result == result;
  });
  CHECK(found != nodes.end(), "every result of a physical plan has a sink");
  return *found;
}

const SliceLoop* PhysicalPlan::loop_of(NodeId id) const {
  const auto loop = std::find_if(loops.begin(), loops.end(), [&](const SliceLoop& l) { return l.contains(id); });
  return loop == loops.end() ? nullptr : &*loop;
}

WindowLabel PhysicalPlan::window_of(Label label) const {
  const auto known = std::find_if(window.begin(), window.end(), [&](const auto& w) { return w.label == label; });
  return known == window.end() ? WindowLabel{label} : *known;
}

std::vector<NodeId> inputs_of(const PhysicalNode& node) { return std::visit(InputsOf{}, node.op); }
std::string operator_name(const PhysicalNode& node) { return std::visit(NameOf{}, node.op); }

}  // namespace eindb
