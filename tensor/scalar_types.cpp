#include "tensor/scalar_types.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/stack_guard.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;

// Whole numbers up to these bounds are exact.
constexpr double kExactInFloat32 = 0x1p24;
constexpr double kExactInFloat64 = 0x1p53;
constexpr double kBeyondInt64 = 0x1p63;
constexpr double kMostOfSmallIntegers = 0x1p16;
constexpr double kUnboundedRange = INFINITY;

ScalarType combine(ScalarType a, ScalarType b) {
  if (a.weak == b.weak) return {promote(a.dtype, b.dtype), a.weak, a.definite || b.definite};
  const auto& strong = a.weak ? b : a;
  const auto& weak = a.weak ? a : b;
  if (is_complex(weak.dtype)) return {complex_of(strong.dtype), false};
  return {weak.dtype == DType::Int64 ? strong.dtype : floating_of(strong.dtype), false};
}

bool is_non_negative_integer(const ScalarExpression& e) { return e.kind() == Kind::Integer && e.integer_value() >= 0; }

bool compares(ScalarOp op) { return gives_boolean(op) && op != Not && op != And && op != Or; }

// Add and Multiply with many arguments are computed from the left, each step in the type of its two operands.
bool folds(ScalarOp op) { return op == Add || op == Multiply; }

void require_order(const ScalarExpression& e, ScalarType argument) {
  if (!info_of(e.op()).ordered || !is_complex(argument.dtype)) return;
  throw Error(ErrorKind::Type, std::string(info_of(e.op()).name) + " is not defined for complex numbers", std::nullopt,
              "take REAL, IMAG or ABS first");
}

void require_whole_numbers(const ScalarExpression& e, ScalarType argument) {
  if (argument.dtype == DType::Int64) return;
  throw Error(ErrorKind::Type,
              std::string(info_of(e.op()).name) + " works on the bits of INT64, and an argument is " +
                  std::string(name_of(argument.dtype)),
              std::nullopt, "CAST(x AS INT64) cuts off fractions; conditions are joined by AND, OR, XOR and NOT");
}

ScalarType type_of_leaf(const ScalarExpression& e, std::span<const DType> operands) {
  if (e.kind() == Kind::Operand)
    return e.type() ? ScalarType{*e.type(), true, e.is_small_integer_operand()} : ScalarType{operands[e.operand()]};
  if (e.type()) return {*e.type()};
  switch (e.kind()) {
    case Kind::Integer:
    case Kind::LabelIndex: return {DType::Int64, true};
    case Kind::Parameter: return {e.parameter_type(), true};
    default: return {DType::Float64, true};
  }
}

// The type that all arguments are converted to, and the `type` of the result.
struct CallType {
  ScalarType arguments;
  ScalarType type;
};

CallType type_of_call(const ScalarExpression& e, std::span<const ScalarType> of_arguments) {
  if (const auto type = converts_to(e.op())) return {of_arguments[0], {*type}};
  if (works_on_bits(e.op())) {
    for (const auto& argument : of_arguments) require_whole_numbers(e, argument);
    return {{DType::Int64}, {DType::Int64}};
  }
  std::optional<ScalarType> met;
  for (std::size_t a = 0; a < of_arguments.size(); ++a) {
    require_order(e, of_arguments[a]);
    if (!is_condition(e, a)) met = met ? combine(*met, of_arguments[a]) : of_arguments[a];
  }
  CallType out{*met, {}};
  const bool divides = e.op() == Power && !is_non_negative_integer(*e.arguments()[1]);
  if (info_of(e.op()).floating || divides) out.arguments.dtype = floating_of(out.arguments.dtype);
  out.type = out.arguments;
  if (e.op() == MakeComplex) out.type.dtype = complex_of(out.type.dtype);
  if (e.op() == Abs || e.op() == Real || e.op() == Imag) out.type.dtype = real_of(out.type.dtype);
  if (gives_boolean(e.op())) out.type = {DType::Int64, true};
  return out;
}

// Determines the types of nodes, each once.
class Types {
 public:
  explicit Types(std::span<const DType> operands) : operands_(operands) {}

  ScalarType of(const ScalarExpression& e) {
    if (e.kind() != Kind::Call) return type_of_leaf(e, operands_);
    if (const auto known = known_.find(&e); known != known_.end()) return known->second;
    const auto type = of_call(e).type;
    known_.emplace(&e, type);
    return type;
  }

