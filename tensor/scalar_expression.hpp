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

/// Scalar functions. Comparisons and logic return 1 or 0; an argument is true if it is not zero.
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
  // Two INT64: of their bits. A shift to the right keeps the sign; one by a negative number goes the other way.
  BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight,
  // One INT64.
  BitNot,
  // when, then, when, then, ..., else
  Case,
  // One: the value in another element type.
  ToFloat32, ToFloat64, ToComplex64, ToComplex128, ToInt64,
};
// clang-format on
inline constexpr ScalarOp kLastScalarOp = ScalarOp::ToInt64;

/// The properties of an operation, one row per ScalarOp.
struct ScalarOpInfo {
  ScalarOp op;
  std::string_view name;  ///< as written: "+" or "EXP"
  int min_arguments;
  int max_arguments;  ///< -1: any number
  bool infix;
  bool floating;  ///< INT64 arguments become FLOAT64
  bool ordered;   ///< needs an order, so complex arguments are an error
};
const ScalarOpInfo& info_of(ScalarOp op);
/// Whether all its values are 1 or 0, as for comparisons and logic.
bool gives_boolean(ScalarOp op);
/// Whether it works on the bits of whole numbers, so that arguments and value are INT64.
bool works_on_bits(ScalarOp op);
/// The conversion to a type, and the inverse; nullopt for other operations.
ScalarOp conversion_to(DType type);
std::optional<DType> converts_to(ScalarOp op);
/// Finds a function (not an infix operator) by name, case-insensitively. POW is Power.
std::optional<ScalarOp> find_scalar_function(std::string_view name);
/// Names of all functions, for completion and for suggestions.
std::vector<std::string_view> scalar_function_names();

class ScalarExpression;
using ScalarPtr = std::shared_ptr<const ScalarExpression>;

/// A function of the operands of an EinSum (one value of each per cell), of label values and of constants. Immutable
/// and shared; the parser bounds its depth. Thread-safe.
///
/// Constants, label values, random numbers and parameters may have a type. Without one they adapt to their context:
/// expressions are built this way, and tensor/scalar_types assigns all types before anything is computed.
class ScalarExpression {
 public:
  enum class Kind : std::uint8_t {
    Integer,     ///< a constant without fraction
    Real,        ///< any other constant
    Operand,     ///< value of operand number operand()
    LabelIndex,  ///< index of label() in the cell, from 0
    Uniform,     ///< RANDOM(seed): in [0, 1), a function of seed() and the cell's row-major number over cell()
    Normal,      ///< RANDN(seed): standard normal, otherwise like Uniform
    Parameter,   ///< number parameter() of a prepared statement: a constant whose value is known when the plan runs
    Call,        ///< op() of arguments()
  };

  static ScalarPtr integer(std::int64_t value);
  static ScalarPtr real(double value);
  static ScalarPtr operand(std::size_t number);
  /// An operand whose values adapt like those of an expression of numbers (Float64) or whole numbers (Int64).
  static ScalarPtr adapting_operand(std::size_t number, DType kind);
  /// An operand of stored integers of at most 16 bits: its values adapt to those of tensors that they meet, and are
  /// INT64 where they meet none.
  static ScalarPtr small_integer_operand(std::size_t number);
  static ScalarPtr label_index(Label label);
  /// `type` is Int64 for an integer and Float64 for any other number.
  static ScalarPtr parameter(std::size_t number, DType type);
  static ScalarPtr random(Kind uniform_or_normal, std::uint64_t seed, Labels cell);
  /// A constant, label value, random number or parameter with another type, or without one.
  static ScalarPtr with_type(const ScalarPtr& leaf, std::optional<DType> type);
  /// Flattens Add nested in Add and Multiply nested in Multiply (as first argument). Argument counts are CHECKed.
  static ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments);

  Kind kind() const { return kind_; }
  std::int64_t integer_value() const { return integer_; }
  double real_value() const { return kind_ == Kind::Integer ? static_cast<double>(integer_) : real_; }
  bool is_constant() const { return kind_ == Kind::Integer || kind_ == Kind::Real; }
  std::size_t operand() const { return operand_; }
  std::size_t parameter() const { return operand_; }
  DType parameter_type() const { return integer_ != 0 ? DType::Int64 : DType::Float64; }
  /// The type of a leaf other than an operand; nullopt if it adapts. For an adapting operand, its kind.
  std::optional<DType> type() const { return type_; }
  bool is_small_integer_operand() const { return small_integer_; }
  Label label() const { return label_; }
  std::uint64_t seed() const { return static_cast<std::uint64_t>(integer_); }
  const Labels& cell() const { return cell_; }
  ScalarOp op() const { return op_; }
  const std::vector<ScalarPtr>& arguments() const { return arguments_; }
  bool is_call(ScalarOp op) const { return kind_ == Kind::Call && op_ == op; }

 private:
  Kind kind_ = Kind::Integer;
  ScalarOp op_ = ScalarOp::Add;
  bool small_integer_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::size_t operand_ = 0;
  std::optional<DType> type_ = {};
  Label label_;
  Labels cell_;
  std::vector<ScalarPtr> arguments_;
};

/// Whether all values of an expression are 1 or 0.
bool gives_boolean(const ScalarExpression& e);
/// Whether structure, constants, operands and types are equal.
bool equal(const ScalarExpression& a, const ScalarExpression& b);
std::size_t hash_of(const ScalarExpression& e);

/// Distinct operand numbers, ascending.
std::vector<std::size_t> operands_of(const ScalarExpression& e);
/// Distinct labels that the value depends on directly (LabelIndex, Uniform, Normal) rather than through operands.
Labels index_labels_of(const ScalarExpression& e);
/// Replaces each operand leaf by the result of `replace` for its number.
ScalarPtr substitute_operands(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace);

/// Replaces each parameter by the result of `replace` for its number; returns `e` itself if it has none.
ScalarPtr substitute_parameters(const ScalarPtr& e, const std::function<ScalarPtr(std::size_t)>& replace);

/// The generator of that name, ignoring case: RANDOM is Uniform, RANDN is Normal; nullopt for other names.
std::optional<ScalarExpression::Kind> find_generator(std::string_view name);

/// The expression in the language's syntax; the callbacks name operands and labels.
std::string to_string(const ScalarExpression& e, const std::function<std::string(std::size_t)>& operand_text,
                      const LabelTable& labels);

}  // namespace eindb
