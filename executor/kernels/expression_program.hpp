#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tensor/einsum.hpp"

namespace eindb {

/// An affine function of the labels' global indices: the sum of index * coefficient, modulo 2^64. The value of a label
/// has a single coefficient of 1; the row-major number of a cell has the strides of the whole tensor.
struct AffineNumber {
  std::vector<std::int64_t> coefficients;  ///< in the order of EinSum::labels()

  friend bool operator==(const AffineNumber&, const AffineNumber&) = default;
};

/// One step of a program: computes the register of its own number from registers of lower numbers.
struct Instruction {
  enum class Kind : std::uint8_t {
    Operand,  ///< element of input `operand`
    Integer,  ///< constant `integer`
    Real,     ///< constant `real`
    Number,   ///< value of `number`
    Uniform,  ///< random_uniform(seed, value of `number`)
    Normal,   ///< random_normal(seed, value of `number`)
    Convert,  ///< arguments[0] in another type
    Unary,    ///< op(arguments[0])
    Binary,   ///< op(arguments[0], arguments[1])
    Select,   ///< arguments[0] != 0 ? arguments[1] : arguments[2]
  };
  Kind kind = Kind::Integer;
  DType type = DType::Float64;  ///< of the register; arguments have the same type, except for Convert
  ScalarOp op = ScalarOp::Add;
  std::size_t operand = 0;
  std::int64_t integer = 0;  ///< constant or seed
  double real = 0;
  AffineNumber number{};
  std::array<std::size_t, 3> arguments{};

  std::size_t argument_count() const;
  bool reads_number() const { return kind == Kind::Number || kind == Kind::Uniform || kind == Kind::Normal; }
};

/// A scalar expression as straight-line code over registers. Each distinct subexpression is computed once; sums and
/// products of many terms are folded from the left; CASE becomes selections; powers with small constant exponents
/// become multiplications (in INT64 all constant exponents, so that the result is exact). Elements needed in another
/// type than the stored one are converted when they are fetched.
///
/// Example: (X - Y)^2 gives r0 = X, r1 = Y, r2 = r0 - r1, r3 = r2 * r2. The last register is the result.
class ExpressionProgram {
 public:
  /// The EinSum's expression must have explicit types (tensor/scalar_types) for these operand types.
  ExpressionProgram(const EinSum& einsum, const LabelTable& labels, const std::vector<DType>& operand_types);

  const std::vector<Instruction>& instructions() const { return instructions_; }
  /// The number of instructions that compute rather than fetch.
  std::size_t operation_count() const;
  /// The size in bytes of the largest register element.
  std::size_t largest_element() const;

 private:
  class Compiler;
  std::vector<Instruction> instructions_;
};

}  // namespace eindb
