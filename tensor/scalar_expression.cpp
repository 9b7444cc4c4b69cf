#include "tensor/scalar_expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/poll_steps.hpp"
#include "common/stack_guard.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;
using enum ScalarOp;

constexpr std::array kOps = std::to_array<ScalarOpInfo>({
    {Add, "+", 2, -1, true, false, false},
    {Multiply, "*", 2, -1, true, false, false},
    {Subtract, "-", 2, 2, true, false, false},
    {Divide, "/", 2, 2, true, true, false},
    {Modulo, "%", 2, 2, true, false, true},
    {Power, "^", 2, 2, true, false, false},
    {Negate, "-", 1, 1, true, false, false},
    {Not, "NOT", 1, 1, true, false, false},
    {Abs, "ABS", 1, 1, false, false, false},
    {Sign, "SIGN", 1, 1, false, false, true},
    {Sqrt, "SQRT", 1, 1, false, true, false},
    {Exp, "EXP", 1, 1, false, true, false},
    {Log, "LOG", 1, 1, false, true, false},
    {Log2, "LOG2", 1, 1, false, true, true},
    {Log1p, "LOG1P", 1, 1, false, true, true},
    {Expm1, "EXPM1", 1, 1, false, true, true},
    {Sin, "SIN", 1, 1, false, true, false},
    {Cos, "COS", 1, 1, false, true, false},
    {Tan, "TAN", 1, 1, false, true, false},
    {Asin, "ASIN", 1, 1, false, true, true},
    {Acos, "ACOS", 1, 1, false, true, true},
    {Atan, "ATAN", 1, 1, false, true, true},
    {Sinh, "SINH", 1, 1, false, true, false},
    {Cosh, "COSH", 1, 1, false, true, false},
    {Tanh, "TANH", 1, 1, false, true, false},
    {Erf, "ERF", 1, 1, false, true, true},
    {Sigmoid, "SIGMOID", 1, 1, false, true, true},
    {Relu, "RELU", 1, 1, false, false, true},
    {Floor, "FLOOR", 1, 1, false, false, true},
    {Ceil, "CEIL", 1, 1, false, false, true},
    {Round, "ROUND", 1, 1, false, false, true},
    {Real, "REAL", 1, 1, false, false, false},
    {Imag, "IMAG", 1, 1, false, false, false},
    {Conj, "CONJ", 1, 1, false, false, false},
    {Equal, "=", 2, 2, true, false, false},
    {NotEqual, "<>", 2, 2, true, false, false},
    {Less, "<", 2, 2, true, false, true},
    {LessEqual, "<=", 2, 2, true, false, true},
    {Greater, ">", 2, 2, true, false, true},
    {GreaterEqual, ">=", 2, 2, true, false, true},
    {And, "AND", 2, 2, true, false, false},
    {Or, "OR", 2, 2, true, false, false},
    {Atan2, "ATAN2", 2, 2, false, true, true},
    {MakeComplex, "COMPLEX", 2, 2, false, true, true},
    {Least, "LEAST", 2, -1, false, false, true},
    {Greatest, "GREATEST", 2, -1, false, false, true},
    {BitAnd, "&", 2, 2, true, false, true},
    {BitOr, "|", 2, 2, true, false, true},
    {BitXor, "BITXOR", 2, 2, false, false, true},
    {ShiftLeft, "<<", 2, 2, true, false, true},
    {ShiftRight, ">>", 2, 2, true, false, true},
    {BitNot, "~", 1, 1, true, false, true},
    {Case, "CASE", 3, -1, true, false, false},
    {ToFloat32, "CAST", 1, 1, true, false, false},
    {ToFloat64, "CAST", 1, 1, true, false, false},
    {ToComplex64, "CAST", 1, 1, true, false, false},
    {ToComplex128, "CAST", 1, 1, true, false, false},
    {ToInt64, "CAST", 1, 1, true, false, false},
});

// Bounds nested calls, so that walks may recurse on any thread's stack. Statements nest less; only long
// left-associative chains of operators reach it.
constexpr std::int64_t kMostLevels = 2000;

// The nesting depth, as counted by call().
std::int64_t levels_of(const ScalarExpression& e) { return e.kind() == Kind::Call ? e.integer_value() : 0; }

std::int64_t levels_above(const std::vector<ScalarPtr>& arguments) {
  std::int64_t levels = 0;
  for (const auto& argument : arguments) levels = std::max(levels, levels_of(*argument));
  if (levels < kMostLevels) return levels + 1;
  throw Error(ErrorKind::Unsupported,
              "an expression nests more than " + std::to_string(kMostLevels) + " operations in each other",
              std::nullopt, "compute parts of it in WITH definitions: in a chain as a / b / c every / is a level");
}

class Hash {
 public:
  explicit Hash(const ScalarExpression& e) : value_(static_cast<std::size_t>(e.kind()) * 31) {}
  void mix(std::size_t more) { value_ = (value_ ^ more) * 0x9E3779B97F4A7C15ULL + (value_ >> 29U); }
  std::size_t value() const { return value_; }

 private:
  std::size_t value_;
};

std::size_t hash_of_call(const ScalarExpression& e) {
  Hash hash(e);
  hash.mix(static_cast<std::size_t>(e.op()));
  for (const auto& argument : e.arguments()) hash.mix(hash_of(*argument));
  return hash.value();
}

