#include "derivatives/block_rule.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "derivatives/scalar_algebra.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

using algebra::choose;
using algebra::number;
using algebra::over;
using algebra::plus;
using algebra::times;

ScalarPtr index_of(Label label) { return ScalarExpression::label_index(label); }
ScalarPtr compared(ScalarOp op, Label a, Label b) { return ScalarExpression::call(op, {index_of(a), index_of(b)}); }

[[noreturn]] void refuse_block(const Vertex& vertex, const std::string& function, const std::string& why) {
  throw Error(ErrorKind::Type, function + " has no derivative, and " + vertex.name + " depends on it", std::nullopt,
              why);
}

// A tensor read with labels.
struct Factor {
  VertexId vertex;
  Labels labels;
};

class BlockRule {
 public:
  BlockRule(EinGraph& graph, VertexId id, std::string name)
      : graph_(graph),
        id_(id),
        vertex_(graph.vertex(id)),
        name_(std::move(name)),
        type_(is_recurrence(vertex_.einsum.block->op) ? derivative_type(vertex_.compute_dtype)
              : is_complex(vertex_.compute_dtype)     ? DType::Complex128
                                                      : DType::Float64),
        core_(core_of(vertex_.einsum, 0)),
        result_core_(result_core_of(vertex_.einsum)) {}

  std::optional<Derivative> pull_back(std::size_t n, const Derivative& cotangent) {
    const auto g = materialize(graph_, next_name(), vertex_.einsum.output, cotangent, type_);
    switch (vertex_.einsum.block->op) {
      case BlockOp::Inverse: return inverse_back(g);
      case BlockOp::Solve: return solve_back(n, g);
      case BlockOp::Determinant:
      case BlockOp::LogDeterminant: return determinant_back(g);
      case BlockOp::Cholesky: return cholesky_back(g);
      case BlockOp::Eigh: return eigh_back(g);
      case BlockOp::Qr: return qr_back(g);
      case BlockOp::SumRecurrence: return recurrence_back(n, g);
      default: break;
    }
    CHECK(false, "functions without a derivative were refused");
  }

  std::optional<Derivative> push_forward(const std::vector<std::optional<Derivative>>& tangents) {
    switch (vertex_.einsum.block->op) {
      case BlockOp::Inverse: return inverse_forward(*tangents[0]);
      case BlockOp::Solve: return solve_forward(tangents);
      case BlockOp::Determinant:
      case BlockOp::LogDeterminant: return determinant_forward(*tangents[0]);
      case BlockOp::Cholesky: return cholesky_forward(*tangents[0]);
      case BlockOp::SumRecurrence: return recurrence_forward(tangents);
      case BlockOp::Qr: refuse_block(vertex_, "QR", "GRADIENT has one, JVP has none");
      case BlockOp::Eigh: refuse_block(vertex_, "EIGH", "GRADIENT has one, JVP has none");
      default: break;
    }
    CHECK(false, "functions without a derivative were refused");
  }

 private:
  std::string next_name() { return name_ + "." + std::to_string(++made_); }
  Label fresh(Label like) { return graph_.labels().add(graph_.labels().name(like), graph_.labels().extent(like)); }
  std::int64_t extent(Label label) const { return graph_.labels().extent(label); }

  // The labels of the operand n, or of the result, with others in the place of the core labels, in their order.
  static Labels replaced(Labels labels, const Labels& core, const Labels& others) {
    CHECK(core.size() == others.size(), "core labels are replaced one by one");
    for (auto& label : labels) {
      const auto found = std::find(core.begin(), core.end(), label);
      if (found != core.end()) label = others[static_cast<std::size_t>(found - core.begin())];
    }
    return labels;
  }
  Labels operand_labels(const Labels& core) const { return replaced(vertex_.einsum.inputs[0], core_, core); }
  Labels result_labels(const Labels& core) const { return replaced(vertex_.einsum.output, result_core_, core); }
  Factor result(const Labels& core) const { return {id_, result_labels(core)}; }
  Factor operand(const Labels& core) const { return {vertex_.inputs[0], operand_labels(core)}; }
  Labels batch() const { return difference(vertex_.einsum.inputs[0], core_); }
  Labels with_batch(const Labels& more) const {
    auto labels = batch();
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
  }

