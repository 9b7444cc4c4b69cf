#pragma once

#include "executor/kernels/matrix_ref.hpp"

namespace eindb {

/// The columns that are factorised at a time, and are one block reflector.
inline constexpr std::int64_t kReflectorColumns = 64;

/// A product of Householder reflections H(0) H(1) ... in compact WY form (Schreiber and Van Loan, 1989): I - v t v^T.
/// v has a reflection in each column, with zeros above a one, and t is upper triangular, with zeros below.
struct BlockReflector {
  MatrixRef v;
  MatrixRef t;
};

/// Fills in t from v and from t's diagonal, the factors tau. `gram` is room for t's size.
void complete(const LevelTable& level, const BlockReflector& reflector, const MatrixRef& gram);

/// c = (I - v t v^T) c, or its transpose times c. `room` is for twice kReflectorColumns * c.columns elements.
void apply(const LevelTable& level, const BlockReflector& reflector, bool transposed, const MatrixRef& c, double* room);

/// apply() on columns of c by parts that several threads take, with room of their own. Each part has at most so many
/// columns.
inline constexpr std::int64_t kAppliedColumns = 128;
void apply_in_parts(const LevelTable& level, const BlockReflector& reflector, bool transposed, const MatrixRef& c);

}  // namespace eindb
