#include "derivatives/block_rule.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "derivatives/block_draft.hpp"
#include "derivatives/factorisation_rule.hpp"
#include "derivatives/vector_rule.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

using algebra::choose;
using algebra::number;
using algebra::over;
using algebra::plus;

class MatrixRule : BlockDraft {
 public:
  MatrixRule(EinGraph& graph, VertexId id, const std::string& name) : BlockDraft(graph, id, name) {}

  std::optional<Derivative> pull_back(std::size_t n, const Derivative& cotangent) {
    const auto g = materialize(graph_, next_name(), vertex_.einsum.output, cotangent, type_);
    switch (vertex_.einsum.block->op) {
      case BlockOp::Inverse: return inverse_back(g);
      case BlockOp::Solve: return solve_back(n, g);
      case BlockOp::Determinant:
      case BlockOp::LogDeterminant: return determinant_back(g);
      case BlockOp::Cholesky: return cholesky_back(g);
      case BlockOp::Exponential: return exponential_back(g);
      default: break;
    }
    CHECK(false, "functions without a derivative were refused");
  }

  std::optional<Derivative> push_forward(const Tangents& tangents) {
    switch (vertex_.einsum.block->op) {
      case BlockOp::Inverse: return inverse_forward(tangents);
      case BlockOp::Solve: return solve_forward(tangents);
      case BlockOp::Determinant:
      case BlockOp::LogDeterminant: return determinant_forward(tangents);
      case BlockOp::Cholesky: return cholesky_forward(tangents);
      case BlockOp::Exponential: return exponential_forward(tangents);
      default: break;
    }
    CHECK(false, "functions without a derivative were refused");
  }

