#include "derivatives/factorisation_rule.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "derivatives/block_draft.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

using algebra::choose;
using algebra::minus;
using algebra::number;
using algebra::over;
using algebra::plus;
using algebra::times;

// a / b, and 0 where a is 0: nothing depends on what has no derivative.
ScalarPtr share_of_gap(const ScalarPtr& a, const ScalarPtr& b) {
  return choose(ScalarExpression::call(ScalarOp::Equal, {a, number(0)}), number(0), over(a, b));
}

class FactorisationRule : BlockDraft {
 public:
  FactorisationRule(EinGraph& graph, VertexId id, const std::string& name)
      : BlockDraft(graph, id, name), row_(core_[0]), column_(core_[1]) {}

  std::optional<Derivative> pull_back(std::size_t n, const Derivative& cotangent) {
    const LabelledVertex g{materialize(graph_, next_name(), vertex_.einsum.output, cotangent, type_),
                           vertex_.einsum.output};
    switch (vertex_.einsum.block->op) {
      case BlockOp::Eigh: return eigh_back(g);
      case BlockOp::Qr: return qr_back(g);
      case BlockOp::Svd: return svd_back(g);
      case BlockOp::PseudoInverse:
        return pseudo_inverse_back(result_at({column_, row_}), with_core(g, {column_, row_}));
      case BlockOp::LeastSquares: return least_squares_back(n, g);
      default: break;
    }
    CHECK(false, "a factorisation with a derivative");
  }

  std::optional<Derivative> push_forward(const Tangents& tangents) {
    switch (vertex_.einsum.block->op) {
      case BlockOp::Eigh: return eigh_forward(tangents);
      case BlockOp::Qr: return qr_forward(tangents);
      case BlockOp::Svd: return svd_forward(tangents);
      case BlockOp::PseudoInverse: {
        const auto moved = pseudo_inverse_forward(result_at({column_, row_}), tangent_of(0, tangents));
        return contracted(name_, vertex_.einsum.output, {{moved.vertex, with_batch(result_core_)}});
      }
      case BlockOp::LeastSquares: return least_squares_forward(tangents);
      default: break;
    }
    CHECK(false, "a factorisation with a derivative");
  }

 private:
  // A factor whose labels are those of the result, with others in the place of the core labels.
  LabelledVertex with_core(const LabelledVertex& factor, const Labels& core) const {
    return {factor.vertex, replaced(factor.labels, result_core_, core)};
  }
  // The result with its core labels, so named, last.
  LabelledVertex result_at(const Labels& core) { return contraction(with_batch(core), {result(core)}); }

  // Of factors that are stacked: the rows from `first` on, numbered by `row`, or a single row.
  LabelledVertex rows_of(const LabelledVertex& stacked, std::int64_t first, Label row, Label column) {
    const auto s = result_core_[0];
    return shifted(with_core(stacked, {s, column}), s, row, first);
  }
  LabelledVertex row_of(const LabelledVertex& stacked, std::int64_t index, Label column) {
    return at_index(with_core(stacked, {result_core_[0], column}), result_core_[0], index);
  }
  // The stack of factors, each with the label of its rows and the index of its first; one without such a label is a
  // row.
  struct Part {
    LabelledVertex factor;
    std::optional<Label> row;
    std::int64_t first;
    Label column;
  };
  std::optional<Derivative> stacked(const std::vector<Part>& parts) {
    const auto s = result_core_[0];
    VertexDraft draft(graph_);
    ScalarPtr value;
    for (const auto& [factor, row, first, column] : parts) {
      const auto turned = [&, column = column](const LabelledVertex& f) {
        return LabelledVertex{f.vertex, replaced(f.labels, {column}, {result_core_[1]})};
      };
      if (row) {
        const auto placed = turned(shifted(factor, *row, s, -first));
        value = plus(value, draft.read(placed.vertex, placed.labels));
        continue;
      }
      const auto placed = turned(factor);
      const auto is_there = ScalarExpression::call(ScalarOp::Equal, {index_of(s), ScalarExpression::integer(first)});
      value = plus(value, choose(is_there, draft.read(placed.vertex, placed.labels), nullptr));
    }
    return draft.sum(name_, vertex_.einsum.output, vertex_.einsum.output, value, type_);
  }