  CallType of_call(const ScalarExpression& e) {
    require_stack();
    std::vector<ScalarType> types;
    for (const auto& argument : e.arguments()) types.push_back(of(*argument));
    return type_of_call(e, types);
  }

 private:
  std::span<const DType> operands_;
  std::unordered_map<const ScalarExpression*, ScalarType> known_;
};

// Bounds of the intermediate values of expressions of whole numbers and labels.
class Bounds {
 public:
  explicit Bounds(const LabelTable& labels) : labels_(labels) {}

  double of(const ScalarExpression& e) {
    if (e.kind() != Kind::Call) return of_leaf(e);
    if (const auto known = known_.find(&e); known != known_.end()) return known->second;
    const auto bound = of_call(e);
    known_.emplace(&e, bound);
    return bound;
  }

 private:
  double of_leaf(const ScalarExpression& e) const {
    if (e.kind() == Kind::Integer) return std::abs(static_cast<double>(e.integer_value()));
    if (e.is_small_integer_operand()) return kMostOfSmallIntegers;
    return e.kind() == Kind::LabelIndex ? static_cast<double>(labels_.extent(e.label())) : kUnboundedRange;
  }

  double of_call(const ScalarExpression& e) {
    if (gives_boolean(e.op())) return 1;
    if (works_on_bits(e.op())) return kUnboundedRange;
    double sum = 0;
    double product = 1;
    double largest = 0;
    for (std::size_t a = 0; a < e.arguments().size(); ++a) {
      if (is_condition(e, a)) continue;
      const auto bound = of(*e.arguments()[a]);
      sum += bound;
      product *= std::max(1.0, bound);
      largest = std::max(largest, bound);
    }
    switch (e.op()) {
      case Add:
      case Subtract: return sum;
      case Multiply: return product;
      case Power: return kUnboundedRange;
      default: return largest;
    }
  }

  const LabelTable& labels_;
  std::unordered_map<const ScalarExpression*, double> known_;
};

DType default_type(ScalarType type) {
  if (!type.weak || type.definite) return type.dtype;
  return is_complex(type.dtype) ? DType::Complex128 : DType::Float64;
}

struct Typed {
  ScalarPtr expression;
  DType type;
};

class Typer {
 public:
  Typer(std::span<const DType> operands, const LabelTable& labels)
      : operands_(operands), types_(operands), bounds_(labels) {}

  // The value in exactly this type.
  ScalarPtr in(const ScalarPtr& e, DType type) { return converted(typed(e, type), type).expression; }

 private:
  using Wanted = std::optional<DType>;

  static Typed converted(Typed value, DType type) {
    if (value.type == type) return value;
    return {ScalarExpression::call(conversion_to(type), {std::move(value.expression)}), type};
  }

  // The value in its own type, or, if it adapts, in a type suitable for `wanted`.
  Typed typed(const ScalarPtr& e, Wanted wanted) {
    if (e->kind() != Kind::Call) return leaf(e, wanted);
    const std::pair key{e.get(), wanted};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    auto value = call(e, wanted);
    known_.emplace(key, value);
    return value;
  }

  Typed leaf(const ScalarPtr& e, Wanted wanted) {
    const auto own = types_.of(*e);
    if (e->kind() == Kind::Operand) {
      const auto stored = operands_[e->operand()];
      if (!own.weak) return {e, stored};
      return converted({ScalarExpression::operand(e->operand()), stored}, adapted(own, wanted));
    }
    const auto type = own.weak ? adapted(own, wanted) : own.dtype;
    return {ScalarExpression::with_type(e, type), type};
  }

  static DType adapted(ScalarType weak, Wanted wanted) {
    if (!wanted) return default_type(weak);
    return weak.dtype == DType::Int64 ? *wanted : floating_of(*wanted);
  }

  Typed call(const ScalarPtr& e, Wanted wanted) {
    require_stack();
    if (const auto type = converts_to(e->op())) return converted(typed(e->arguments()[0], *type), *type);
    if (compares(e->op())) return comparison(e, wanted);
    if (gives_boolean(e->op())) return logic(e, wanted);
    if (e->op() == Case) return choice(e, wanted);
    const auto met = types_.of_call(*e);
    if (folds(e->op()) && !met.type.weak) return folded(e);
    const auto type = met.arguments.weak ? type_of_adapting(*e, met.arguments, wanted) : met.arguments.dtype;
    auto made = with_arguments_in(e, type);
    if (e->op() == MakeComplex) return {std::move(made), complex_of(type)};
    const bool is_part = e->op() == Abs || e->op() == Real || e->op() == Imag;
    return {std::move(made), is_part ? real_of(type) : type};
  }