 private:
  // B = A^-1: dA = -B^T dB B^T, and dB = -B dA B.
  std::optional<Derivative> inverse_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto p = fresh(c);
    const auto q = fresh(r);
    return contracted(name_, vertex_.einsum.inputs[0], {result({p, r}), {g, result_labels({p, q})}, result({c, q})},
                      -1);
  }
  std::optional<Derivative> inverse_forward(const Tangents& tangents) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto t = tangent_of(0, tangents);
    const auto& pq = result_core_;
    return contracted(name_, vertex_.einsum.output, {result({pq[0], r}), t, result({c, pq[1]})}, -1);
  }

  // x = A^-1 y: dy = A^-T dx and dA = -dy x^T; dx = A^-1 (dy - dA x).
  std::optional<Derivative> solve_back(std::size_t n, VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const bool wide = result_core_.size() > 1;
    Labels right;
    if (wide) right.push_back(result_core_[1]);
    auto of_x = with_batch({c});
    auto of_w = with_batch({r});
    for (const auto label : right) {
      of_x.push_back(label);
      of_w.push_back(label);
    }
    Labels core_of_x{c};
    append_distinct(core_of_x, right);
    const auto dx = contraction(of_x, {{g, result_labels(core_of_x)}});
    const auto transposed = contraction(with_batch({c, r}), {operand({r, c})});
    const auto w = block(BlockOp::Solve, of_w, {transposed, dx}, {2, wide ? 2U : 1U});
    if (n == 0) return contracted(name_, vertex_.einsum.inputs[0], {w, {id_, result_labels(core_of_x)}}, -1);
    auto core_of_y = core_of(vertex_.einsum, 1);
    Labels now{r};
    append_distinct(now, right);
    // A right side for all matrices gets the sum of theirs.
    return contracted(name_, vertex_.einsum.inputs[1], {{w.vertex, replaced(w.labels, now, core_of_y)}});
  }
  std::optional<Derivative> solve_forward(const Tangents& tangents) {
    const auto r = core_[0];
    const auto c = core_[1];
    const bool wide = result_core_.size() > 1;
    Labels of_y = with_batch({r});
    Labels core_of_x{c};
    Labels now{r};
    if (wide) {
      of_y.push_back(result_core_[1]);
      core_of_x.push_back(result_core_[1]);
      now.push_back(result_core_[1]);
    }
    std::vector<LabelledVertex> terms;
    if (tangents[1]) {
      const auto t = tangent_of(1, tangents);
      terms.push_back({t.vertex, replaced(t.labels, core_of(vertex_.einsum, 1), now)});
    }
    if (tangents[0]) {
      terms.push_back(contraction(of_y, {tangent_of(0, tangents), {id_, result_labels(core_of_x)}}, -1));
    }
    if (terms.empty()) return std::nullopt;
    const auto right = mapped(of_y, terms, [](const std::vector<ScalarPtr>& read) {
      return read.size() == 1 ? read[0] : plus(read[0], read[1]);
    });
    const auto solved = block(BlockOp::Solve, vertex_.einsum.output, {in_order(), right}, {2, wide ? 2U : 1U});
    return Derivative{.vertex = solved.vertex};
  }
  // d = |A|: dA = d A^-T dd; of its logarithm A^-T dd.
  LabelledVertex inverse_of_operand(Label p, Label q) {
    return block(BlockOp::Inverse, with_batch({p, q}), {in_order()}, {2});
  }
  std::optional<Derivative> determinant_back(VertexId g) {
    std::vector<LabelledVertex> factors{inverse_of_operand(core_[1], core_[0]), {g, vertex_.einsum.output}};
    if (vertex_.einsum.block->op == BlockOp::Determinant) factors.push_back({id_, vertex_.einsum.output});
    return contracted(name_, vertex_.einsum.inputs[0], factors);
  }
  std::optional<Derivative> determinant_forward(const Tangents& tangents) {
    const auto t = tangent_of(0, tangents);
    std::vector<LabelledVertex> factors{inverse_of_operand(core_[1], core_[0]), t};
    if (vertex_.einsum.block->op == BlockOp::Determinant) factors.push_back({id_, vertex_.einsum.output});
    return contracted(name_, vertex_.einsum.output, factors);
  }

  // The lower triangle, with half of the diagonal.
  static ScalarPtr lower_half(Label row, Label column, const ScalarPtr& value) {
    return choose(compared(ScalarOp::Greater, row, column), value,
                  choose(compared(ScalarOp::Equal, row, column), over(value, number(2)), nullptr));
  }
  // A = L L^T: with P = lower_half(L^T dL) the symmetric derivative is L^-T P L^-1; dL = L lower_half(L^-1 dA L^-T).
  std::optional<Derivative> cholesky_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto i = fresh(r);
    const auto a = fresh(r);
    const auto b = fresh(r);
    const auto product = contraction(with_batch({a, b}), {result({i, a}), {g, result_labels({i, b})}});
    const auto half = mapped(with_batch({a, b}), {product},
                             [&](const std::vector<ScalarPtr>& read) { return lower_half(a, b, read[0]); });
    const auto inverse = inverse_of_result(a, r);
    const auto other = LabelledVertex{inverse.vertex, with_batch({b, c})};
    return lower_triangle(contraction(with_batch({r, c}), {inverse, half, other}));
  }
  std::optional<Derivative> cholesky_forward(const Tangents& tangents) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto a = fresh(r);
    const auto b = fresh(r);
    const auto t = tangent_of(0, tangents);
    const auto moved = symmetric(t);
    const auto inverse = inverse_of_result(a, r);
    const auto other = LabelledVertex{inverse.vertex, with_batch({b, c})};
    const auto product = contraction(with_batch({a, b}), {inverse, moved, other});
    const auto half = mapped(with_batch({a, b}), {product},
                             [&](const std::vector<ScalarPtr>& read) { return lower_half(a, b, read[0]); });
    return contracted(name_, vertex_.einsum.output,
                      {result({result_core_[0], a}), {half.vertex, with_batch({a, result_core_[1]})}});
  }
  // The inverse of the result, a square matrix, over the labels p and q.
  LabelledVertex inverse_of_result(Label p, Label q) {
    const auto last = contraction(with_batch(result_core_), {result(result_core_)});
    return block(BlockOp::Inverse, with_batch({p, q}), {last}, {2});
  }

  // exp of the matrix [A, E; 0, A] has the derivative of exp(A) along E beside exp(A) (N. Higham, Functions of
  // Matrices, 2008, section 3.2).
  LabelledVertex exponential_along(const LabelledVertex& a, const LabelledVertex& e, Label row, Label column) {
    const auto n = extent(row);
    const auto twice = [&](Label like) { return graph_.labels().add(graph_.labels().name(like), 2 * n); };
    const auto p = twice(row);
    const auto q = twice(column);
    const auto placed = [&](const LabelledVertex& factor, std::int64_t down, std::int64_t right) {
      return shifted(shifted(factor, row, p, -down), column, q, -right);
    };
    const auto whole = with_batch({p, q});
    const auto both = sum_of(whole, sum_of(whole, placed(a, 0, 0), placed(a, n, n)), placed(e, 0, n));
    const auto x = twice(row);
    const auto y = twice(column);
    const auto exponential = block(BlockOp::Exponential, with_batch({x, y}), {both}, {2});
    return shifted(shifted(exponential, x, row, 0), y, column, n);
  }
  std::optional<Derivative> exponential_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto transposed = contraction(with_batch({r, c}), {operand({c, r})});
    const auto along = exponential_along(transposed, {g, result_labels({r, c})}, r, c);
    return contracted(name_, vertex_.einsum.inputs[0], {along});
  }
  std::optional<Derivative> exponential_forward(const Tangents& tangents) {
    const auto along = exponential_along(in_order(), tangent_of(0, tangents), core_[0], core_[1]);
    return contracted(name_, vertex_.einsum.output, {{along.vertex, replaced(along.labels, core_, result_core_)}});
  }
};