  // The diagonal of a matrix over k and l, as a vector over k.
  LabelledVertex diagonal_of(const LabelledVertex& matrix, Label k, Label l) {
    VertexDraft draft(graph_);
    const auto value = draft.read(matrix.vertex, replaced(matrix.labels, {l}, {k}));
    const auto output = difference(matrix.labels, {l});
    return {*draft.sum(next_name(), output, output, value, type_)->vertex, output};
  }
  static LabelledVertex relabelled(const LabelledVertex& factor, const Labels& from, const Labels& to) {
    return {factor.vertex, replaced(factor.labels, from, to)};
  }

  // A = V diag(w) V^T: the symmetric derivative is V (diag(dw) + F * (V^T dV)) V^T with F[k,l] = 1 / (w[l] - w[k]).
  std::optional<Derivative> eigh_back(const LabelledVertex& g) {
    const auto k = fresh(row_);
    const auto l = fresh(row_);
    const auto i = fresh(row_);
    const auto all = result(result_core_);
    const auto w = row_of(all, 0, k);
    const auto v = rows_of(all, 1, i, k);
    const auto dw = row_of(g, 0, k);
    const auto dv = rows_of(g, 1, i, l);
    const auto product = contraction(with_batch({k, l}), {v, dv});
    const auto inner =
        mapped(with_batch({k, l}), {product, dw, relabelled(w, {k}, {l}), w}, [&](const std::vector<ScalarPtr>& read) {
          return choose(compared(ScalarOp::Equal, k, l), read[1], share_of_gap(read[0], minus(read[2], read[3])));
        });
    return lower_triangle(contraction(with_batch({row_, column_}),
                                      {relabelled(v, {i}, {row_}), inner, relabelled(v, {i, k}, {column_, l})}));
  }
  // With P = V^T dA V: dw is its diagonal, and dV = V (F * P).
  std::optional<Derivative> eigh_forward(const Tangents& tangents) {
    const auto k = fresh(row_);
    const auto l = fresh(row_);
    const auto i = fresh(row_);
    const auto all = result(result_core_);
    const auto w = row_of(all, 0, k);
    const auto v = rows_of(all, 1, i, k);
    const auto p = contraction(with_batch({k, l}), {relabelled(v, {i}, {row_}), symmetric(tangent_of(0, tangents)),
                                                    relabelled(v, {i, k}, {column_, l})});
    const auto inner =
        mapped(with_batch({k, l}), {p, relabelled(w, {k}, {l}), w}, [&](const std::vector<ScalarPtr>& read) {
          return choose(compared(ScalarOp::Equal, k, l), nullptr, share_of_gap(read[0], minus(read[1], read[2])));
        });
    const auto dv = contraction(with_batch({i, l}), {v, inner});
    return stacked({{diagonal_of(p, k, l), std::nullopt, 0, k}, {dv, i, 1, l}});
  }

  // Q[r,k], R[k,j] and the inverse of R.
  struct Qr {
    Label k, l, j;
    LabelledVertex q, r;
  };
  Qr qr_factors(const LabelledVertex& all) {
    const auto k = fresh(column_);
    const auto l = fresh(column_);
    const auto j = fresh(column_);
    return {k, l, j, rows_of(all, 0, row_, k), rows_of(all, extent(row_), j, k)};
  }
  // Over the columns of the matrix, and those of Q called l.
  LabelledVertex inverse_of_r(const Qr& qr) {
    const auto upper = contraction(with_batch({qr.l, qr.j}), {relabelled(qr.r, {qr.k}, {qr.l})});
    return block(BlockOp::Inverse, with_batch({column_, qr.l}), {upper}, {2});
  }