  // sign * product of the factors, summed over the labels that are not in the output.
  std::optional<Derivative> contracted(const std::string& name, const Labels& output,
                                       const std::vector<Factor>& factors, double sign = 1) {
    VertexDraft draft(graph_);
    ScalarPtr product = sign == 1 ? nullptr : number(sign);
    DistinctLabels domain(output);
    for (const auto& [vertex, labels] : factors) {
      auto read = draft.read(vertex, labels);
      product = product == nullptr ? std::move(read) : times(product, read);
      domain.add(labels);
    }
    return draft.sum(name, output, domain.labels(), product, type_);
  }
  Factor contraction(const Labels& output, const std::vector<Factor>& factors, double sign = 1) {
    return {*contracted(next_name(), output, factors, sign)->vertex, output};
  }

  // A vertex of a function of matrices. The operands' last two labels, or the last one of right sides, are theirs.
  Factor block(BlockOp op, const Labels& output, const std::vector<Factor>& operands,
               const std::vector<std::size_t>& ranks) {
    EinSum einsum{.inputs = {},
                  .output = output,
                  .aggregated = {},
                  .expression = nullptr,
                  .aggregate = Aggregate::Block,
                  .block = BlockFunction{.op = op}};
    std::vector<VertexId> inputs;
    for (std::size_t n = 0; n < operands.size(); ++n) {
      auto labels = operands[n].labels;
      for (auto d = labels.size() - ranks[n]; d < labels.size(); ++d) {
        labels[d] = fresh(labels[d]);
        einsum.aggregated.push_back(labels[d]);
      }
      einsum.inputs.push_back(std::move(labels));
      inputs.push_back(operands[n].vertex);
    }
    auto core = einsum.aggregated;
    for (const auto label : output)
      if (!contains(batch(), label)) core.push_back(label);
    einsum.expression = block_expression(inputs.size(), core);
    return {graph_.add(make_vertex(graph_, next_name(), std::move(inputs), std::move(einsum), type_)), output};
  }

  // An expression over factors, without a sum.
  template <class Make>
  Factor mapped(const Labels& output, const std::vector<Factor>& factors, Make&& make) {
    VertexDraft draft(graph_);
    std::vector<ScalarPtr> read;
    for (const auto& [vertex, labels] : factors) read.push_back(draft.read(vertex, labels));
    return {*draft.sum(next_name(), output, output, std::forward<Make>(make)(read), type_)->vertex, output};
  }

  // The operand with the label of the result along which it runs.
  Labels recurring_labels(std::size_t n) const {
    return replaced(vertex_.einsum.inputs[n], {vertex_.einsum.aggregated.front()}, result_core_);
  }

  // The recurrence of other values, or its transpose. `values` are read with the labels of the head.
  Factor recurrence_of(VertexId values, bool transposed) {
    const auto& head = vertex_.einsum.output;
    const auto along = result_core_.front();
    const auto read = fresh(along);
    auto block = *vertex_.einsum.block;
    block.descending = block.descending != transposed;
    EinSum einsum{.inputs = {replaced(head, {along}, {read}), replaced(recurring_labels(1), {along}, {read})},
                  .output = head,
                  .aggregated = {read},
                  .expression = block_expression(2, {read, along}),
                  .aggregate = Aggregate::Block,
                  .block = block};
    return {graph_.add(make_vertex(graph_, next_name(), {values, vertex_.inputs[1]}, std::move(einsum), type_)), head};
  }

  // The value `distance` indices before each one; 0 where there is none.
  Factor before(const Factor& values, std::int64_t distance) {
    const auto along = result_core_.front();
    const auto read = fresh(along);
    VertexDraft draft(graph_);
    const auto value = draft.read(values.vertex, replaced(values.labels, {along}, {read}));
    const auto is_before = ScalarExpression::call(
        ScalarOp::Equal,
        {index_of(read),
         ScalarExpression::call(ScalarOp::Subtract, {index_of(along), ScalarExpression::integer(distance)})});
    auto domain = values.labels;
    domain.push_back(read);
    return {*draft.sum(next_name(), values.labels, domain, choose(is_before, value, number(0)), type_)->vertex,
            values.labels};
  }