bool is_by_factors(BlockOp op) {
  return op == BlockOp::Qr || op == BlockOp::Svd || op == BlockOp::Eigh || op == BlockOp::PseudoInverse ||
         op == BlockOp::LeastSquares;
}

}  // namespace

void require_block_derivative(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  const bool complex = is_complex(vertex.compute_dtype);
  const auto of_reals = [&](const char* function) {
    if (complex) refuse_block(graph, vertex, std::string(function) + " of complex matrices", "it is not holomorphic");
  };
  switch (vertex.einsum.block->op) {
    case BlockOp::Order: refuse_block(graph, vertex, "ARGSORT", "it gives indices, which change in steps");
    case BlockOp::Distinct: refuse_block(graph, vertex, "COUNT_DISTINCT", "it counts values");
    case BlockOp::UniqueOrder:
    case BlockOp::UniqueCount:
    case BlockOp::UniqueNumber:
      refuse_block(graph, vertex, "UNIQUE", "it counts and numbers values, which changes in steps");
    case BlockOp::Mode: refuse_block(graph, vertex, "MODE", "another value may be taken all at once");
    case BlockOp::PseudoInverse: return of_reals("PINV");
    case BlockOp::LeastSquares: return of_reals("LSTSQ");
    case BlockOp::Svd: return of_reals("SVD");
    case BlockOp::LogDeterminant: return of_reals("LOGDET");
    case BlockOp::Cholesky: return of_reals("CHOLESKY");
    case BlockOp::Eigh: return of_reals("EIGH");
    case BlockOp::Qr: of_reals("QR"); return require_factors_derivative(graph, id);
    case BlockOp::Exponential:
    case BlockOp::Quantile:
    case BlockOp::SumRecurrence:
    case BlockOp::MaxRecurrence:
    case BlockOp::MinRecurrence:
    case BlockOp::LogSumExpRecurrence:
    case BlockOp::UserRecurrence:
    case BlockOp::Fourier:
    case BlockOp::InverseFourier:
    case BlockOp::Inverse:
    case BlockOp::Determinant:
    case BlockOp::Solve: return;
  }
}

std::optional<Derivative> pull_back_block(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                          const std::string& name) {
  const auto op = graph.vertex(id).einsum.block->op;
  if (!is_of_matrices(op)) return pull_back_vector(graph, id, n, cotangent, name);
  if (is_by_factors(op)) return pull_back_factors(graph, id, n, cotangent, name);
  return MatrixRule(graph, id, name).pull_back(n, cotangent);
}

std::optional<Derivative> push_forward_block(EinGraph& graph, VertexId id,
                                             const std::vector<std::optional<Derivative>>& tangents,
                                             const std::string& name) {
  if (std::none_of(tangents.begin(), tangents.end(), [](const auto& tangent) { return tangent.has_value(); }))
    return std::nullopt;
  const auto op = graph.vertex(id).einsum.block->op;
  if (!is_of_matrices(op)) return push_forward_vector(graph, id, tangents, name);
  if (is_by_factors(op)) return push_forward_factors(graph, id, tangents, name);
  return MatrixRule(graph, id, name).push_forward(tangents);
}

}  // namespace eindb