  // A = Q R with at least as many rows as columns: dA = (dQ + Q copyltu(M)) R^-T with M = R dR^T - dQ^T Q, where
  // copyltu copies the lower triangle to the upper one.
  std::optional<Derivative> qr_back(const LabelledVertex& g) {
    const auto qr = qr_factors(result(result_core_));
    const auto& [k, l, j, q, r] = qr;
    const auto dq = rows_of(g, 0, row_, k);
    const auto dr = rows_of(g, extent(row_), j, k);
    const auto rr = contraction(with_batch({k, l}), {r, relabelled(dr, {k}, {l})});
    const auto qq = contraction(with_batch({k, l}), {dq, relabelled(q, {k}, {l})});
    const auto difference = sum_of(with_batch({k, l}), rr, qq, -1);
    const auto copied = mapped(with_batch({k, l}), {difference, {difference.vertex, with_batch({l, k})}},
                               [&, k = k, l = l](const std::vector<ScalarPtr>& read) {
                                 return choose(compared(ScalarOp::GreaterEqual, k, l), read[0], read[1]);
                               });
    const auto product = contraction(with_batch({row_, l}), {q, copied});
    const auto sum = sum_of(with_batch({row_, l}), relabelled(dq, {k}, {l}), product);
    return contracted(name_, vertex_.einsum.inputs[0], {sum, inverse_of_r(qr)});
  }
  // With D = dA R^-1, W = Q^T D and T the upper triangle of W + W^T, of whose diagonal half: dQ = D - Q T, dR = T R.
  std::optional<Derivative> qr_forward(const Tangents& tangents) {
    const auto qr = qr_factors(result(result_core_));
    const auto& [k, l, j, q, r] = qr;
    const auto d = contraction(with_batch({row_, l}), {tangent_of(0, tangents), inverse_of_r(qr)});
    const auto w = contraction(with_batch({k, l}), {q, d});
    const auto t = mapped(with_batch({k, l}), {w, {w.vertex, with_batch({l, k})}},
                          [&, k = k, l = l](const std::vector<ScalarPtr>& read) {
                            return choose(compared(ScalarOp::Less, k, l), plus(read[0], read[1]),
                                          choose(compared(ScalarOp::Equal, k, l), read[0], nullptr));
                          });
    const auto dq = sum_of(with_batch({row_, l}), d, contraction(with_batch({row_, l}), {q, t}), -1);
    const auto dr = contraction(with_batch({k, j}), {t, relabelled(r, {k}, {l})});
    return stacked({{dq, row_, 0, l}, {dr, j, extent(row_), k}});
  }

  // U[r,k], s[k] and V[c,k].
  struct Svd {
    Label k, l;
    LabelledVertex u, s, v;
  };
  Svd svd_factors(const LabelledVertex& all) {
    const auto k = fresh(extent(row_) < extent(column_) ? row_ : column_);
    const auto l = fresh(k);
    const auto m = extent(row_);
    return {k, l, rows_of(all, 0, row_, k), row_of(all, m, k), rows_of(all, m + 1, column_, k)};
  }
  // The projection of x, a matrix over `row` and k, onto the complement of the columns of u: x - u (u^T x).
  LabelledVertex rest_of(const LabelledVertex& x, const LabelledVertex& u, Label row, const Svd& svd) {
    const auto inside = contraction(with_batch({svd.l, svd.k}), {relabelled(u, {svd.k}, {svd.l}), x});
    const auto part = contraction(with_batch({row, svd.k}), {relabelled(u, {svd.k}, {svd.l}), inside});
    return sum_of(with_batch({row, svd.k}), x, part, -1);
  }
  LabelledVertex over_values(const LabelledVertex& x, Label row, const Svd& svd) {
    return mapped(with_batch({row, svd.k}), {x, svd.s},
                  [](const std::vector<ScalarPtr>& read) { return share_of_gap(read[0], read[1]); });
  }