  // h[t] = a[t] h[t-1] + x[t]: with dx the transposed recurrence of dh, da[t] = dx[t] h[t-1].
  std::optional<Derivative> recurrence_back(std::size_t n, VertexId g) {
    const auto dx = recurrence_of(g, true);
    if (n == 0) return contracted(name_, recurring_labels(0), {dx});
    const Factor h{id_, vertex_.einsum.output};
    if (vertex_.einsum.block->descending) return contracted(name_, recurring_labels(1), {before(dx, 1), h});
    return contracted(name_, recurring_labels(1), {dx, before(h, 1)});
  }
  // The same recurrence of dx[t] + da[t] h[t-1]; of the transposed one, dx[t] + da[t+1] h[t+1].
  std::optional<Derivative> recurrence_forward(const std::vector<std::optional<Derivative>>& tangents) {
    const auto& head = vertex_.einsum.output;
    std::vector<Factor> terms;
    const auto tangent = [&](std::size_t n) {
      return Factor{materialize(graph_, next_name(), recurring_labels(n), *tangents[n], type_), recurring_labels(n)};
    };
    if (tangents[0]) terms.push_back(tangent(0));
    if (tangents[1]) {
      const Factor h{id_, head};
      terms.push_back(vertex_.einsum.block->descending ? before(contraction(head, {tangent(1), h}), -1)
                                                       : contraction(head, {tangent(1), before(h, 1)}));
    }
    const auto all = mapped(head, terms, [](const std::vector<ScalarPtr>& read) {
      return read.size() == 1 ? read[0] : plus(read[0], read[1]);
    });
    return Derivative{.vertex = recurrence_of(all.vertex, false).vertex};
  }

