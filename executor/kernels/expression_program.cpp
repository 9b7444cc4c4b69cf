#include "executor/kernels/expression_program.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "common/check.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// Beyond this exponent, rounding errors of repeated multiplication are larger than those of pow.
constexpr std::int64_t kLargestExpandedPower = 32;

bool same(const Instruction& a, const Instruction& b) {
  return a.kind == b.kind && a.op == b.op && a.operand == b.operand && a.integer == b.integer &&
         std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) && a.number == b.number &&
         a.arguments == b.arguments;
}

}  // namespace

std::size_t Instruction::argument_count() const {
  switch (kind) {
    case Kind::Unary: return 1;
    case Kind::Binary: return 2;
    case Kind::Select: return 3;
    default: return 0;
  }
}

class ExpressionProgram::Compiler {
 public:
  Compiler(const EinSum& einsum, const LabelTable& labels, DType compute)
      : einsum_(einsum), all_(einsum.labels()), table_(labels), compute_(compute) {}

  std::vector<Instruction> take() {
    const auto result = compile(*einsum_.expression);
    // Everything is compiled for the sake of the result, and none of its own parts equals it.
    CHECK(result + 1 == code_.size(), "the result of a program is its last register");
    return std::move(code_);
  }

 private:
  std::size_t emit(Instruction instruction) {
    const auto known =
        std::find_if(code_.begin(), code_.end(), [&](const auto& other) { return same(other, instruction); });
    if (known != code_.end()) return static_cast<std::size_t>(known - code_.begin());
    code_.push_back(std::move(instruction));
    return code_.size() - 1;
  }

  // Nodes are shared between expressions, so each is compiled once, however often it occurs.
  std::size_t compile(const ScalarExpression& e) {
    if (const auto known = compiled_.find(&e); known != compiled_.end()) return known->second;
    const auto result = compile_node(e);
    compiled_.emplace(&e, result);
    return result;
  }

  std::size_t compile_node(const ScalarExpression& e) {
    using Node = ScalarExpression::Kind;
    switch (e.kind()) {
      case Node::Integer: return emit({.kind = Kind::Integer, .integer = e.integer_value()});
      case Node::Real: return emit({.kind = Kind::Real, .real = e.real_value()});
      case Node::Operand: return emit({.kind = Kind::Operand, .operand = e.operand()});
      case Node::LabelIndex: return emit({.kind = Kind::Number, .number = row_major({e.label()})});
      case Node::Uniform: return random(Kind::Uniform, e);
      case Node::Normal: return random(Kind::Normal, e);
      case Node::Parameter: CHECK(false, "parameters have their values when a plan runs");
      case Node::Call: break;
    }
    if (e.op() == ScalarOp::Case) return compile_case(e, 0);
    if (e.op() == ScalarOp::Power && expands(*e.arguments()[1])) return compile_power(e);
    auto result = compile(*e.arguments()[0]);
    if (e.arguments().size() == 1) return emit({.kind = Kind::Unary, .op = e.op(), .arguments = {result}});
    for (std::size_t a = 1; a < e.arguments().size(); ++a)
      result = emit({.kind = Kind::Binary, .op = e.op(), .arguments = {result, compile(*e.arguments()[a])}});
    return result;
  }

  std::size_t random(Kind kind, const ScalarExpression& e) {
    return emit({.kind = kind, .integer = static_cast<std::int64_t>(e.seed()), .number = row_major(e.cell())});
  }

  AffineNumber row_major(const Labels& cell) const {
    AffineNumber number{std::vector<std::int64_t>(all_.size(), 0)};
    std::uint64_t stride = 1;
    for (auto label = cell.rbegin(); label != cell.rend(); ++label) {
      const auto place = std::find(all_.begin(), all_.end(), *label);
      CHECK(place != all_.end(), "an EinSum lists every label it uses");
      auto& coefficient = number.coefficients[static_cast<std::size_t>(place - all_.begin())];
      coefficient = static_cast<std::int64_t>(static_cast<std::uint64_t>(coefficient) + stride);
      stride *= static_cast<std::uint64_t>(table_.extent(*label));
    }
    return number;
  }

  // when, then, when, then, ..., else from `begin` on.
  std::size_t compile_case(const ScalarExpression& e, std::size_t begin) {
    const auto& a = e.arguments();
    if (begin + 1 == a.size()) return compile(*a[begin]);
    const auto when = compile(*a[begin]);
    const auto then = compile(*a[begin + 1]);
    const auto otherwise = compile_case(e, begin + 2);
    return emit({.kind = Kind::Select, .op = ScalarOp::Case, .arguments = {when, then, otherwise}});
  }

  bool expands(const ScalarExpression& exponent) const {
    if (exponent.kind() != ScalarExpression::Kind::Integer || exponent.integer_value() < 0) return false;
    return compute_ == DType::Int64 || exponent.integer_value() <= kLargestExpandedPower;
  }

  // Binary powers: x^6 = (x^2) * (x^2)^2.
  std::size_t compile_power(const ScalarExpression& e) {
    auto exponent = e.arguments()[1]->integer_value();
    if (exponent == 0) return emit({.kind = Kind::Integer, .integer = 1});
    auto square = compile(*e.arguments()[0]);
    for (; exponent % 2 == 0; exponent /= 2) square = multiply(square, square);
    auto result = square;
    for (exponent /= 2; exponent != 0; exponent /= 2) {
      square = multiply(square, square);
      if (exponent % 2 != 0) result = multiply(result, square);
    }
    return result;
  }

  std::size_t multiply(std::size_t a, std::size_t b) {
    return emit({.kind = Kind::Binary, .op = ScalarOp::Multiply, .arguments = {a, b}});
  }

  const EinSum& einsum_;
  Labels all_;
  const LabelTable& table_;
  DType compute_;
  std::vector<Instruction> code_;
  std::unordered_map<const ScalarExpression*, std::size_t> compiled_;
};

ExpressionProgram::ExpressionProgram(const EinSum& einsum, const LabelTable& labels, DType compute)
    : instructions_(Compiler(einsum, labels, compute).take()) {}

std::size_t ExpressionProgram::operation_count() const {
  return static_cast<std::size_t>(
      std::count_if(instructions_.begin(), instructions_.end(), [](const auto& i) { return i.argument_count() > 0; }));
}

}  // namespace eindb