  // A = U diag(s) V^T: with F[k,l] = 1 / (s[l]^2 - s[k]^2) and X = U^T dU, Y = V^T dV the derivative is
  // U (diag(ds) + F * ((X - X^T) s[l] + s[k] (Y - Y^T))) V^T, and what lies outside of the columns of U and V.
  std::optional<Derivative> svd_back(const LabelledVertex& g) {
    const auto svd = svd_factors(result(result_core_));
    const auto [k, l, u, s, v] = svd;
    const auto m = extent(row_);
    const auto n = extent(column_);
    const auto du = rows_of(g, 0, row_, k);
    const auto ds = row_of(g, m, k);
    const auto dv = rows_of(g, m + 1, column_, k);
    const auto x = contraction(with_batch({k, l}), {u, relabelled(du, {k}, {l})});
    const auto y = contraction(with_batch({k, l}), {v, relabelled(dv, {k}, {l})});
    const auto inner =
        mapped(with_batch({k, l}),
               {x, {x.vertex, with_batch({l, k})}, y, {y.vertex, with_batch({l, k})}, s, relabelled(s, {k}, {l}), ds},
               [k = k, l = l](const std::vector<ScalarPtr>& read) {
                 const auto& sk = read[4];
                 const auto& sl = read[5];
                 const auto above = plus(times(minus(read[0], read[1]), sl), times(sk, minus(read[2], read[3])));
                 const auto gap = times(minus(sl, sk), plus(sl, sk));
                 return choose(compared(ScalarOp::Equal, k, l), read[6], share_of_gap(above, gap));
               });
    auto left = contraction(with_batch({row_, l}), {u, inner});
    if (m > extent(k)) {
      const auto outside = rest_of(over_values(du, row_, svd), u, row_, svd);
      left = sum_of(with_batch({row_, l}), left, relabelled(outside, {k}, {l}));
    }
    const auto& labels = vertex_.einsum.inputs[0];
    std::vector<Derivative> terms;
    if (n > extent(k)) {
      const auto outside = rest_of(over_values(dv, column_, svd), v, column_, svd);
      terms.push_back(*contracted(next_name(), labels, {u, outside}));
    }
    terms.push_back(*contracted(terms.empty() ? name_ : next_name(), labels, {left, relabelled(v, {k}, {l})}));
    return add_up(graph_, terms, DistinctLabels(labels).labels(), name_, type_);
  }
  // With P = U^T dA V: ds is its diagonal, dU = U (F * (P s[l] + s[k] P^T)) and dV = V (F * (s[k] P + P^T s[l])), and
  // what lies outside of their columns.
  std::optional<Derivative> svd_forward(const Tangents& tangents) {
    const auto svd = svd_factors(result(result_core_));
    const auto [k, l, u, s, v] = svd;
    const auto da = tangent_of(0, tangents);
    const auto av = contraction(with_batch({row_, k}), {da, v});
    const auto ua = contraction(with_batch({column_, k}), {da, u});
    const auto p = contraction(with_batch({k, l}), {u, relabelled(av, {k}, {l})});
    const auto turned = [&, k = k, l = l, s = s](bool of_u) {
      return mapped(with_batch({k, l}), {p, {p.vertex, with_batch({l, k})}, s, relabelled(s, {k}, {l})},
                    [&](const std::vector<ScalarPtr>& read) {
                      const auto& sk = read[2];
                      const auto& sl = read[3];
                      const auto above = plus(times(read[0], of_u ? sl : sk), times(read[1], of_u ? sk : sl));
                      const auto gap = times(minus(sl, sk), plus(sl, sk));
                      return choose(compared(ScalarOp::Equal, k, l), nullptr, share_of_gap(above, gap));
                    });
    };
    const auto part = [&, k = k, l = l](const LabelledVertex& vectors, const LabelledVertex& product, Label row,
                                        bool of_u) {
      auto inside = contraction(with_batch({row, l}), {vectors, turned(of_u)});
      if (extent(row) == extent(k)) return inside;
      const auto outside = rest_of(over_values(product, row, svd), vectors, row, svd);
      return sum_of(with_batch({row, l}), inside, relabelled(outside, {k}, {l}));
    };
    const auto m = extent(row_);
    return stacked({{part(u, av, row_, true), row_, 0, l},
                    {diagonal_of(p, k, l), std::nullopt, m, k},
                    {part(v, ua, column_, false), column_, m + 1, l}});
  }

