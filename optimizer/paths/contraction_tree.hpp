#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/paths/path_objective.hpp"

namespace eindb {

/// A path as a binary tree that changes in place, the state of simulated annealing. Node n is result n of the pairs it
/// was built from: leaves come first, and the root is always last.
///
/// A rotation swaps a grandchild with its uncle, so that of three subtrees another pair is contracted first:
///
///     P = (N = (A, B), C)   becomes   P = (N = (A, C), B)
///
/// Nothing outside N and P changes. The new N keeps a label of A or C exactly if B has it or P keeps it. This also
/// holds for hyperedges and labels of the output, so a rotation only looks at the labels of five nodes.
class ContractionTree {
 public:
  using Node = std::uint32_t;
  using NodeLabels = std::vector<std::uint32_t>;

  /// A rotation and its costs; apply() carries it out.
  struct Rotation {
    Node parent = 0;
    Node child = 0;       ///< N in the class comment
    Node grandchild = 0;  ///< B, which moves up
    Node uncle = 0;       ///< C, which moves down
    double flops_of_child = 0;
    double flops_of_parent = 0;
    double size_of_child = 0;  ///< elements; the parent's size does not change
    double cost_before = 0;    ///< of both nodes together
    double cost_after = 0;
  };

  /// The problem has two operands or more and must outlive the tree; sizes are capped at ContractionNetwork::kHugeSize.
  ContractionTree(const ContractionProblem& problem, const ResultPairs& pairs,
                  const PathObjective& objective = PathObjective::Flops);

  std::size_t leaf_count() const { return leaf_count_; }
  std::size_t node_count() const { return children_.size(); }
  bool is_leaf(Node node) const { return node < leaf_count_; }
  Node child(Node node, std::size_t side) const { return children_[node].side[side]; }
  const NodeLabels& labels_of(Node node) const { return labels_[node]; }
  /// Elements of the result; 0 for leaves, which are not intermediates.
  double size_of(Node node) const { return sizes_[node]; }
  /// Flops of the step that makes the node, and the price of its result.
  double cost_of(Node node) const { return flops_[node] + price_(sizes_[node]); }
  /// The sum of flops and the price of intermediates (IntermediatePrice), recomputed.
  double cost() const;
  /// Equals value_of(path, objective); with a weight, up to a constant of the problem.
  PathValue value() const;
  ResultPairs pairs() const;

  /// The rotation below `parent` that moves up grandchild `grandside` of the child at `side`, which must not be a leaf.
  Rotation look_at(Node parent, std::size_t side, std::size_t grandside);
  /// Carries out the rotation returned by the last look_at().
  void apply(const Rotation& rotation);
  /// Replaces the part of the tree between `root` and the nodes `tops` by the tree that `pairs` describe over `tops`.
  /// `inner` lists the part's inner nodes other than the root. The pairs contract `piece`, whose operands have the
  /// labels of `tops`, renumbered: label l of the piece is labels[l] of the tree.
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
