#include "plan/fragment.hpp"

#include <algorithm>
#include <concepts>

#include "common/check.hpp"
#include "plan/held_bytes.hpp"

namespace eindb {
namespace {

template <class Operators>
inline constexpr bool kAllDescribeThemselves = false;
template <class... Op>
inline constexpr bool kAllDescribeThemselves<std::variant<Op...>> = (PlanOperator<Op> && ...);
static_assert(kAllDescribeThemselves<FragmentOperator>);

}  // namespace

OperatorRole FragmentNode::role() const {
  return std::visit([](const auto& o) { return o.kRole; }, op);
}

const InputTensor* FragmentNode::stored() const {
  return std::visit(
      [](const auto& o) -> const InputTensor* {
        if constexpr (requires { o.stored(); }) return &o.stored();
        else return nullptr;
      },
      op);
}

std::optional<std::size_t> FragmentNode::result_number() const {
  return std::visit(
      [](const auto& o) -> std::optional<std::size_t> {
        if constexpr (requires { o.result_number(); }) return o.result_number();
        else return std::nullopt;
      },
      op);
}

const LabelPartition* FragmentNode::label_partition() const {
  return std::visit(
      [](const auto& o) -> const LabelPartition* {
        if constexpr (requires { o.label_partition(); }) return &o.label_partition();
        else return nullptr;
      },
      op);
}

double FragmentNode::stored_share() const { return cells ? share_of_cells(*cells, dtype, grid.shape()) : 1; }

DType FragmentNode::working_type() const {
  return std::visit(
      [this](const auto& o) {
        if constexpr (requires { o.working_type(); }) return o.working_type();
        else return dtype;
      },
      op);
}

bool FragmentNode::is_partial() const {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.is_partial(); }) return o.is_partial();
        else return false;
      },
      op);
}

DescriptionFields FragmentNode::describe(const EinGraph& graph) const {
  return std::visit([&](const auto& o) -> DescriptionFields { return o.describe(graph); }, op);
}

void FragmentNode::substitute(const Substitution& values) {
  std::visit(
      [&](auto& o) {
        if constexpr (requires { o.substitute(values); }) o.substitute(values);
      },
      op);
}

std::size_t FragmentNode::held_bytes() const {
  return eindb::held_bytes(grid) + std::visit(
                                       [](const auto& o) -> std::size_t {
                                         if constexpr (requires { o.held_bytes(); }) return o.held_bytes();
                                         else return 0;
                                       },
                                       op);
}

std::size_t Fragment::result_count() const {
  return static_cast<std::size_t>(std::count_if(
      nodes.begin(), nodes.end(), [](const auto& node) { return node.role() == OperatorRole::Delivery; }));
}

const FragmentNode& Fragment::sink(std::size_t result) const {
  const auto found =
      std::find_if(nodes.begin(), nodes.end(), [&](const auto& node) { return node.result_number() == result; });
  CHECK(found != nodes.end(), "every result of a fragment has a sink");
  return *found;
}

const SliceLoop* Fragment::loop_of(NodeId id) const {
  const auto loop = std::find_if(loops.begin(), loops.end(), [&](const SliceLoop& l) { return l.contains(id); });
  return loop == loops.end() ? nullptr : &*loop;
}

NodeId Fragment::worker_of(NodeId id) const {
  return node(id).role() == OperatorRole::Completion ? inputs_of(node(id)).front() : id;
}

OperatorView Fragment::view(NodeId id) const {
  OperatorView view{labels, {node(id).dtype, node(id).grid, node(id).stored_share()}, {}};
  for (const auto input : inputs_of(node(id))) {
    const auto& read = node(input);
    view.inputs.push_back({{read.dtype, read.grid, read.stored_share()}, read.role(), read.is_partial()});
  }
  return view;
}

WindowLabel Fragment::window_of(Label label) const {
  const auto known = std::find_if(window.begin(), window.end(), [&](const auto& w) { return w.label == label; });
  return known == window.end() ? WindowLabel{label} : *known;
}

std::vector<NodeId> inputs_of(const FragmentNode& node) {
  return std::visit([](const auto& o) -> std::vector<NodeId> { return o.reads(); }, node.op);
}

std::string operator_name(const FragmentNode& node) {
  return std::visit([](const auto& o) { return o.name(); }, node.op);
}

CallLoops call_loops(const Fragment& plan, NodeId id) {
  return std::visit(
      [&](const auto& o) -> CallLoops {
        if constexpr (requires(const OperatorView& view) { o.loops(view); }) return o.loops(plan.view(id));
        else return {};
      },
      plan.node(id).op);
}

}  // namespace eindb
