#include "tensor/scalar_expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;

constexpr std::array kOps = std::to_array<ScalarOpInfo>({
    {Add, "+", 2, -1, true, false, false},         {Multiply, "*", 2, -1, true, false, false},
    {Subtract, "-", 2, 2, true, false, false},     {Divide, "/", 2, 2, true, true, false},
    {Modulo, "%", 2, 2, true, false, true},        {Power, "^", 2, 2, true, false, false},
    {Negate, "-", 1, 1, true, false, false},       {Not, "NOT", 1, 1, true, false, false},
    {Abs, "ABS", 1, 1, false, false, false},       {Sign, "SIGN", 1, 1, false, false, true},
    {Sqrt, "SQRT", 1, 1, false, true, false},      {Exp, "EXP", 1, 1, false, true, false},
    {Log, "LOG", 1, 1, false, true, false},        {Log2, "LOG2", 1, 1, false, true, true},
    {Log1p, "LOG1P", 1, 1, false, true, true},     {Expm1, "EXPM1", 1, 1, false, true, true},
    {Sin, "SIN", 1, 1, false, true, false},        {Cos, "COS", 1, 1, false, true, false},
    {Tan, "TAN", 1, 1, false, true, false},        {Asin, "ASIN", 1, 1, false, true, true},
    {Acos, "ACOS", 1, 1, false, true, true},       {Atan, "ATAN", 1, 1, false, true, true},
    {Sinh, "SINH", 1, 1, false, true, false},      {Cosh, "COSH", 1, 1, false, true, false},
    {Tanh, "TANH", 1, 1, false, true, false},      {Erf, "ERF", 1, 1, false, true, true},
    {Sigmoid, "SIGMOID", 1, 1, false, true, true}, {Relu, "RELU", 1, 1, false, false, true},
    {Floor, "FLOOR", 1, 1, false, false, true},    {Ceil, "CEIL", 1, 1, false, false, true},
    {Round, "ROUND", 1, 1, false, false, true},    {Real, "REAL", 1, 1, false, false, false},
    {Imag, "IMAG", 1, 1, false, false, false},     {Conj, "CONJ", 1, 1, false, false, false},
    {Equal, "=", 2, 2, true, false, false},        {NotEqual, "<>", 2, 2, true, false, false},
    {Less, "<", 2, 2, true, false, true},          {LessEqual, "<=", 2, 2, true, false, true},
    {Greater, ">", 2, 2, true, false, true},       {GreaterEqual, ">=", 2, 2, true, false, true},
    {And, "AND", 2, 2, true, false, false},        {Or, "OR", 2, 2, true, false, false},
    {Atan2, "ATAN2", 2, 2, false, true, true},     {MakeComplex, "COMPLEX", 2, 2, false, true, true},
    {Least, "LEAST", 2, -1, false, false, true},   {Greatest, "GREATEST", 2, -1, false, false, true},
    {Case, "CASE", 3, -1, true, false, false},
});

ScalarType combine(ScalarType a, ScalarType b) {
  if (a.weak == b.weak) return {promote(a.dtype, b.dtype), a.weak};
  const auto& strong = a.weak ? b : a;
  const auto& weak = a.weak ? a : b;
  if (is_complex(weak.dtype)) return {complex_of(strong.dtype), false};
  return {weak.dtype == DType::Int64 ? strong.dtype : floating_of(strong.dtype), false};
}

bool is_non_negative_integer(const ScalarExpression& e) { return e.kind() == Kind::Integer && e.integer_value() >= 0; }

// Visits every node, parents after children.
template <class Visit>
void visit_nodes(const ScalarExpression& e, const Visit& visit) {
  for (const auto& argument : e.arguments()) visit_nodes(*argument, visit);
  visit(e);
}

