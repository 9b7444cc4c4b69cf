#include "optimizer/paths/contraction_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "common/check.hpp"
#include "optimizer/paths/contraction_network.hpp"

namespace eindb {
namespace {

// Bits for the nodes around a rotation that have a label.
constexpr std::uint8_t kStays = 1;
constexpr std::uint8_t kGoesUp = 2;
constexpr std::uint8_t kGoesDown = 4;
constexpr std::uint8_t kParent = 8;

}  // namespace

ContractionTree::ContractionTree(const ContractionProblem& problem, const ResultPairs& pairs,
                                 const PathObjective& objective)
    : leaf_count_(problem.operands.size()),
      objective_(objective),
      price_(objective),
      extents_(problem.extents.begin(), problem.extents.end()),
      children_(leaf_count_),
      marks_(problem.extents.size(), 0) {
  CHECK(leaf_count_ > 1 && pairs.size() + 1 == leaf_count_, "a tree has a leaf more than inner nodes");
  CHECK(leaf_count_ < std::numeric_limits<Node>::max() / 2, "nodes of a tree are numbered in 32 bits");
  ContractionNetwork network(problem);
  flops_.assign(leaf_count_, 0);
  sizes_.assign(leaf_count_, 0);
  for (std::size_t n = 0; n < leaf_count_; ++n)
    labels_.emplace_back(network.labels(n).begin(), network.labels(n).end());
  for (const auto& [a, b] : pairs) {
    flops_.push_back(network.flops(a, b));
    children_.push_back({{static_cast<Node>(a), static_cast<Node>(b)}});
    const auto result = network.contract(a, b);
    sizes_.push_back(network.size(result));
    labels_.emplace_back(network.labels(result).begin(), network.labels(result).end());
  }
  CHECK(labels_.size() == node_count() && flops_.size() == node_count() && sizes_.size() == node_count(),
        "every node of a tree has labels, flops and a size");
}

double ContractionTree::cost() const {
  double cost = 0;
  for (auto node = static_cast<Node>(leaf_count_); node < node_count(); ++node) cost += cost_of(node);
  return cost;
}

PathValue ContractionTree::value() const {
  if (!objective_.by_size) return {0, cost()};
  return {*std::max_element(sizes_.begin(), sizes_.end()), std::accumulate(flops_.begin(), flops_.end(), 0.0)};
}

ResultPairs ContractionTree::pairs() const {
  // Parents before children, with an explicit stack, as trees may be too deep for recursion.
  std::vector<Node> order;
  std::vector<Node> open{static_cast<Node>(node_count() - 1)};
  while (!open.empty()) {
    const auto node = open.back();
    open.pop_back();
    if (is_leaf(node)) continue;
    order.push_back(node);
    for (const auto next : children_[node].side) open.push_back(next);
  }
  CHECK(leaf_count_ + order.size() == node_count(), "every inner node of a tree is below its root, once");
  ResultPairs out;
  std::vector<std::size_t> result(node_count());
  std::iota(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(leaf_count_), std::size_t{0});
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    result[*node] = leaf_count_ + out.size();
    out.emplace_back(std::minmax(result[child(*node, 0)], result[child(*node, 1)]));
  }
  return out;
}

void ContractionTree::mark(Node node, std::uint8_t bit) {
  for (const auto label : labels_[node]) {
    if (marks_[label] == 0) marked_.push_back(label);
    marks_[label] |= bit;
  }
}

ContractionTree::Rotation ContractionTree::look_at(Node parent, std::size_t side, std::size_t grandside) {
  const Node n = child(parent, side);
  DCHECK(!is_leaf(parent) && !is_leaf(n), "a rotation takes an inner node and a child that is one");
  Rotation out{.parent = parent, .child = n, .grandchild = child(n, grandside), .uncle = child(parent, 1 - side)};
  out.cost_before = cost_of(n) + cost_of(parent);
  marked_.clear();
  kept_.clear();
  mark(child(n, 1 - grandside), kStays);
  mark(out.grandchild, kGoesUp);
  mark(out.uncle, kGoesDown);
  mark(parent, kParent);
  labels_seen_ += marked_.size();

  const auto grown = [&](double size, std::uint32_t label) {
    return std::min(ContractionNetwork::kHugeSize, size * extents_[label]);
  };
  double child_cells = 1;
  double child_size = 1;
  double parent_cells = 1;
  bool child_sums = false;
  bool parent_sums = false;
  for (const auto label : marked_) {
    const auto has = marks_[label];
    marks_[label] = 0;
    const bool in_child = (has & (kStays | kGoesDown)) != 0;
    const bool kept = in_child && (has & (kGoesUp | kParent)) != 0;
    if (in_child) child_cells = grown(child_cells, label);
    if (kept) kept_.push_back(label), child_size = grown(child_size, label);
    else if (in_child) child_sums = true;
    if (!kept && (has & kGoesUp) == 0) continue;
    parent_cells = grown(parent_cells, label);
    if ((has & kParent) == 0) parent_sums = true;
  }
  out.flops_of_child = child_cells * (child_sums ? 2 : 1);
  out.flops_of_parent = parent_cells * (parent_sums ? 2 : 1);
  out.size_of_child = child_size;
  out.cost_after = out.flops_of_child + out.flops_of_parent + price_(child_size) + price_(sizes_[parent]);
  return out;
}

void ContractionTree::apply(const Rotation& rotation) {
  auto& above = children_[rotation.parent].side;
  auto& below = children_[rotation.child].side;
  DCHECK((above[0] == rotation.uncle || above[1] == rotation.uncle) &&
             (above[0] == rotation.child || above[1] == rotation.child),
         "a rotation is carried out where it was looked at");
  DCHECK(below[0] == rotation.grandchild || below[1] == rotation.grandchild, "a rotation brings up a grandchild");
  std::swap(above[above[0] == rotation.uncle ? 0 : 1], below[below[0] == rotation.grandchild ? 0 : 1]);
  labels_[rotation.child] = kept_;
  flops_[rotation.child] = rotation.flops_of_child;
  flops_[rotation.parent] = rotation.flops_of_parent;
  sizes_[rotation.child] = rotation.size_of_child;
}

void ContractionTree::replace(Node root, const std::vector<Node>& tops, const std::vector<Node>& inner,
                              const ContractionProblem& piece, const std::vector<std::uint32_t>& labels,
                              const ResultPairs& pairs) {
  CHECK(inner.size() + 1 == pairs.size(), "a piece has as many nodes as before");
  CHECK(tops.size() == piece.operands.size(), "the operands of a piece are its tops");
  CHECK(labels.size() == piece.extents.size(), "every label of a piece stands for one of the tree");
  ContractionNetwork network(piece);
  auto node_of = tops;
  for (std::size_t step = 0; step < pairs.size(); ++step) {
    const auto [a, b] = pairs[step];
    const auto node = step < inner.size() ? inner[step] : root;
    CHECK(a < node_of.size() && b < node_of.size(), "a step of a piece takes what is made before");
    children_[node] = {{node_of[a], node_of[b]}};
    flops_[node] = network.flops(a, b);
    const auto result = network.contract(a, b);
    node_of.push_back(node);
    if (node == root) return;
    sizes_[node] = network.size(result);
    labels_[node].clear();
    for (const auto label : network.labels(result)) labels_[node].push_back(labels[label]);
  }
}

}  // namespace eindb
