#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/einsum.hpp"

namespace eindb {

/// A number that is an affine function of the labels' global indices: the sum of index * coefficient. A label's value
/// has one coefficient of 1; the row-major number of a cell has the strides of the whole tensor. Modulo 2^64.
struct AffineNumber {
  std::vector<std::int64_t> coefficients;  ///< in the order of EinSum::labels()

  friend bool operator==(const AffineNumber&, const AffineNumber&) = default;
};

/// One step of a program: writes the register of its own number from registers of lower numbers.
struct Instruction {
  enum class Kind : std::uint8_t {
    Operand,  ///< element of input `operand`
    Integer,  ///< constant `integer`
    Real,     ///< constant `real`
    Number,   ///< value of `number`
    Uniform,  ///< random_uniform(seed, value of `number`)
    Normal,   ///< random_normal(seed, value of `number`)
    Convert,  ///< arguments[0], which has another type
    Unary,    ///< op(arguments[0])
    Binary,   ///< op(arguments[0], arguments[1])
    Select,   ///< arguments[0] != 0 ? arguments[1] : arguments[2]
  };
  Kind kind = Kind::Integer;
  DType type = DType::Float64;  ///< of the register; arguments have it too, but for that of Convert
  ScalarOp op = ScalarOp::Add;
  std::size_t operand = 0;
  std::int64_t integer = 0;  ///< the constant, or the seed
  double real = 0;
  AffineNumber number{};
  std::array<std::size_t, 3> arguments{};

  std::size_t argument_count() const;
  bool reads_number() const { return kind == Kind::Number || kind == Kind::Uniform || kind == Kind::Normal; }
};

/// A scalar expression as straight-line code over registers: each distinct subexpression is computed once, sums and
/// products of many are folded from the left, CASE becomes selections, and powers with small constant exponents
/// become multiplications (in INT64 all constant exponents, so that nothing else is needed for exact results). Elements
/// that are wanted in another type than they are stored in are converted when they are fetched.
///
/// Example: (X - Y)^2 gives r0 = X, r1 = Y, r2 = r0 - r1, r3 = r2 * r2. The last register is the result.
class ExpressionProgram {
 public:
  /// The EinSum's expression has its types written down (tensor/scalar_types), for operands of these types.
  ExpressionProgram(const EinSum& einsum, const LabelTable& labels, const std::vector<DType>& operand_types);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// Instructions that compute, rather than fetch.
  std::size_t operation_count() const;
  /// Bytes of the largest element of a register.
  std::size_t largest_element() const;

 private:
  class Compiler;
  std::vector<Instruction> instructions_;
};

}  // namespace eindb