// One bottom-up pass; `seen` is told the type that every node computes in.
ScalarType infer(const ScalarExpression& e, std::span<const DType> operands,
                 const std::function<void(DType, bool)>& seen) {
  ScalarType type;
  switch (e.kind()) {
    case Kind::Integer:
    case Kind::LabelIndex: type = {DType::Int64, true}; break;
    case Kind::Real:
    case Kind::Uniform:
    case Kind::Normal: type = {DType::Float64, true}; break;
    case Kind::Operand: type = {operands[e.operand()], false}; break;
    case Kind::Parameter: type = {e.parameter_type(), true}; break;
    case Kind::Call: {
      const auto& info = info_of(e.op());
      const bool is_case = e.op() == Case;
      bool first = true;
      for (std::size_t a = 0; a < e.arguments().size(); ++a) {
        const auto argument = infer(*e.arguments()[a], operands, seen);
        if (info.ordered && is_complex(argument.dtype)) {
          throw Error(ErrorKind::Type, std::string(info.name) + " is not defined for complex numbers", std::nullopt,
                      "take REAL, IMAG or ABS first");
        }
        if (is_case && a % 2 == 0 && a + 1 < e.arguments().size()) continue;  // a condition
        type = first ? argument : combine(type, argument);
        first = false;
      }
      if (info.floating) type.dtype = floating_of(type.dtype);
      if (e.op() == MakeComplex) type.dtype = complex_of(type.dtype);
      if (e.op() == Power && !is_non_negative_integer(*e.arguments()[1])) type.dtype = floating_of(type.dtype);
      seen(type.dtype, type.weak);
      if (e.op() == Abs || e.op() == Real || e.op() == Imag) type.dtype = real_of(type.dtype);
      if (gives_boolean(e.op())) type = {DType::Int64, true};
      break;
    }
  }
  seen(type.dtype, type.weak);
  return type;
}

int precedence(const ScalarExpression& e) {
  if (e.kind() == Kind::Real || e.kind() == Kind::Integer) return e.real_value() < 0 ? 6 : 10;
  if (e.kind() != Kind::Call) return 10;
  switch (e.op()) {
    case Or: return 1;
    case And: return 2;
    case Not: return 3;
    case Equal:
    case NotEqual:
    case Less:
    case LessEqual:
    case Greater:
    case GreaterEqual: return 4;
    case Add:
    case Subtract: return 5;
    case Negate: return 6;
    case Multiply:
    case Divide:
    case Modulo: return 7;
    case Power: return 8;
    default: return 10;
  }
}

std::string format_real(double value) {
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

class Printer {
 public:
  Printer(const std::function<std::string(std::size_t)>& operand_text, const LabelTable& labels)
      : operand_text_(operand_text), labels_(labels) {}

  std::string print(const ScalarExpression& e) const {
    switch (e.kind()) {
      case Kind::Integer: return std::to_string(e.integer_value());
      case Kind::Real: return format_real(e.real_value());
      case Kind::Operand: return operand_text_(e.operand());
      case Kind::LabelIndex: return labels_.name(e.label());
      case Kind::Uniform: return "RANDOM(" + std::to_string(e.integer_value()) + ")";
      case Kind::Normal: return "RANDN(" + std::to_string(e.integer_value()) + ")";
      case Kind::Parameter: return "$" + std::to_string(e.parameter() + 1);
      case Kind::Call: break;
    }
    if (e.op() == Case) return print_case(e);
    return info_of(e.op()).infix ? print_infix(e) : print_function(e);
  }

 private:
  std::string print_case(const ScalarExpression& e) const {
    const auto& a = e.arguments();
    std::string out = "CASE";
    for (std::size_t i = 0; i + 1 < a.size(); i += 2) out += " WHEN " + print(*a[i]) + " THEN " + print(*a[i + 1]);
    return out + " ELSE " + print(*a.back()) + " END";
  }

  std::string print_function(const ScalarExpression& e) const {
    std::string out(info_of(e.op()).name);
    out += "(";
    for (std::size_t a = 0; a < e.arguments().size(); ++a) out += (a == 0 ? "" : ", ") + print(*e.arguments()[a]);
    return out + ")";
  }

  std::string print_infix(const ScalarExpression& e) const {
    const std::string name(info_of(e.op()).name);
    const int own = precedence(e);
    if (e.arguments().size() == 1) return name + (e.op() == Not ? " " : "") + child(*e.arguments()[0], own + 1);
    std::string out;
    const std::string separator = e.op() == Power ? name : " " + name + " ";
    for (std::size_t a = 0; a < e.arguments().size(); ++a) {
      // Infix operators associate to the left, except Power.
      const bool tight = (a == 0) == (e.op() == Power);
      out += (a == 0 ? "" : separator) + child(*e.arguments()[a], tight ? own + 1 : own);
    }
    return out;
  }

  std::string child(const ScalarExpression& e, int at_least) const {
    return precedence(e) < at_least ? "(" + print(e) + ")" : print(e);
  }

  const std::function<std::string(std::size_t)>& operand_text_;
  const LabelTable& labels_;
};

}  // namespace