  // P = A^+: dP = -P dA P + P P^T dA^T (I - A P) + (I - P A) dA^T P^T P. A is read over the rows r and columns c, as is
  // `da`; P and the result are over c and r. The way back is the same map of A^T, whose pseudo-inverse is P^T.
  LabelledVertex pseudo_inverse_change(const LabelledVertex& p, const LabelledVertex& da, Label r, Label c) {
    const auto a = fresh(c);
    const auto y = fresh(c);
    const auto b = fresh(r);
    const auto x = fresh(r);
    const auto at = [&](Label column, Label row) { return relabelled(p, {c, r}, {column, row}); };
    const auto of_a = [&](Label row, Label column) {
      return relabelled(operand({row_, column_}), {r, c}, {row, column});
    };
    const auto of_da = [&](Label row, Label column) { return relabelled(da, {r, c}, {row, column}); };
    const auto whole = with_batch({c, r});
    auto sum = contraction(whole, {at(c, b), of_da(b, a), at(a, r)}, -1);
    const auto rows = contraction(whole, {at(c, b), at(a, b), of_da(r, a)});
    sum = sum_of(whole, sum, rows);
    sum = sum_of(whole, sum, contraction(whole, {relabelled(rows, {r}, {x}), of_a(x, y), at(y, r)}), -1);
    const auto columns = contraction(whole, {of_da(b, c), at(a, b), at(a, r)});
    sum = sum_of(whole, sum, columns);
    return sum_of(whole, sum, contraction(whole, {at(c, x), of_a(x, y), relabelled(columns, {c}, {y})}), -1);
  }
  std::optional<Derivative> pseudo_inverse_back(const LabelledVertex& p, const LabelledVertex& g) {
    return contracted(name_, vertex_.einsum.inputs[0], {pseudo_inverse_change(p, g, column_, row_)});
  }
  LabelledVertex pseudo_inverse_forward(const LabelledVertex& p, const LabelledVertex& da) {
    return pseudo_inverse_change(p, da, row_, column_);
  }

  // x = A^+ y. The labels of several right sides stay.
  LabelledVertex inverse_of_operand() {
    return block(BlockOp::PseudoInverse, with_batch({column_, row_}), {in_order()}, {2});
  }
  // A right side, with the rows of the matrix in the place of its own, or a solution, with its columns.
  Labels labels_of_right() const {
    Labels core{row_};
    if (result_core_.size() > 1) core.push_back(result_core_[1]);
    return replaced(vertex_.einsum.inputs[1], core_of(vertex_.einsum, 1), core);
  }
  Labels labels_of_solution() const {
    Labels core{column_};
    if (result_core_.size() > 1) core.push_back(result_core_[1]);
    return replaced(vertex_.einsum.output, result_core_, core);
  }
  std::optional<Derivative> least_squares_back(std::size_t n, const LabelledVertex& g) {
    const LabelledVertex dx{g.vertex, labels_of_solution()};
    const auto p = inverse_of_operand();
    if (n == 0)
      return pseudo_inverse_back(
          p, contraction(with_batch({column_, row_}), {dx, {vertex_.inputs[1], labels_of_right()}}));
    const auto dy = contracted(next_name(), labels_of_right(), {p, dx});
    return contracted(name_, vertex_.einsum.inputs[1], {{*dy->vertex, vertex_.einsum.inputs[1]}});
  }
  std::optional<Derivative> least_squares_forward(const Tangents& tangents) {
    const auto head = labels_of_solution();
    const auto p = inverse_of_operand();
    std::vector<LabelledVertex> terms;
    if (tangents[1]) {
      auto dy = tangent_of(1, tangents);
      dy.labels = replaced(dy.labels, vertex_.einsum.inputs[1], labels_of_right());
      terms.push_back(contraction(head, {p, dy}));
    }
    if (tangents[0])
      terms.push_back(contraction(
          head, {pseudo_inverse_forward(p, tangent_of(0, tangents)), {vertex_.inputs[1], labels_of_right()}}));
    const auto all = mapped(head, terms, [](const std::vector<ScalarPtr>& read) {
      return read.size() == 1 ? read[0] : plus(read[0], read[1]);
    });
    return contracted(name_, vertex_.einsum.output, {{all.vertex, vertex_.einsum.output}});
  }

  Label row_;
  Label column_;
};

}  // namespace

void require_factors_derivative(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  const auto core = core_of(vertex.einsum, 0);
  if (vertex.einsum.block->op == BlockOp::Qr && graph.labels().extent(core[0]) < graph.labels().extent(core[1]))
    refuse_block(graph, vertex, "QR of a matrix with more columns than rows", "transpose it, or take SVD");
}

std::optional<Derivative> pull_back_factors(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                            const std::string& name) {
  return FactorisationRule(graph, id, name).pull_back(n, cotangent);
}

std::optional<Derivative> push_forward_factors(EinGraph& graph, VertexId id,
                                               const std::vector<std::optional<Derivative>>& tangents,
                                               const std::string& name) {
  return FactorisationRule(graph, id, name).push_forward(tangents);
}

}  // namespace eindb
