#pragma once

#include <eindb/eindb.hpp>
#include <string>
#include <vector>

#include "python/src/equation.hpp"

namespace eindb_python {

/// An array of the caller as einsum sees it: strides in bytes, as NumPy has them.
struct StridedArray {
  const void* data = nullptr;
  std::size_t rank = 0;
  const std::int64_t* extents = nullptr;
  const std::int64_t* strides = nullptr;
};

/// One operand by labels, each of which it has once: a diagonal has the sum of the strides of its dimensions, and a
/// dimension of extent 1 that is broadcast is left out.
struct Operand {
  const void* data = nullptr;
  eindb::ElementType type = eindb::ElementType::Float64;
  std::vector<std::uint32_t> labels = {};  ///< positions in Contraction::extents
  std::vector<std::int64_t> strides = {};  ///< in bytes
};

/// A sum of products over numbered labels, checked: what is left of an equation and its arrays.
struct Contraction {
  std::vector<std::int64_t> extents;  ///< of the labels, in the order in which operands have them first
  std::vector<Operand> operands;
  std::vector<std::uint32_t> output;
  std::string path;  ///< the clause USING PATH; may be empty

  /// Whether it only looks at the elements of its one operand in another order.
  bool is_view() const { return operands.size() == 1 && output.size() == extents.size(); }
};

/// Puts the arrays under the labels of a resolved equation. Throws std::invalid_argument where extents do not fit.
Contraction bind_arrays(const Equation& equation, const std::vector<StridedArray>& arrays);

enum class Order : char { C = 'C', F = 'F', A = 'A', K = 'K' };

/// The output's dimensions in the order in which a new array has them in memory, outermost first, by NumPy's rules: for
/// K the order of the operands' strides.
std::vector<std::uint32_t> memory_order(const Contraction& contraction, Order order, bool all_fortran);

}  // namespace eindb_python
