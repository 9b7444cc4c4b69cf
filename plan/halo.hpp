#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tensor/einsum.hpp"
#include "tensor/label.hpp"
#include "tensor/partition.hpp"

namespace eindb {

struct LabelPartition;

/// A label that is not cut, of which a call of a join needs only the indices that follow from its part of a label that
/// is, the leader: the operand with the label is brought in parts with a halo.
struct Halo {
  Label label;
  Label leader;
  Reach reach;  ///< of the label's indices, for parts of the leader's

  friend bool operator==(const Halo&, const Halo&) = default;
};

/// A sum of labels with coefficients, none zero, and an offset: 0 in every cell that an access reads.
struct IndexEquation {
  std::vector<std::pair<Label, std::int64_t>> terms;
  std::int64_t offset = 0;

  friend auto operator<=>(const IndexEquation&, const IndexEquation&) = default;
};

bool has_term(const IndexEquation& equation, Label label);

/// Finds the halos of a join, or of a chain of EinSums that is computed as one: of the labels of its operands whose
/// indices follow from one label that is cut, by the affine index of an access (tensor/access_form). Immutable,
/// thread-safe.
///
/// Example: Z[y] = SUM[p](X[y + p - 1] * W[p]) with y in 2 parts reads X in parts that have one row in common for each
/// row that p reaches beyond the part.
class HaloFinder {
 public:
  /// An operand from outside the chain. Those of one `source` are read from one tensor, by their labels in order, so
  /// that they share parts that have the indices for all of them.
  struct Operand {
    std::size_t source = 0;
    Labels labels;
  };

  HaloFinder() = default;
  /// `steps`: the EinSum, or those of a chain; `output`: of the last.
  HaloFinder(std::vector<Operand> operands, const Labels& output, const std::vector<const EinSum*>& steps);

  bool finds_any() const { return !readings_.empty(); }
  /// In the order of operands. None where the parts would have all indices of the label, or none in some part.
  std::vector<Halo> halos(const LabelPartition& partition, const LabelTable& labels) const;
  /// The equations by which labels of operands may follow from others.
  std::vector<IndexEquation> equations() const;

 private:
  // A label of an operand that one equation of one step has.
  struct Reading {
    Label label;
    std::size_t operand;
    std::size_t dimension;
    IndexEquation equation;
  };

  std::vector<Operand> operands_;
  std::vector<Reading> readings_;
};

/// Labels that cut an operand: in place of each label with a halo its leader.
Labels cutting_labels(const Labels& labels, const std::vector<Halo>& halos);
/// The grid of an operand with these labels.
TileGrid halo_grid(const Labels& labels, const LabelPartition& partition, const std::vector<Halo>& halos,
                   const LabelTable& table);

}  // namespace eindb
