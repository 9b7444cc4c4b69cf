#include "tensor/user_aggregate.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "common/check.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

struct JoinWord {
  std::string_view word;
  ScalarOp op;
};

constexpr std::array kJoinFunctions{
    JoinWord{"+", ScalarOp::Add},       JoinWord{"*", ScalarOp::Multiply},        JoinWord{"AND", ScalarOp::And},
    JoinWord{"OR", ScalarOp::Or},       JoinWord{"MIN", ScalarOp::Least},         JoinWord{"MAX", ScalarOp::Greatest},
    JoinWord{"LEAST", ScalarOp::Least}, JoinWord{"GREATEST", ScalarOp::Greatest},
};

std::string text_of(const ScalarExpression& e) {
  return to_string(
      e, [](std::size_t n) { return std::string(n == 0 ? "x" : "y"); }, LabelTable());
}

std::string text_of(const JoinFunction& join) {
  if (join.is_user()) return join.name() + "(x, y) -> " + text_of(*join.body());
  const auto* const found = std::find_if(kJoinFunctions.begin(), kJoinFunctions.end(),
                                         [&](const auto& entry) { return entry.op == join.op(); });
  CHECK(found != kJoinFunctions.end(), "an aggregate distributes over functions that have a name");
  return std::string(found->word);
}

}  // namespace

std::optional<ScalarOp> find_join_function(std::string_view word) {
  const auto* const found =
      std::find_if(kJoinFunctions.begin(), kJoinFunctions.end(), [&](const auto& entry) { return entry.word == word; });
  return found == kJoinFunctions.end() ? std::nullopt : std::optional(found->op);
}

bool is_join_function(ScalarOp op) {
  return std::any_of(kJoinFunctions.begin(), kJoinFunctions.end(), [&](const auto& entry) { return entry.op == op; });
}

Semiring declared_semiring(JoinFunction join, bool idempotent) {
  return {.aggregate = Aggregate::User,
          .join = std::move(join),
          .for_integers = true,
          .for_complex = true,
          .idempotent = idempotent};
}

bool folds_in_order(const EinSum& einsum) { return einsum.user != nullptr && !einsum.user->may_split(); }

// Two steps are enough for all types: a combination of whole numbers may be a fraction, and that of real numbers
// complex.
DType fold_type(const UserAggregate& aggregate, DType value) {
  auto type = value;
  for (int step = 0; step < 3; ++step) {
    const std::array operands{type, type};
    const auto own = type_of(*aggregate.combination, operands);
    const auto wider = own.weak && !is_complex(own.dtype) ? type : promote(type, own.dtype);
    if (wider == type) break;
    type = wider;
  }
  const auto initial = type_of(*aggregate.initial, {});
  return is_complex(initial.dtype) ? promote(type, initial.dtype) : type;
}

ScalarPtr typed_combination(const UserAggregate& aggregate, DType type) {
  const std::array operands{type, type};
  return with_types(aggregate.combination, operands, LabelTable(), type);
}

UserAggregate recurrence_join(const UserAggregate& aggregate, DType type) {
  CHECK(!aggregate.semirings.empty(), "a recurrence is of an aggregate that distributes over a function");
  const auto& join = aggregate.semirings.front().join;
  const auto a = ScalarExpression::operand(0);
  const auto b = ScalarExpression::operand(1);
  const std::array operands{type, type};
  return {.name = aggregate.name,
          .combination = with_types(join.is_user() ? join.body() : ScalarExpression::call(join.op(), {a, b}), operands,
                                    LabelTable(), type),
          .initial = aggregate.initial};
}

ScalarPtr recurrence_step(const UserAggregate& aggregate, DType type) {
  const auto moved = substitute_operands(recurrence_join(aggregate, type).combination,
                                         [](std::size_t n) { return ScalarExpression::operand(n + 1); });
  return substitute_operands(typed_combination(aggregate, type),
                             [&](std::size_t n) { return n == 0 ? moved : ScalarExpression::operand(0); });
}

DType recurrence_type(const UserAggregate& aggregate, DType value) {
  auto type = value;
  for (;;) {
    auto join = recurrence_join(aggregate, type);
    typed_combination(aggregate, type);  // for its errors
    const auto wider = promote(fold_type(aggregate, type), fold_type(join, type));
    if (wider == type) return type;
    type = wider;
  }
}

UserAggregatePtr with_join_types(const UserAggregatePtr& aggregate, DType type) {
  const auto is_user = [](const Semiring& semiring) { return semiring.join.is_user(); };
  if (std::none_of(aggregate->semirings.begin(), aggregate->semirings.end(), is_user)) return aggregate;
  auto typed = *aggregate;
  const std::array operands{type, type};
  for (auto& semiring : typed.semirings) {
    if (!is_user(semiring)) continue;
    const auto& join = semiring.join;
    semiring.join = JoinFunction(join.name(), with_types(join.body(), operands, LabelTable(), type));
  }
  return std::make_shared<const UserAggregate>(std::move(typed));
}

ScalarValue initial_value(const UserAggregate& aggregate, DType type) {
  return value_of(*with_types(aggregate.initial, {}, LabelTable(), type), {});
}

ScalarValue value_of(const ScalarExpression& typed, std::span<const ScalarValue> operands) {
  if (typed.is_constant()) return ScalarValue::of(typed);
  if (typed.kind() == Kind::Operand) {
    CHECK(typed.operand() < operands.size(), "a combination reads the values that it combines");
    return operands[typed.operand()];
  }
  CHECK(typed.kind() == Kind::Call, "a combination has constants and the values that it combines");
  const auto& arguments = typed.arguments();
  if (typed.op() == ScalarOp::Case) {
    for (std::size_t n = 0; n + 1 < arguments.size(); n += 2)
      if (value_of(*arguments[n], operands).is_true()) return value_of(*arguments[n + 1], operands);
    return value_of(*arguments.back(), operands);
  }
  auto result = value_of(*arguments[0], operands);
  if (arguments.size() == 1) return ScalarValue::apply(typed.op(), result);
  for (std::size_t n = 1; n < arguments.size(); ++n)
    result = ScalarValue::apply(typed.op(), result, value_of(*arguments[n], operands));
  return result;
}

std::string describe(const UserAggregate& aggregate) {
  auto text = "(x, y) -> " + text_of(*aggregate.combination) + " from " + text_of(*aggregate.initial);
  std::vector<std::string> declared;
  if (aggregate.commutative) declared.emplace_back("commutative");
  if (aggregate.associative) declared.emplace_back("associative");
  if (aggregate.idempotent) declared.emplace_back("idempotent");
  for (std::size_t n = 0; n < aggregate.semirings.size(); ++n)
    declared.push_back((n == 0 ? "distributing over " : "over ") + text_of(aggregate.semirings[n].join));
  for (std::size_t n = 0; n < declared.size(); ++n)
    text += (n == 0 ? ", declared " : n + 1 == declared.size() ? " and " : ", ") + declared[n];
  return aggregate.may_split() ? text : text + ", in order";
}

bool same_aggregate(const UserAggregate* a, const UserAggregate* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && a->name == b->name && describe(*a) == describe(*b) &&
         equal(*a->combination, *b->combination) && equal(*a->initial, *b->initial);
}

}  // namespace eindb
