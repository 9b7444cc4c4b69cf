#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/algebra.hpp"
#include "tensor/dtype.hpp"
#include "tensor/scalar_expression.hpp"
#include "tensor/scalar_value.hpp"

namespace eindb {

/// An aggregate that a user has defined, CREATE AGGREGATE name(x, y) AS combination INITIAL value: a fold that begins
/// with the initial value and combines it with one cell after the other. What is declared of it is trusted: of an
/// associative aggregate the initial value is neutral, so that parts of the cells may be folded each for itself, and
/// with COMMUTATIVE in any order. Immutable and shared; thread-safe.
struct UserAggregate {
  std::string name;
  ScalarPtr combination;  ///< of what has been aggregated, operand 0, and the next value, operand 1; without types
  ScalarPtr initial;      ///< an expression of constants: the aggregate of no cells
  bool commutative = false;
  bool associative = false;
  bool idempotent = false;
  std::vector<Semiring> semirings = {};  ///< the join functions over which it distributes; only if it may be split

  /// Whether it may be treated as SUM is: taken in parts and in any order.
  bool may_split() const { return commutative && associative; }
};

/// The operations that DISTRIBUTES OVER can name: +, *, AND, OR, LEAST (or MIN) and GREATEST (or MAX), in upper case;
/// nullopt for any other word.
std::optional<ScalarOp> find_join_function(std::string_view word);
bool is_join_function(ScalarOp op);
/// The pair of an aggregate and a join function over which it is declared to distribute.
Semiring declared_semiring(JoinFunction join, bool idempotent);

/// Whether the EinSum folds its cells strictly in the order of its aggregated labels, the first one outermost.
bool folds_in_order(const EinSum& einsum);

/// The type in which values of type `value` are aggregated: it holds the values and all that the combination makes of
/// them. Error{Type} if the combination is not defined for it.
DType fold_type(const UserAggregate& aggregate, DType value);
/// The combination of two values of that type, with all types written down (tensor/scalar_types).
ScalarPtr typed_combination(const UserAggregate& aggregate, DType type);
/// A step of the recurrence h[t] = f(a[t] o h[t-1], x[t]) of an aggregate f that distributes over o, of which its
/// declaration names one first: an expression of that type, with operands x[t], a[t] and h[t-1].
ScalarPtr recurrence_step(const UserAggregate& aggregate, DType type);
/// The type in which values of type `value` recur so. Error{Type} if either function is not defined for it.
DType recurrence_type(const UserAggregate& aggregate, DType value);
/// a[t] o h[t-1] as a fold of h[t-1], operand 1, to a[t].
UserAggregate recurrence_join(const UserAggregate& aggregate, DType type);
/// The aggregate with the bodies of the functions over which it distributes as expressions of that type have them.
UserAggregatePtr with_join_types(const UserAggregatePtr& aggregate, DType type);
/// The aggregate of no cells.
ScalarValue initial_value(const UserAggregate& aggregate, DType type);
/// The value of a typed expression of constants and operands.
ScalarValue value_of(const ScalarExpression& typed, std::span<const ScalarValue> operands);

/// "(x, y) -> GREATEST(x, y) from 0, commutative and associative": all that makes two aggregates of one name equal.
std::string describe(const UserAggregate& aggregate);
/// Whether both are null or of the same definition.
bool same_aggregate(const UserAggregate* a, const UserAggregate* b);

}  // namespace eindb