  ScalarPtr with_arguments_in(const ScalarPtr& e, DType type) {
    std::vector<ScalarPtr> arguments;
    for (const auto& argument : e->arguments()) arguments.push_back(in(argument, type));
    return rebuilt(e, std::move(arguments));
  }

  static ScalarPtr rebuilt(const ScalarPtr& e, std::vector<ScalarPtr> arguments) {
    return arguments == e->arguments() ? e : ScalarExpression::call(e->op(), std::move(arguments));
  }

  // The type in which numbers and labels are computed among themselves.
  DType type_of_adapting(const ScalarExpression& e, ScalarType weak, Wanted wanted) {
    if (is_complex(weak.dtype)) return DType::Complex128;
    if (weak.dtype != DType::Int64) return DType::Float64;
    if (!wanted) return default_type(weak);
    if (*wanted == DType::Int64) return DType::Int64;
    return *wanted == DType::Float32 && bounds_.of(e) <= kExactInFloat32 ? DType::Float32 : DType::Float64;
  }

  // From the left, each step in the type of its context.
  Typed folded(const ScalarPtr& e) {
    const auto& arguments = e->arguments();
    std::size_t end = 0;
    auto met = types_.of(*arguments[end++]);
    while (end < arguments.size() && met.weak) met = combine(met, types_.of(*arguments[end++]));
    std::vector<ScalarPtr> terms = leading(e, end, met.dtype);
    for (; end < arguments.size(); ++end) {
      const auto next = combine(met, types_.of(*arguments[end]));
      if (next.dtype != met.dtype) {
        auto sum = terms.size() == 1 ? terms.front() : ScalarExpression::call(e->op(), std::move(terms));
        terms = {converted({std::move(sum), met.dtype}, next.dtype).expression};
      }
      met = next;
      terms.push_back(in(arguments[end], met.dtype));
    }
    return {terms.size() == 1 ? terms.front() : rebuilt(e, std::move(terms)), met.dtype};
  }

  // The leading arguments, all but the last of which adapt. Two or more of them form a value of their own.
  std::vector<ScalarPtr> leading(const ScalarPtr& e, std::size_t end, DType type) {
    const auto& arguments = e->arguments();
    if (end <= 2 || type == DType::Int64) {
      std::vector<ScalarPtr> terms;
      for (std::size_t a = 0; a < end; ++a) terms.push_back(in(arguments[a], type));
      return terms;
    }
    const auto last = arguments.begin() + static_cast<std::ptrdiff_t>(end) - 1;
    const auto before = ScalarExpression::call(e->op(), {arguments.begin(), last});
    made_.push_back(before);
    auto numbers = in(before, type);
    if (!numbers->is_call(e->op())) return {std::move(numbers), in(*last, type)};
    auto terms = numbers->arguments();
    terms.push_back(in(*last, type));
    return terms;
  }

  Typed comparison(const ScalarPtr& e, Wanted wanted) {
    const auto met = types_.of_call(*e).arguments;
    const auto type = met.weak ? type_of_adapting_comparison(*e, met, wanted) : met.dtype;
    // Converting elements while they are read costs less than converting truth values.
    const auto& arguments = e->arguments();
    const bool reads = std::all_of(arguments.begin(), arguments.end(),
                                   [](const auto& argument) { return argument->kind() == Kind::Operand; });
    const auto best = reads && type == DType::Float32 && wanted == DType::Float64 ? DType::Float64 : type;
    return {with_arguments_in(e, best), best};
  }

  DType type_of_adapting_comparison(const ScalarExpression& e, ScalarType met, Wanted wanted) {
    if (is_complex(met.dtype)) return DType::Complex128;
    if (met.dtype != DType::Int64) return DType::Float64;
    if (met.definite) return DType::Int64;
    const auto& arguments = e.arguments();
    const auto bound = std::max(bounds_.of(*arguments[0]), bounds_.of(*arguments[1]));
    if (wanted == DType::Float32 && bound <= kExactInFloat32) return DType::Float32;
    if (wanted == DType::Int64 && bound < kBeyondInt64) return DType::Int64;
    if (bound < kExactInFloat64) return DType::Float64;  // the bounds themselves are rounded
    const auto is_leaf = [](const auto& a) { return a->kind() != Kind::Call && a->kind() != Kind::Operand; };
    return std::all_of(arguments.begin(), arguments.end(), is_leaf) ? DType::Int64 : DType::Float64;
  }

