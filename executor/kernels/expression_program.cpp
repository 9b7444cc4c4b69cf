#include "executor/kernels/expression_program.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "common/check.hpp"
#include "common/poll_steps.hpp"

namespace eindb {
namespace {

using Kind = Instruction::Kind;

// Beyond this exponent, rounding errors of repeated multiplication exceed those of pow.
constexpr std::int64_t kLargestExpandedPower = 32;

// Merges instructions with equal results.
struct SameInstruction {
  bool operator()(const Instruction& a, const Instruction& b) const {
    return a.kind == b.kind && a.type == b.type && a.op == b.op && a.operand == b.operand && a.integer == b.integer &&
           std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real) && a.number == b.number &&
           a.arguments == b.arguments;
  }
};

struct InstructionHash {
  std::size_t operator()(const Instruction& i) const {
    std::size_t hash = static_cast<std::size_t>(i.kind) * 64 + static_cast<std::size_t>(i.op);
    const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29U); };
    mix(static_cast<std::uint64_t>(i.type));
    mix(i.operand);
    mix(static_cast<std::uint64_t>(i.integer));
    mix(std::bit_cast<std::uint64_t>(i.real));
    for (const auto coefficient : i.number.coefficients) mix(static_cast<std::uint64_t>(coefficient));
    for (const auto argument : i.arguments) mix(argument);
    return hash;
  }
};

}  // namespace

std::size_t Instruction::argument_count() const {
  switch (kind) {
    case Kind::Convert:
    case Kind::Unary: return 1;
    case Kind::Binary: return 2;
    case Kind::Select: return 3;
    default: return 0;
  }
}

class ExpressionProgram::Compiler {
 public:
  Compiler(const EinSum& einsum, const LabelTable& labels, const std::vector<DType>& operand_types)
      : einsum_(einsum), all_(einsum.labels()), table_(labels), operand_types_(operand_types) {}

  std::vector<Instruction> take() {
    const auto result = compile(*einsum_.expression);
    // Everything is compiled for the result, and no proper part of it equals it.
    CHECK(result + 1 == code_.size(), "the result of a program is its last register");
    return std::move(code_);
  }

 private:
  std::size_t emit(Instruction instruction) {
    for (std::size_t a = 0; a < instruction.argument_count(); ++a)
      CHECK(instruction.arguments[a] < code_.size(), "a register is computed from those before it");
    poll_cancellation_after(1 + instruction.number.coefficients.size());
    const auto [known, is_new] = register_of_.try_emplace(instruction, code_.size());
    if (is_new) code_.push_back(std::move(instruction));
    return known->second;
  }

  // Expressions share nodes, so each is compiled once, however often it occurs.
  std::size_t compile(const ScalarExpression& e) {
    if (const auto known = compiled_.find(&e); known != compiled_.end()) return known->second;
    const auto result = compile_node(e);
    compiled_.emplace(&e, result);
    return result;
  }

  std::size_t compile_node(const ScalarExpression& e) {
    using Node = ScalarExpression::Kind;
    switch (e.kind()) {
      case Node::Integer: return constant(e.integer_value(), e.type().value());
      case Node::Real: return emit({.kind = Kind::Real, .type = e.type().value(), .real = e.real_value()});
      case Node::Operand:
        CHECK(e.operand() < operand_types_.size(), "an expression reads inputs of its EinSum");
        return fetch(e, operand_types_[e.operand()]);
      case Node::LabelIndex:
        return emit({.kind = Kind::Number, .type = e.type().value(), .number = row_major({e.label()})});
      case Node::Uniform: return random(Kind::Uniform, e);
      case Node::Normal: return random(Kind::Normal, e);
      case Node::Parameter: CHECK(false, "parameters have their values when a plan runs");
      case Node::Call: break;
    }
    if (const auto type = converts_to(e.op())) return compile_conversion(*e.arguments()[0], *type);
    if (e.op() == ScalarOp::Case) return compile_case(e);
    if (e.op() == ScalarOp::MakeComplex) return compile_complex(e);
    if (e.op() == ScalarOp::Power && expands(e)) return compile_power(e);
    auto result = compile(*e.arguments()[0]);
    if (e.arguments().size() == 1) return compile_unary(e.op(), result);
    for (std::size_t a = 1; a < e.arguments().size(); ++a) result = binary(e.op(), result, compile(*e.arguments()[a]));
    return result;
  }

  std::size_t constant(std::int64_t value, DType type) {
    return emit({.kind = Kind::Integer, .type = type, .integer = value});
  }

  std::size_t fetch(const ScalarExpression& operand, DType type) {
    return emit({.kind = Kind::Operand, .type = type, .operand = operand.operand()});
  }

