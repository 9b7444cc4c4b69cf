#pragma once

#include <cstdint>

#include "executor/kernels/pair_matrices.hpp"
#include "tensor/pair_form.hpp"

namespace eindb {

/// One call of a pair kernel on bits, 64 elements at a time. Refers to its arguments.
class TruthRun {
 public:
  /// `matrices` do not convert operands.
  TruthRun(const LevelTable& level, DType compute, PairFunction function, Aggregate aggregate,
           const PairMatrices& matrices);

  void run(const LabelView& a, const LabelView& b, const MutableLabelView& c, bool first) const;

  /// The most bytes of the bits.
  std::int64_t panel_bytes() const;

 private:
  void multiply(const PairMatrix& a, const PairMatrix& b, const PairMatrix& c, std::int64_t batch,
                std::uint64_t* left_bits, std::uint64_t* right_bits, bool first) const;
  void blocks(const std::uint64_t* left, const std::uint64_t* right, MatrixView c, std::int64_t rows,
              std::int64_t columns, std::int64_t depth, bool first) const;
  std::int64_t words_of_left() const;
  std::int64_t words_of_right() const;

  const LevelTable& level_;
  const ElementTable& table_;  ///< of the result's type
  bool inverts_;               ///< by De Morgan's laws, OR is computed of the opposites
  Aggregate aggregate_;
  const PairMatrices& matrices_;
  std::int64_t element_;  ///< bytes, of the result
};

}  // namespace eindb
