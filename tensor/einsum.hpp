#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/block_function.hpp"
#include "tensor/label.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// Associative, commutative aggregation operators. MIN and MAX give NaN if any value is NaN. LOGSUMEXP, the logarithm
/// of the sum of exponentials, is for real floating-point types; here it stands where its argument is a join, and is
/// otherwise made of the others. Block is none of them: the EinSum's block function takes the values of the aggregated
/// labels together, so that these are never taken in parts or in another order. User stands for an aggregate that a
/// user has defined, which may have these properties or not (tensor/user_aggregate).
///
/// FirstLeast and FirstGreatest choose one of complex numbers that stand for a value and its index,
/// COMPLEX(value, index): the one whose value is MIN's or MAX's; of equal ones, and of several with NaN, the one with
/// the least index. So values and indices come of one reading. Statements do not have them: the pass
/// placed_extremes makes them of MIN or MAX and the search for where it is.
enum class Aggregate : std::uint8_t { None, Sum, Prod, Min, Max, LogSumExp, Block, User, FirstLeast, FirstGreatest };
inline constexpr Aggregate kLastAggregate = Aggregate::FirstGreatest;

struct UserAggregate;
using UserAggregatePtr = std::shared_ptr<const UserAggregate>;

/// "SUM", ...; empty for None, "USER" for those of users, "FIRST MAX" for FirstGreatest.
std::string_view name_of(Aggregate aggregate);
/// Whether it is FirstLeast or FirstGreatest, which aggregate values with their indices.
constexpr bool has_place(Aggregate aggregate) {
  return aggregate == Aggregate::FirstLeast || aggregate == Aggregate::FirstGreatest;
}

/// One EinSum (EinDecomp, equation 2):
///
///     Z[output] = AGGREGATE over `aggregated` of expression(X0[inputs[0]], X1[inputs[1]], ..., label values)
///
/// Operand n of `expression` is the value of input n at the cell's labels. A label may occur in several inputs, and
/// more than once in one input (a diagonal). Labels of `output` that no input has are broadcast. Invariants: output has
/// no repeated label; output and aggregated are disjoint, and together contain every label of the inputs and of the
/// expression; aggregated is empty exactly if aggregate is None.
///
/// An epilogue is a function of the aggregated value, its operand 0: Z[output] = epilogue(AGGREGATE ...). It is
/// computed once per cell of the result, in the compute type, after the aggregation is complete. Only an EinSum with an
/// aggregate may have one, and it must not refer to labels. The pass elementwise_fusion creates epilogues; earlier
/// passes never see one.
struct EinSum {
  std::vector<Labels> inputs;
  Labels output;
  Labels aggregated;
  ScalarPtr expression;
  Aggregate aggregate = Aggregate::None;
  ScalarPtr epilogue = nullptr;             ///< null: no epilogue
  std::optional<BlockFunction> block = {};  ///< set exactly with Aggregate::Block
  UserAggregatePtr user = nullptr;          ///< set exactly with Aggregate::User and BlockOp::UserRecurrence

  /// Distinct labels: those of the inputs in order of first occurrence, then the rest of output and aggregated.
  Labels labels() const;
};

/// "Z[i,k] = SUM(X[i,j] * Y[j,k])"; SUM[j](...) if the aggregated labels are not the default ones.
std::string to_string(const EinSum& einsum, std::string_view head, const std::vector<std::string>& input_names,
                      const LabelTable& labels);

}  // namespace eindb
