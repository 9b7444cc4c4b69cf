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

using NodeId = StrongId<struct PhysicalNodeTag>;

/// What an operator is to those who run a plan, count its cost and draw it, whatever it computes.
enum class OperatorRole : std::uint8_t {
  Source,      ///< its tiles are there when they are asked for
  Layout,      ///< gives the elements of its input in other tiles, for the sake of its readers
  Kernel,      ///< computes its vertex by kernel calls
  Completion,  ///< finishes what the node that it reads leaves partial; the two are run as one
  Delivery,    ///< hands what it reads to whoever asked for it; nobody reads it
};

/// A relation of a plan.
struct RelationView {
  DType dtype;
  const TileGrid& grid;

  /// Of all its elements.
  double bytes() const;
};

/// A relation that an operator reads.
struct InputView : RelationView {
  OperatorRole role;  ///< of the operator that gives it
  bool is_partial;    ///< a Completion has to read it
};

/// What an operator sees of the plan around it.
struct OperatorView {
  const LabelTable& labels;
  RelationView result;
  std::vector<InputView> inputs;  ///< in operand order
};

/// The loops in which an operator runs its calls, and how much of each operand it reads in them.
struct CallLoops {
  struct Operand {
    double bytes = 0;
    std::vector<double> part;   ///< per loop: the share of the operand that one turn reads
    std::vector<double> again;  ///< per loop: how often the operand is read in all turns together
  };
  std::size_t loops = 0;          ///< the outermost first
  std::vector<Operand> operands;  ///< the inputs, and what the operator makes
};

/// Something that an operator alone has to say of itself. Its key is that of EXPLAIN's JSON.
struct DescriptionField {
  /// Where a drawing has it.
  enum class Place : std::uint8_t { Line, BesideGrid };

  std::string key;
  std::variant<std::string, std::vector<std::string>> value;
  std::string preposition = {};  ///< in text, before the value: "of" X, Y
  Place place = Place::BesideGrid;
};
using DescriptionFields = std::vector<DescriptionField>;

/// What the parameters of a plan are replaced by, by their numbers.
struct Substitution {
  std::function<ScalarPtr(std::size_t)> constant = {};  ///< in an expression, in the parameter's type
  std::function<std::int64_t(std::size_t)> index = {};  ///< of a dimension that is held; empty: none is replaced
};

/// An operator of physical plans: a value that says of itself what those need to know who validate, cost, describe,
/// cache and run plans, so that none of them lists the operators. docs/architecture.md has what else an operator needs.
///
/// An operator also has, where it is not as the second line says:
///   const InputTensor& stored() const               the tensor that a Source reads
///   std::size_t result_number() const               whom a Delivery serves
///   const LabelPartition& label_partition() const   how it cuts its space of labels (it has none)
///   DType working_type() const                      the type in which it adds up (that of its result)
///   bool is_partial() const                         whether a Completion has to read it (no)
///   CallLoops loops(const OperatorView&) const      of a Layout or Kernel, which have tasks
///   void substitute(const Substitution&)         replaces parameters (it has none)
///   std::size_t held_bytes() const                  on the heap, about (none)
template <class Op>
concept PlanOperator = std::copyable<Op> &&
    requires(const Op& op, const OperatorView& view, const Checker& check, const EinGraph& graph) {
  { Op::kRole } -> std::convertible_to<OperatorRole>;
  { op.name() } -> std::convertible_to<std::string>;
  { op.reads() } -> std::convertible_to<std::vector<NodeId>>;        // in operand order
  {op.check(view, check)};                                           // what must hold between it and its inputs
  { op.describe(graph) } -> std::convertible_to<DescriptionFields>;  // of the graph that the plan is for
};

}  // namespace eindb