  // NOT, AND, OR: a non-zero value stays non-zero in every type that its type promotes to.
  Typed logic(const ScalarPtr& e, Wanted wanted) {
    std::optional<DType> type;
    std::optional<DType> of_truths;
    for (const auto& argument : e->arguments()) {
      const auto own = types_.of(*argument);
      const auto value = typed(argument, own.definite || own.dtype != DType::Int64 ? Wanted{} : wanted);
      const bool is_truth = gives_boolean(*argument);
      auto& into = is_truth ? of_truths : type;
      if (is_truth && into && *into != value.type) into = wanted && !is_complex(*wanted) ? *wanted : *into;
      else into = into && !is_truth ? promote(*into, value.type) : value.type;
    }
    const auto common = type ? *type : *of_truths;
    return {with_arguments_in(e, common), common};
  }

  Typed choice(const ScalarPtr& e, Wanted wanted) {
    const auto met = types_.of(*e);
    const auto type = met.weak ? type_of_adapting(*e, met, wanted) : met.dtype;
    std::vector<ScalarPtr> arguments;
    for (std::size_t a = 0; a < e->arguments().size(); ++a) {
      const auto& argument = e->arguments()[a];
      arguments.push_back(is_condition(*e, a) ? typed(argument, type).expression : in(argument, type));
    }
    return {rebuilt(e, std::move(arguments)), type};
  }

  std::span<const DType> operands_;
  Types types_;
  Bounds bounds_;
  std::map<std::pair<const ScalarExpression*, Wanted>, Typed> known_;
  std::vector<ScalarPtr> made_;  // nodes kept alive for the caches below
};

// The argument whose type is that of the call, for calls that are no conversion.
std::size_t leading_argument(const ScalarExpression& e) { return e.op() == Case ? 1 : 0; }

DType type_of_result(ScalarOp op, DType arguments) {
  if (const auto type = converts_to(op)) return *type;
  if (op == MakeComplex) return complex_of(arguments);
  return op == Abs || op == Real || op == Imag ? real_of(arguments) : arguments;
}

// The type of a value with explicit types; nullopt if some are missing or inconsistent.
std::optional<DType> checked_type(const ScalarExpression& e, std::span<const DType> operands) {
  if (e.kind() == Kind::Operand) return e.type() ? std::nullopt : std::optional(operands[e.operand()]);
  if (e.kind() != Kind::Call) return e.type();
  std::optional<DType> common;
  for (std::size_t a = 0; a < e.arguments().size(); ++a) {
    const auto type = checked_type(*e.arguments()[a], operands);
    if (!type) return std::nullopt;
    if (is_condition(e, a)) continue;
    if (common && *common != *type) return std::nullopt;
    common = type;
  }
  const bool needs_floating = info_of(e.op()).floating && *common == DType::Int64;
  const bool needs_order = info_of(e.op()).ordered && is_complex(*common);
  if (needs_floating || needs_order) return std::nullopt;
  return type_of_result(e.op(), *common);
}

}  // namespace

bool is_condition(const ScalarExpression& e, std::size_t argument) {
  return e.op() == Case && argument % 2 == 0 && argument + 1 < e.arguments().size();
}

ScalarType kind_of(const ScalarExpression& e, std::span<const DType> operands) { return Types(operands).of(e); }

ScalarType type_of(const ScalarExpression& e, std::span<const DType> operands) {
  auto type = kind_of(e, operands);
  type.dtype = default_type(type);
  return type;
}

ScalarPtr with_types(const ScalarPtr& e, std::span<const DType> operands, const LabelTable& labels,
                     std::optional<DType> wanted) {
  const auto type = wanted ? *wanted : type_of(*e, operands).dtype;
  return has_types(*e, operands, type) ? e : Typer(operands, labels).in(e, type);
}

std::optional<DType> written_type(const ScalarExpression& e, std::span<const DType> operands) {
  if (e.kind() == Kind::Operand) return operands[e.operand()];
  if (e.kind() != Kind::Call) return e.type();
  if (const auto type = converts_to(e.op())) return type;
  std::optional<DType> common;
  for (std::size_t a = leading_argument(e); a < e.arguments().size() && !common; ++a)
    if (!is_condition(e, a)) common = written_type(*e.arguments()[a], operands);
  return common ? std::optional(type_of_result(e.op(), *common)) : std::nullopt;
}

bool has_types(const ScalarExpression& e, std::span<const DType> operands, DType wanted) {
  return checked_type(e, operands) == wanted;
}

}  // namespace eindb
