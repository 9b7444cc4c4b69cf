#include "plan/physical_plan.hpp"

#include <algorithm>

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