const ScalarOpInfo& info_of(ScalarOp op) {
  const auto& info = kOps[static_cast<std::size_t>(op)];
  DCHECK(info.op == op, "kOps has one row per operation, in order");
  return info;
}

bool gives_boolean(ScalarOp op) {
  switch (op) {
    case Not:
    case Equal:
    case NotEqual:
    case Less:
    case LessEqual:
    case Greater:
    case GreaterEqual:
    case And:
    case Or: return true;
    default: return false;
  }
}

std::optional<ScalarOp> find_scalar_function(std::string_view name) {
  if (equal_ignoring_case(name, "POW")) return Power;
  for (const auto& info : kOps)
    if (!info.infix && equal_ignoring_case(info.name, name)) return info.op;
  return std::nullopt;
}

std::vector<std::string_view> scalar_function_names() {
  std::vector<std::string_view> names{"POW"};
  for (const auto& info : kOps)
    if (!info.infix) names.push_back(info.name);
  return names;
}

std::optional<Kind> find_generator(std::string_view name) {
  if (equal_ignoring_case(name, "RANDOM")) return Kind::Uniform;
  if (equal_ignoring_case(name, "RANDN")) return Kind::Normal;
  return std::nullopt;
}

ScalarPtr ScalarExpression::integer(std::int64_t value) {
  auto e = std::make_shared<ScalarExpression>();
  e->integer_ = value;
  return e;
}

ScalarPtr ScalarExpression::real(double value) {
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Real;
  e->real_ = value;
  return e;
}

ScalarPtr ScalarExpression::operand(std::size_t number) {
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Operand;
  e->operand_ = number;
  return e;
}

ScalarPtr ScalarExpression::label_index(Label label) {
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::LabelIndex;
  e->label_ = label;
  return e;
}

ScalarPtr ScalarExpression::parameter(std::size_t number, DType type) {
  CHECK(type == DType::Int64 || type == DType::Float64, "a parameter is an integer or a real number");
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Parameter;
  e->operand_ = number;
  e->integer_ = type == DType::Int64 ? 1 : 0;
  return e;
}

ScalarPtr ScalarExpression::random(Kind uniform_or_normal, std::uint64_t seed, Labels cell) {
  CHECK(uniform_or_normal == Kind::Uniform || uniform_or_normal == Kind::Normal, "random is uniform or normal");
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = uniform_or_normal;
  e->integer_ = static_cast<std::int64_t>(seed);
  e->cell_ = std::move(cell);
  return e;
}

ScalarPtr ScalarExpression::call(ScalarOp op, std::vector<ScalarPtr> arguments) {
  const auto& info = info_of(op);
  const auto count = static_cast<int>(arguments.size());
  CHECK(count >= info.min_arguments && (info.max_arguments < 0 || count <= info.max_arguments),
        "a scalar operation has as many arguments as it takes");
  CHECK(op != Case || count % 2 == 1, "CASE has pairs and an ELSE");
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Call;
  e->op_ = op;
  if ((op == Add || op == Multiply) && arguments.front()->is_call(op)) {
    e->arguments_ = arguments.front()->arguments();
    e->arguments_.insert(e->arguments_.end(), arguments.begin() + 1, arguments.end());
  } else {
    e->arguments_ = std::move(arguments);
  }
  return e;
}

