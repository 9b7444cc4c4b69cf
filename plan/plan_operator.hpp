#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "plan/ein_graph.hpp"
#include "plan/einsum_checks.hpp"

namespace eindb {

using NodeId = StrongId<struct FragmentNodeTag>;

/// The role of an operator for execution, costing and drawing, independent of its computation.
enum class OperatorRole : std::uint8_t {
  Source,      ///< its tiles are available on request
  Layout,      ///< produces the elements of its input in other tiles, for its readers
  Kernel,      ///< computes its vertex by kernel calls
  Completion,  ///< finishes the partial result of its input; both run as one
  Delivery,    ///< passes its input to the consumer of a result; no node reads it
};

/// A relation of a plan.
struct RelationView {
  DType dtype;
  const TileGrid& grid;
  double stored_share = 1;  ///< the bytes of its tiles relative to those of dense ones

  /// Bytes of all its tiles.
  double bytes() const;
};

/// A relation that an operator reads.
struct InputView : RelationView {
  OperatorRole role;  ///< of the operator that produces it
  bool is_partial;    ///< a Completion must follow
};

/// An operator's view of the surrounding plan.
struct OperatorView {
  const LabelTable& labels;
  RelationView result;
  std::vector<InputView> inputs;  ///< in operand order
};

/// The loops in which an operator runs its calls, and the share of each operand that it reads in them.
struct CallLoops {
  struct Operand {
    double bytes = 0;
    std::vector<double> part;   ///< for each loop, the share of the operand that one iteration reads
    std::vector<double> again;  ///< for each loop, how often all its iterations together read the operand
  };
  std::size_t loops = 0;          ///< number of loops, outermost first
  std::vector<Operand> operands;  ///< the inputs, then the result
};

/// A field of an operator in EXPLAIN; the key is the one in JSON.
struct DescriptionField {
  /// The field's position in a drawing.
  enum class Place : std::uint8_t { Line, BesideGrid };

  std::string key;
  std::variant<std::string, std::vector<std::string>> value;
  std::string preposition = {};  ///< in text, before the value: "of" X, Y
  Place place = Place::BesideGrid;
};
using DescriptionFields = std::vector<DescriptionField>;

/// The values that replace a plan's parameters, by number.
struct Substitution {
  std::function<ScalarPtr(std::size_t)> constant = {};  ///< for expressions, in the parameter's type
  std::function<std::int64_t(std::size_t)> index = {};  ///< for held dimensions; empty: none is replaced
};

/// An operator of fragments: a value that answers everything that validation, costing, EXPLAIN, the plan cache and
/// the executor need to know, so that none of them lists the operators. docs/architecture.md tells what else an
/// operator needs.
///
/// An operator also defines these functions, unless the default in parentheses applies:
///   const InputTensor& stored() const               the tensor that a Source reads
///   std::size_t result_number() const               the result that a Delivery serves
///   const LabelPartition& label_partition() const   the partition vector of its label space (there is none)
///   DType working_type() const                      the type in which it accumulates (that of its result)
///   bool is_partial() const                         whether a Completion must follow (false)
///   CallLoops loops(const OperatorView&) const      for a Layout or Kernel, which have tasks
///   void substitute(const Substitution&)            replaces parameters (there are none)
///   std::size_t held_bytes() const                  approximate heap bytes (0)
template <class Op>
concept PlanOperator = std::copyable<Op> &&
    requires(const Op& op, const OperatorView& view, const Checker& check, const EinGraph& graph) {
  { Op::kRole } -> std::convertible_to<OperatorRole>;
  { op.name() } -> std::convertible_to<std::string>;
  { op.reads() } -> std::convertible_to<std::vector<NodeId>>;        // in operand order
  {op.check(view, check)};                                           // checks the invariants between it and its inputs
  { op.describe(graph) } -> std::convertible_to<DescriptionFields>;  // `graph` is the graph that the plan was made for
};

}  // namespace eindb