  // B = A^-1: dA = -B^T dB B^T, and dB = -B dA B.
  std::optional<Derivative> inverse_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto p = fresh(c);
    const auto q = fresh(r);
    return contracted(name_, vertex_.einsum.inputs[0], {result({p, r}), {g, result_labels({p, q})}, result({c, q})},
                      -1);
  }
  std::optional<Derivative> inverse_forward(const Derivative& tangent) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto t = materialize(graph_, next_name(), vertex_.einsum.inputs[0], tangent, type_);
    const auto& pq = result_core_;
    return contracted(name_, vertex_.einsum.output,
                      {result({pq[0], r}), {t, vertex_.einsum.inputs[0]}, result({c, pq[1]})}, -1);
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
  std::optional<Derivative> solve_forward(const std::vector<std::optional<Derivative>>& tangents) {
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
    std::vector<Factor> terms;
    if (tangents[1]) {
      const auto& labels = vertex_.einsum.inputs[1];
      const auto t = materialize(graph_, next_name(), labels, *tangents[1], type_);
      terms.push_back({t, replaced(labels, core_of(vertex_.einsum, 1), now)});
    }
    if (tangents[0]) {
      const auto t = materialize(graph_, next_name(), vertex_.einsum.inputs[0], *tangents[0], type_);
      terms.push_back(contraction(of_y, {{t, vertex_.einsum.inputs[0]}, {id_, result_labels(core_of_x)}}, -1));
    }
    if (terms.empty()) return std::nullopt;
    const auto right = mapped(of_y, terms, [](const std::vector<ScalarPtr>& read) {
      return read.size() == 1 ? read[0] : plus(read[0], read[1]);
    });
    const auto solved = block(BlockOp::Solve, vertex_.einsum.output, {in_order(), right}, {2, wide ? 2U : 1U});
    return Derivative{.vertex = solved.vertex};
  }
  // The matrix with its core labels last.
  Factor in_order() { return contraction(with_batch(core_), {operand(core_)}); }

  // d = |A|: dA = d A^-T dd; of its logarithm A^-T dd.
  Factor inverse_of_operand(Label p, Label q) { return block(BlockOp::Inverse, with_batch({p, q}), {in_order()}, {2}); }
  std::optional<Derivative> determinant_back(VertexId g) {
    std::vector<Factor> factors{inverse_of_operand(core_[1], core_[0]), {g, vertex_.einsum.output}};
    if (vertex_.einsum.block->op == BlockOp::Determinant) factors.push_back({id_, vertex_.einsum.output});
    return contracted(name_, vertex_.einsum.inputs[0], factors);
  }
  std::optional<Derivative> determinant_forward(const Derivative& tangent) {
    const auto t = materialize(graph_, next_name(), vertex_.einsum.inputs[0], tangent, type_);
    std::vector<Factor> factors{inverse_of_operand(core_[1], core_[0]), {t, vertex_.einsum.inputs[0]}};
    if (vertex_.einsum.block->op == BlockOp::Determinant) factors.push_back({id_, vertex_.einsum.output});
    return contracted(name_, vertex_.einsum.output, factors);
  }

  // The lower triangle, with half of the diagonal.
  static ScalarPtr lower_half(Label row, Label column, const ScalarPtr& value) {
    return choose(compared(ScalarOp::Greater, row, column), value,
                  choose(compared(ScalarOp::Equal, row, column), over(value, number(2)), nullptr));
  }
  // Functions that read the lower triangle alone have all of a symmetric derivative there: M + M^T below the diagonal.
  std::optional<Derivative> lower_triangle(const Factor& m) {
    const auto r = core_[0];
    const auto c = core_[1];
    VertexDraft draft(graph_);
    const auto here = draft.read(m.vertex, with_batch({r, c}));
    const auto there = draft.read(m.vertex, with_batch({c, r}));
    const auto value = choose(compared(ScalarOp::Greater, r, c), plus(here, there),
                              choose(compared(ScalarOp::Equal, r, c), here, nullptr));
    return draft.sum(name_, vertex_.einsum.inputs[0], vertex_.einsum.inputs[0], value, type_);
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
    const auto other = Factor{inverse.vertex, with_batch({b, c})};
    return lower_triangle(contraction(with_batch({r, c}), {inverse, half, other}));
  }
  std::optional<Derivative> cholesky_forward(const Derivative& tangent) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto a = fresh(r);
    const auto b = fresh(r);
    const auto t = materialize(graph_, next_name(), vertex_.einsum.inputs[0], tangent, type_);
    const auto symmetric = mapped(with_batch({r, c}), {{t, operand_labels({r, c})}, {t, operand_labels({c, r})}},
                                  [&](const std::vector<ScalarPtr>& read) {
                                    return choose(compared(ScalarOp::GreaterEqual, r, c), read[0], read[1]);
                                  });
    const auto inverse = inverse_of_result(a, r);
    const auto other = Factor{inverse.vertex, with_batch({b, c})};
    const auto product = contraction(with_batch({a, b}), {inverse, symmetric, other});
    const auto half = mapped(with_batch({a, b}), {product},
                             [&](const std::vector<ScalarPtr>& read) { return lower_half(a, b, read[0]); });
    return contracted(name_, vertex_.einsum.output,
                      {result({result_core_[0], a}), {half.vertex, with_batch({a, result_core_[1]})}});
  }
  // The inverse of the result, a square matrix, over the labels p and q.
  Factor inverse_of_result(Label p, Label q) {
    const auto last = contraction(with_batch(result_core_), {result(result_core_)});
    return block(BlockOp::Inverse, with_batch({p, q}), {last}, {2});
  }

  // Rows from `first` on of what is stacked, numbered by `row`; or one row.
  Factor rows_of(VertexId stacked, std::int64_t first, std::optional<Label> row, Label column) {
    const auto s = result_core_[0];
    auto output = batch();
    if (row) output.push_back(*row);
    output.push_back(column);
    VertexDraft draft(graph_);
    const auto value = draft.read(stacked, result_labels({s, column}));
    auto at = row ? index_of(*row) : ScalarExpression::integer(first);
    if (row && first != 0)
      at = ScalarExpression::call(ScalarOp::Add, {std::move(at), ScalarExpression::integer(first)});
    const auto here = ScalarExpression::call(
        ScalarOp::Case,
        {ScalarExpression::call(ScalarOp::Equal, {index_of(s), at}), value, ScalarExpression::integer(0)});
    DistinctLabels domain(output);
    domain.add(s);
    return {*draft.sum(next_name(), output, domain.labels(), here, type_)->vertex, output};
  }

  // A = V diag(w) V^T: the symmetric derivative is V (diag(dw) + F * (V^T dV)) V^T with F[k,l] = 1 / (w[l] - w[k]).
  std::optional<Derivative> eigh_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    const auto k = fresh(r);
    const auto l = fresh(r);
    const auto i = fresh(r);
    const auto w = rows_of(id_, 0, std::nullopt, k);
    const auto v = rows_of(id_, 1, i, k);
    const auto dw = rows_of(g, 0, std::nullopt, k);
    const auto dv = rows_of(g, 1, i, l);
    const auto product = contraction(with_batch({k, l}), {v, dv});
    const auto inner = mapped(with_batch({k, l}), {product, dw, {w.vertex, with_batch({l})}, w},
                              [&](const std::vector<ScalarPtr>& read) {
                                const auto gap = algebra::minus(read[2], read[3]);
                                return choose(compared(ScalarOp::Equal, k, l), read[1], over(read[0], gap));
                              });
    return lower_triangle(
        contraction(with_batch({r, c}), {{v.vertex, with_batch({r, k})}, inner, {v.vertex, with_batch({c, l})}}));
  }

  // A = Q R with at least as many rows as columns: dA = (dQ + Q copyltu(M)) R^-T with M = R dR^T - dQ^T Q, where
  // copyltu copies the lower triangle to the upper one.
  std::optional<Derivative> qr_back(VertexId g) {
    const auto r = core_[0];
    const auto c = core_[1];
    if (extent(r) < extent(c))
      refuse_block(vertex_, "QR of a matrix with more columns than rows", "transpose it, or take SVD");
    const auto k = fresh(c);
    const auto l = fresh(c);
    const auto j = fresh(c);
    const auto m = extent(r);
    const auto q = rows_of(id_, 0, r, k);       // Q[r,k]
    const auto factor = rows_of(id_, m, j, k);  // R[k,j], stored transposed
    const auto dq = rows_of(g, 0, r, k);
    const auto dfactor = rows_of(g, m, j, k);
    const auto rr = contraction(with_batch({k, l}), {factor, {dfactor.vertex, with_batch({j, l})}});
    const auto qq = contraction(with_batch({k, l}), {dq, {q.vertex, with_batch({r, l})}});
    const auto difference = mapped(with_batch({k, l}), {rr, qq},
                                   [](const std::vector<ScalarPtr>& read) { return algebra::minus(read[0], read[1]); });
    const auto copied = mapped(with_batch({k, l}), {difference, {difference.vertex, with_batch({l, k})}},
                               [&](const std::vector<ScalarPtr>& read) {
                                 return choose(compared(ScalarOp::GreaterEqual, k, l), read[0], read[1]);
                               });
    const auto product = contraction(with_batch({r, l}), {q, copied});
    const auto sum = mapped(with_batch({r, l}), {{dq.vertex, with_batch({r, l})}, product},
                            [](const std::vector<ScalarPtr>& read) { return plus(read[0], read[1]); });
    const auto upper = contraction(with_batch({l, j}), {{factor.vertex, with_batch({j, l})}});
    const auto inverse = block(BlockOp::Inverse, with_batch({c, l}), {upper}, {2});
    return contracted(name_, vertex_.einsum.inputs[0], {sum, inverse});
  }

  EinGraph& graph_;
  VertexId id_;
  Vertex vertex_;
  std::string name_;
  DType type_;
  Labels core_;
  Labels result_core_;
  int made_ = 0;
};

}  // namespace