// Visits every node, arguments before calls.
template <class Visit>
void visit_nodes(const ScalarExpression& e, const Visit& visit) {
  poll_cancellation_after(1);
  require_stack();
  for (const auto& argument : e.arguments()) visit_nodes(*argument, visit);
  visit(e);
}

int precedence(const ScalarExpression& e) {
  if (e.kind() == Kind::Real || e.kind() == Kind::Integer) return e.real_value() < 0 ? 7 : 10;
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
    case BitAnd:
    case BitOr:
    case ShiftLeft:
    case ShiftRight: return 5;
    case Add:
    case Subtract: return 6;
    case BitNot:
    case Negate: return 7;
    case Multiply:
    case Divide:
    case Modulo: return 8;
    case Power: return 9;
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
    if (const auto type = converts_to(e.op()))
      return "CAST(" + print(*e.arguments()[0]) + " AS " + std::string(name_of(*type)) + ")";
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
      const bool tight = (a == 0) == (e.op() == Power) || works_on_bits(e.op());
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

bool gives_boolean(const ScalarExpression& e) {
  return e.kind() == ScalarExpression::Kind::Call && gives_boolean(e.op());
}

bool works_on_bits(ScalarOp op) { return op >= BitAnd && op <= BitNot; }

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

ScalarOp conversion_to(DType type) {
  switch (type) {
    case DType::Float32: return ToFloat32;
    case DType::Float64: return ToFloat64;
    case DType::Complex64: return ToComplex64;
    case DType::Complex128: return ToComplex128;
    case DType::Int64: break;
  }
  return ToInt64;
}

std::optional<DType> converts_to(ScalarOp op) {
  switch (op) {
    case ToFloat32: return DType::Float32;
    case ToFloat64: return DType::Float64;
    case ToComplex64: return DType::Complex64;
    case ToComplex128: return DType::Complex128;
    case ToInt64: return DType::Int64;
    default: return std::nullopt;
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

ScalarPtr ScalarExpression::adapting_operand(std::size_t number, DType kind) {
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Operand;
  e->operand_ = number;
  e->type_ = kind;
  return e;
}

ScalarPtr ScalarExpression::small_integer_operand(std::size_t number) {
  auto e = std::make_shared<ScalarExpression>(*adapting_operand(number, DType::Int64));
  e->small_integer_ = true;
  return e;
}

ScalarPtr ScalarExpression::with_type(const ScalarPtr& leaf, std::optional<DType> type) {
  CHECK(leaf->kind() != Kind::Call && leaf->kind() != Kind::Operand, "only leaves that may adapt are given a type");
  if (leaf->type() == type) return leaf;
  auto e = std::make_shared<ScalarExpression>(*leaf);
  e->type_ = type;
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
  poll_cancellation_after(arguments.size());
  auto e = std::make_shared<ScalarExpression>();
  e->kind_ = Kind::Call;
  e->op_ = op;
  if ((op == Add || op == Multiply) && arguments.front()->is_call(op)) {
    e->arguments_ = arguments.front()->arguments();
    e->arguments_.insert(e->arguments_.end(), arguments.begin() + 1, arguments.end());
  } else {
    e->arguments_ = std::move(arguments);
  }
  // Calls do not use these members otherwise. Computing depth and hash here avoids quadratic walks later.
  e->integer_ = levels_above(e->arguments_);
  e->operand_ = hash_of_call(*e);
  return e;
}

std::size_t hash_of(const ScalarExpression& e) {
  if (e.kind() == Kind::Call) return e.operand();  // computed by call()
  Hash hash(e);
  hash.mix(e.kind() == Kind::Real && !std::isnan(e.real_value()) ? std::hash<double>{}(e.real_value()) : 0);
  hash.mix(e.kind() == Kind::Real ? 0 : std::hash<std::int64_t>{}(e.integer_value()));
  hash.mix(e.operand());
  hash.mix(e.type() ? static_cast<std::size_t>(*e.type()) : 0);
  hash.mix(e.label().index());
  for (const auto label : e.cell()) hash.mix(label.index());
  return hash.value();
}

bool equal(const ScalarExpression& a, const ScalarExpression& b) {
  if (&a == &b) return true;
  if (a.kind() != b.kind() || a.type() != b.type() || hash_of(a) != hash_of(b)) return false;
  poll_cancellation_after(1);
  switch (a.kind()) {
    case Kind::Integer: return a.integer_value() == b.integer_value();
    case Kind::Real: {
      const double x = a.real_value();
      const double y = b.real_value();
      return (x == y && std::signbit(x) == std::signbit(y)) || (std::isnan(x) && std::isnan(y));
    }
    case Kind::Operand:
      return a.operand() == b.operand() && a.is_small_integer_operand() == b.is_small_integer_operand();
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

// Replaces leaves by the results of `replace`; unchanged subtrees are shared.
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
  return substitute_leaves(e, [&](const ScalarPtr& leaf) {
    return leaf->kind() == Kind::Parameter ? ScalarExpression::with_type(replace(leaf->parameter()), leaf->type())
                                           : leaf;
  });
}

std::string to_string(const ScalarExpression& e, const std::function<std::string(std::size_t)>& operand_text,
                      const LabelTable& labels) {
  return Printer(operand_text, labels).print(e);
}

}  // namespace eindb
