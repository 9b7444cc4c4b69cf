#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/paths/path_objective.hpp"

namespace eindb {

/// A path as a binary tree that changes in place: what simulated annealing walks over. Node n is result n of the pairs
/// it was made of: leaves come first, the root is last, and stays so.
///
/// A rotation swaps a grandchild with its uncle, so that of three subtrees another pair is contracted first:
///
///     P = (N = (A, B), C)   becomes   P = (N = (A, C), B)
///
/// Nothing outside N and P changes. The new N keeps a label of A or C exactly if B has it or P keeps it, which holds
/// for hyperedges and for labels of the output too, so the labels of five nodes are all that a rotation looks at.
class ContractionTree {
 public:
  using Node = std::uint32_t;
  using NodeLabels = std::vector<std::uint32_t>;

  /// A rotation that has not happened yet.
  struct Rotation {
    Node parent = 0;
    Node child = 0;       ///< N
    Node grandchild = 0;  ///< B, which goes up
    Node uncle = 0;       ///< C, which goes down
    double flops_of_child = 0;
    double flops_of_parent = 0;
    double size_of_child = 0;  ///< elements; the parent keeps its own
    double cost_before = 0;    ///< of both nodes together
    double cost_after = 0;
  };

  /// The problem has two operands or more and outlives the tree; sizes end at ContractionNetwork::kHugeSize.
  ContractionTree(const ContractionProblem& problem, const ResultPairs& pairs,
                  PathObjective objective = PathObjective::Flops);

  std::size_t leaf_count() const { return leaf_count_; }
  std::size_t node_count() const { return children_.size(); }
  bool is_leaf(Node node) const { return node < leaf_count_; }
  Node child(Node node, std::size_t side) const { return children_[node].side[side]; }
  const NodeLabels& labels_of(Node node) const { return labels_[node]; }
  /// Elements of the result; 0 for leaves, which are no intermediates.
  double size_of(Node node) const { return sizes_[node]; }
  /// Flops of the step that makes the node, and the price of its result.
  double cost_of(Node node) const { return flops_[node] + price_(sizes_[node]); }
  /// Flops and the price of intermediates (IntermediatePrice), summed afresh.
  double cost() const;
  /// As value_of(path, objective), with Mix up to a constant of the problem.
  PathValue value() const;
  ResultPairs pairs() const;

  /// The rotation below `parent` that brings up grandchild `grandside` of the child at `side`, which is no leaf.
  Rotation look_at(Node parent, std::size_t side, std::size_t grandside);
  /// Carries out the rotation looked at last.
  void apply(const Rotation& rotation);
  /// Puts the tree that `pairs` make over `tops` in the place of all that is between them and `root`, whose inner nodes
  /// other than the root are `inner`. The pairs contract `piece`, which has the tops' labels, numbered by `labels`.
  void replace(Node root, const std::vector<Node>& tops, const std::vector<Node>& inner,
               const ContractionProblem& piece, const std::vector<std::uint32_t>& labels, const ResultPairs& pairs);
  /// Labels that all rotations so far have looked at: the work done.
  std::uint64_t labels_seen() const { return labels_seen_; }

 private:
  struct Children {
    Node side[2] = {0, 0};
  };

  void mark(Node node, std::uint8_t bit);

  std::size_t leaf_count_;
  PathObjective objective_;
  IntermediatePrice price_;
  std::vector<double> extents_;
  std::vector<Children> children_;
  std::vector<NodeLabels> labels_;
  std::vector<double> flops_;        // of the step that makes each node
  std::vector<double> sizes_;        // of the result of that step
  std::vector<std::uint8_t> marks_;  // by label: which of the nodes looked at have it; zero between calls
  NodeLabels marked_;
  NodeLabels kept_;  // by the new N of the rotation looked at last
  std::uint64_t labels_seen_ = 0;
};

}  // namespace eindb