void require_block_derivative(const EinGraph& graph, VertexId id) {
  const auto& vertex = graph.vertex(id);
  const bool complex = is_complex(vertex.compute_dtype);
  const auto of_reals = [&](const char* function) {
    if (complex) refuse_block(vertex, std::string(function) + " of complex matrices", "it is not holomorphic");
  };
  switch (vertex.einsum.block->op) {
    case BlockOp::Order: refuse_block(vertex, "ARGSORT", "it gives indices, which change in steps");
    case BlockOp::Distinct: refuse_block(vertex, "COUNT_DISTINCT", "it counts values");
    case BlockOp::Mode: refuse_block(vertex, "MODE", "another value may be taken all at once");
    case BlockOp::Quantile:
      refuse_block(vertex, "QUANTILE", "SORT has one: SUM[s](CASE WHEN s = 2 THEN SORT[s](x) ELSE 0 END)");
    case BlockOp::Fourier:
    case BlockOp::InverseFourier: refuse_block(vertex, "FFT", "write the transform as a sum, which has one");
    case BlockOp::SumRecurrence: return of_reals("CUMSUM with a factor");
    case BlockOp::MaxRecurrence: refuse_block(vertex, "CUMMAX with a second argument", "CUMSUM has one");
    case BlockOp::MinRecurrence: refuse_block(vertex, "CUMMIN with a second argument", "CUMSUM has one");
    case BlockOp::PseudoInverse: refuse_block(vertex, "PINV", "INVERSE and SOLVE have one");
    case BlockOp::LeastSquares: refuse_block(vertex, "LSTSQ", "SOLVE of the normal equations has one");
    case BlockOp::Exponential: refuse_block(vertex, "EXPM", "of a symmetric matrix write it by EIGH, which has one");
    case BlockOp::Svd: refuse_block(vertex, "SVD", "EIGH of SUM[i](X[i,j] * X[i,k]) has one");
    case BlockOp::LogDeterminant: return of_reals("LOGDET");
    case BlockOp::Cholesky: return of_reals("CHOLESKY");
    case BlockOp::Eigh: return of_reals("EIGH");
    case BlockOp::Qr: return of_reals("QR");
    case BlockOp::Inverse:
    case BlockOp::Determinant:
    case BlockOp::Solve: return;
  }
}

std::optional<Derivative> pull_back_block(EinGraph& graph, VertexId id, std::size_t n, const Derivative& cotangent,
                                          const std::string& name) {
  return BlockRule(graph, id, name).pull_back(n, cotangent);
}

std::optional<Derivative> push_forward_block(EinGraph& graph, VertexId id,
                                             const std::vector<std::optional<Derivative>>& tangents,
                                             const std::string& name) {
  if (std::none_of(tangents.begin(), tangents.end(), [](const auto& tangent) { return tangent.has_value(); }))
    return std::nullopt;
  return BlockRule(graph, id, name).push_forward(tangents);
}

}  // namespace eindb