  std::size_t random(Kind kind, const ScalarExpression& e) {
    return emit({.kind = kind,
                 .type = e.type().value(),
                 .integer = static_cast<std::int64_t>(e.seed()),
                 .number = row_major(e.cell())});
  }

  std::size_t converted(std::size_t value, DType type) {
    if (code_[value].type == type) return value;
    return emit({.kind = Kind::Convert, .type = type, .arguments = {value}});
  }

  std::size_t compile_conversion(const ScalarExpression& value, DType type) {
    if (value.kind() == ScalarExpression::Kind::Operand) return fetch(value, type);
    return converted(compile(value), type);
  }

  // Tables give the modulus and the parts of complex numbers as complex numbers.
  std::size_t compile_unary(ScalarOp op, std::size_t argument) {
    const auto type = code_[argument].type;
    const auto result = emit({.kind = Kind::Unary, .type = type, .op = op, .arguments = {argument}});
    const bool is_part = op == ScalarOp::Abs || op == ScalarOp::Real || op == ScalarOp::Imag;
    return is_part ? converted(result, real_of(type)) : result;
  }

  std::size_t compile_complex(const ScalarExpression& e) {
    const auto real = compile(*e.arguments()[0]);
    const auto imaginary = compile(*e.arguments()[1]);
    const auto type = complex_of(code_[real].type);
    return binary(ScalarOp::MakeComplex, converted(real, type), converted(imaginary, type));
  }

  std::size_t binary(ScalarOp op, std::size_t a, std::size_t b) {
    DCHECK(code_[a].type == code_[b].type, "both arguments of an operation have its type");
    return emit({.kind = Kind::Binary, .type = code_[a].type, .op = op, .arguments = {a, b}});
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

  // The arguments are when, then, when, then, ..., else. Selections are built from the last one backwards; each is the
  // else of the one before.
  std::size_t compile_case(const ScalarExpression& e) {
    std::vector<std::size_t> places;
    for (const auto& argument : e.arguments()) places.push_back(compile(*argument));
    auto result = places.back();
    const auto type = code_[result].type;
    for (auto n = places.size() - 1; n >= 2; n -= 2)
      result = emit({.kind = Kind::Select,
                     .type = type,
                     .op = ScalarOp::Case,
                     .arguments = {condition(places[n - 2], type), places[n - 1], result}});
    return result;
  }

  // A nonzero value may become zero in a type with fewer digits, so it is compared in its own type.
  std::size_t condition(std::size_t when, DType type) {
    const auto& known = code_[when];
    if (known.type == type) return when;
    const bool is_truth = known.argument_count() > 0 && known.kind != Kind::Convert && gives_boolean(known.op);
    return converted(is_truth ? when : binary(ScalarOp::NotEqual, when, constant(0, known.type)), type);
  }

  static bool expands(const ScalarExpression& power) {
    const auto& exponent = *power.arguments()[1];
    if (exponent.kind() != ScalarExpression::Kind::Integer || exponent.integer_value() < 0) return false;
    return exponent.type() == DType::Int64 || exponent.integer_value() <= kLargestExpandedPower;
  }

  // Powers by repeated squaring: x^6 = (x^2) * (x^2)^2.
  std::size_t compile_power(const ScalarExpression& e) {
    auto exponent = e.arguments()[1]->integer_value();
    if (exponent == 0) return constant(1, e.arguments()[1]->type().value());
    auto square = compile(*e.arguments()[0]);
    for (; exponent % 2 == 0; exponent /= 2) square = multiply(square, square);
    auto result = square;
    for (exponent /= 2; exponent != 0; exponent /= 2) {
      square = multiply(square, square);
      if (exponent % 2 != 0) result = multiply(result, square);
    }
    return result;
  }

  std::size_t multiply(std::size_t a, std::size_t b) { return binary(ScalarOp::Multiply, a, b); }

  const EinSum& einsum_;
  Labels all_;
  const LabelTable& table_;
  const std::vector<DType>& operand_types_;
  std::vector<Instruction> code_;
  std::unordered_map<Instruction, std::size_t, InstructionHash, SameInstruction> register_of_;
  std::unordered_map<const ScalarExpression*, std::size_t> compiled_;
};

ExpressionProgram::ExpressionProgram(const EinSum& einsum, const LabelTable& labels,
                                     const std::vector<DType>& operand_types)
    : instructions_(Compiler(einsum, labels, operand_types).take()) {}

std::size_t ExpressionProgram::operation_count() const {
  return static_cast<std::size_t>(
      std::count_if(instructions_.begin(), instructions_.end(), [](const auto& i) { return i.argument_count() > 0; }));
}

std::size_t ExpressionProgram::largest_element() const {
  std::size_t largest = 0;
  for (const auto& instruction : instructions_) largest = std::max(largest, size_of(instruction.type));
  return largest;
}

}  // namespace eindb
