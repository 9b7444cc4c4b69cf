#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/label.hpp"

namespace eindb {

/// Scalar functions. Comparisons and logic give 1 or 0; an argument counts as true if it is not zero.
// clang-format off
enum class ScalarOp : std::uint8_t {
  // Two or more arguments.
  Add, Multiply,
  // Two. Modulo has the divisor's sign, and is 0 for an INT64 divisor of 0.
  Subtract, Divide, Modulo, Power,
  // One. Round ties to even.
  Negate, Not, Abs, Sign, Sqrt, Exp, Log, Log2, Log1p, Expm1, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh,
  Erf, Sigmoid, Relu, Floor, Ceil, Round, Real, Imag, Conj,
  // Two.
  Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Or, Atan2,
  // Two: COMPLEX(real part, imaginary part).
  MakeComplex,
  // Two or more; NaN wins.
  Least, Greatest,
  // when, then, when, then, ..., else
  Case,
  // One: the value in another element type.
  ToFloat32, ToFloat64, ToComplex64, ToComplex128, ToInt64,
};
// clang-format on
inline constexpr ScalarOp kLastScalarOp = ScalarOp::ToInt64;

/// What is known of an operation, one row per ScalarOp.
struct ScalarOpInfo {
  ScalarOp op;
  std::string_view name;  ///< as written: "+" or "EXP"
  int min_arguments;
  int max_arguments;  ///< -1: any number
  bool infix;
  bool floating;  ///< INT64 arguments become FLOAT64
  bool ordered;   ///< needs an order: complex arguments are an error
};
const ScalarOpInfo& info_of(ScalarOp op);
/// Whether every value is 1 or 0: comparisons and logic.
bool gives_boolean(ScalarOp op);
/// The conversion to a type, and back: nullopt for any other operation.
ScalarOp conversion_to(DType type);
std::optional<DType> converts_to(ScalarOp op);
/// Finds a function (not an infix operator) by name, case-insensitively. POW is Power.
std::optional<ScalarOp> find_scalar_function(std::string_view name);
/// Names of all functions, for completion and for suggestions.
std::vector<std::string_view> scalar_function_names();

class ScalarExpression;
using ScalarPtr = std::shared_ptr<const ScalarExpression>;

/// A function of the operands of an EinSum (one value of each per cell), of label values and of constants.
/// Immutable and shared; depth is bounded by the parser. Thread-safe.
///
/// Constants, label values, random numbers and parameters may have a type. Those without one adapt to what they meet:
/// expressions are written so, and tensor/scalar_types gives every one its type before anything is computed.
class ScalarExpression {
 public:
  enum class Kind : std::uint8_t {
    Integer,     ///< a constant without fraction
    Real,        ///< any other constant
    Operand,     ///< value of operand number operand()
    LabelIndex,  ///< index of label() in the cell, from 0
    Uniform,     ///< RANDOM(seed): in [0, 1), a function of seed() and the cell's row-major number over cell()
    Normal,      ///< RANDN(seed): standard normal, likewise
    Parameter,   ///< number parameter() of a prepared statement, a constant whose value comes when the plan runs
    Call,        ///< op() of arguments()
  };

  static ScalarPtr integer(std::int64_t value);
  static ScalarPtr real(double value);
  static ScalarPtr operand(std::size_t number);
  /// An operand whose values adapt as those of an expression that is a number (Float64) or a whole number (Int64).
  static ScalarPtr adapting_operand(std::size_t number, DType kind);
  static ScalarPtr label_index(Label label);
  /// `type` is Int64 for an integer and Float64 for any other number.
  static ScalarPtr parameter(std::size_t number, DType type);
  static ScalarPtr random(Kind uniform_or_normal, std::uint64_t seed, Labels cell);
  /// A constant, label value, random number or parameter in another type, or in none.
  static ScalarPtr with_type(const ScalarPtr& leaf, std::optional<DType> type);
  /// Nested Add in Add and Multiply in Multiply (first argument) are flattened. Argument counts are CHECKed.
  static ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments);

  Kind kind() const { return kind_; }
  std::int64_t integer_value() const { return integer_; }
  double real_value() const { return kind_ == Kind::Integer ? static_cast<double>(integer_) : real_; }
  bool is_constant() const { return kind_ == Kind::Integer || kind_ == Kind::Real; }
  std::size_t operand() const { return operand_; }
  std::size_t parameter() const { return operand_; }
  DType parameter_type() const { return integer_ != 0 ? DType::Int64 : DType::Float64; }
  /// Of a leaf that is no operand: the type that it has; nullopt if it adapts. Of an adapting operand: its kind.
  std::optional<DType> type() const { return type_; }
  Label label() const { return label_; }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(integer_); }
  const Labels& cell() const { return cell_; }
  ScalarOp op() const { return op_; }
  const std::vector<ScalarPtr>& arguments() const { return arguments_; }
  bool is_call(ScalarOp op) const { return kind_ == Kind::Call && op_ == op; }

 private:
  Kind kind_ = Kind::Integer;
  ScalarOp op_ = ScalarOp::Add;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::size_t operand_ = 0;
  std::optional<DType> type_ = {};
  Label label_;
  Labels cell_;
  std::vector<ScalarPtr> arguments_;
};

/// Same structure, constants, operands and types.
bool equal(const ScalarExpression& a, const ScalarExpression& b);
std::size_t hash_of(const ScalarExpression& e);

/// Distinct operand numbers, ascending.
std::vector<std::size_t> operands_of(const ScalarExpression& e);
/// Distinct labels that the value depends on directly (LabelIndex, Uniform, Normal), not through operands.
Labels index_labels_of(const ScalarExpression& e);
/// Replaces each operand leaf by what `replace` gives for its number.
ScalarPtr substitute_operands(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace);

/// Replaces each parameter by what `replace` gives for its number; `e` itself if it has none.
ScalarPtr substitute_parameters(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace);

/// The kind of a generator by name, in any case: RANDOM is Uniform, RANDN is Normal; nullopt for anything else.
std::optional<ScalarExpression::Kind> find_generator(std::string_view name);

/// Text in the language; operands and labels are named by the callbacks.
std::string to_string(const ScalarExpression& e, const std::function<std::string(std::size_t)>& operand_text,
                      const LabelTable& labels);

}  // namespace eindb