bool equal(const ScalarExpression& a, const ScalarExpression& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::Integer: return a.integer_value() == b.integer_value();
    case Kind::Real: {
      const double x = a.real_value();
      const double y = b.real_value();
      return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y));
    }
    case Kind::Operand: return a.operand() == b.operand();
    case Kind::LabelIndex: return a.label() == b.label();
    case Kind::Uniform:
    case Kind::Normal: return a.seed() == b.seed() && a.cell() == b.cell();
    case Kind::Parameter: return a.parameter() == b.parameter() && a.parameter_type() == b.parameter_type();
    case Kind::Call: break;
  }
  return a.op() == b.op() &&
         std::equal(a.arguments().begin(), a.arguments().end(), b.arguments().begin(), b.arguments().end(),
                    [](const auto& x, const auto& y) { return equal(*x, *y); });
}

std::size_t hash_of(const ScalarExpression& e) {
  std::size_t hash = static_cast<std::size_t>(e.kind()) * 31 + static_cast<std::size_t>(e.op());
  const auto mix = [&](std::size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29); };
  if (e.kind() == Kind::Real) mix(std::hash<double>{}(e.real_value()));
  else mix(std::hash<std::int64_t>{}(e.integer_value()));
  mix(e.operand());
  mix(e.label().index());
  for (const auto& argument : e.arguments()) mix(hash_of(*argument));
  return hash;
}

std::vector<std::size_t> operands_of(const ScalarExpression& e) {
  std::vector<std::size_t> out;
  visit_nodes(e, [&](const ScalarExpression& node) {
    if (node.kind() == Kind::Operand) out.push_back(node.operand());
  });
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Labels index_labels_of(const ScalarExpression& e) {
  DistinctLabels out;
  visit_nodes(e, [&](const ScalarExpression& node) {
    if (node.kind() == Kind::LabelIndex) out.add(node.label());
    out.add(node.cell());
  });
  return out.labels();
}

namespace {

// `replace` takes a leaf and gives what stands in its place. What does not change is shared.
template <class Replace>
ScalarPtr substitute_leaves(const ScalarPtr& e, const Replace& replace) {
  if (e->kind() != Kind::Call) return replace(e);
  std::vector<ScalarPtr> arguments;
  arguments.reserve(e->arguments().size());
  for (const auto& argument : e->arguments()) arguments.push_back(substitute_leaves(argument, replace));
  if (arguments == e->arguments()) return e;
  return ScalarExpression::call(e->op(), std::move(arguments));
}

}  // namespace

ScalarPtr substitute_operands(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace) {
  return substitute_leaves(
      e, [&](const ScalarPtr& leaf) { return leaf->kind() == Kind::Operand ? replace(leaf->operand()) : leaf; });
}

ScalarPtr substitute_parameters(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace) {
  return substitute_leaves(
      e, [&](const ScalarPtr& leaf) { return leaf->kind() == Kind::Parameter ? replace(leaf->parameter()) : leaf; });
}

ScalarType type_of(const ScalarExpression& e, std::span<const DType> operands) {
  auto type = infer(e, operands, [](DType, bool) {});
  // Numbers that meet no tensor are FLOAT64, the default type.
  if (type.weak) type.dtype = is_complex(type.dtype) ? DType::Complex128 : DType::Float64;
  return type;
}

DType compute_type_of(const ScalarExpression& e, std::span<const DType> operands) {
  std::optional<DType> strong;
  DType weakest = DType::Int64;
  infer(e, operands, [&](DType dtype, bool weak) {
    if (weak) weakest = promote(weakest, dtype);
    else strong = strong ? promote(*strong, dtype) : dtype;
  });
  if (!strong) strong = DType::Float64;
  if (is_complex(weakest)) return complex_of(*strong);
  return weakest == DType::Int64 ? *strong : floating_of(*strong);
}

std::string to_string(const ScalarExpression& e, const std::function<std::string(std::size_t)>& operand_text,
                      const LabelTable& labels) {
  return Printer(operand_text, labels).print(e);
}

}  // namespace eindb
