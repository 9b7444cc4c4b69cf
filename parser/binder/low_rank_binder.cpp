#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "parser/binder/expression_binder.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

// Of N. Halko, P.-G. Martinsson and J. Tropp, Finding structure with randomness, 2011: columns beyond those that are
// wanted (section 4.2), and multiplications by A A^H that make the singular values fall faster (algorithm 4.4).
constexpr std::int64_t kFurtherColumns = 10;
constexpr int kPowerSteps = 2;

Labels beside(Labels labels, const Labels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

}  // namespace

// left * right, or left^H * right, summed over one label.
ContractionOperand ExpressionBinder::matrix_product(const ContractionOperand& left, bool conjugated,
                                                    const ContractionOperand& right, Label over, Labels output,
                                                    SourceSpan span) {
  Draft draft;
  auto factor = operand(left.vertex, left.labels, draft);
  if (conjugated && is_complex(graph_.vertex(left.vertex).dtype))
    factor = ScalarExpression::call(ScalarOp::Conj, {std::move(factor)});
  auto product =
      ScalarExpression::call(ScalarOp::Multiply, {std::move(factor), operand(right.vertex, right.labels, draft)});
  EinSum einsum{.inputs = {},
                .output = output,
                .aggregated = {over},
                .expression = std::move(product),
                .aggregate = Aggregate::Sum};
  return {add_vertex(std::move(draft), std::move(einsum), span), std::move(output)};
}

// Q of a matrix, whose columns span those of the matrix.
ContractionOperand ExpressionBinder::basis_of(const ContractionOperand& values, Label rows, Label columns,
                                              const MatrixCall& call, SourceSpan span) {
  const auto q = factors_of({.op = BlockOp::Qr,
                             .type = call.type,
                             .rows = rows,
                             .columns = columns,
                             .batch = call.batch,
                             .operands = {values}},
                            span)
                     .front();
  return {q, graph_.vertex(q).einsum.output};
}

// (U, s, V) = SVD(A, k, seed): the k largest singular values and their vectors, exact where a few more columns than k
// are all that A has, and otherwise from its products with random vectors. Q spans about what the first columns of U
// do, so that the factors of the small matrix Q^H A are those of A, with Q before U.
std::vector<VertexId> ExpressionBinder::low_rank(const ast::Expression& e, const MatrixCall& call) {
  const auto& arguments = std::get<ast::Call>(e.node).arguments;
  const auto& place = arguments[1].span;
  const auto rank = constant_integer(arguments[1]);
  const auto seed = arguments.size() > 2 ? constant_integer(arguments[2]) : std::nullopt;
  const auto extent = [&](Label label) { return graph_.labels().extent(label); };
  const auto least = std::min(extent(call.rows), extent(call.columns));
  if (!rank || *rank < 1 || *rank > least)
    throw Error(ErrorKind::Value,
                "the rank of an SVD of a matrix of " + std::to_string(extent(call.rows)) + " x " +
                    std::to_string(extent(call.columns)) + " is a constant from 1 to " + std::to_string(least),
                place, "as in (U, s, V) = SVD(A[i,j], 5)");
  if (!seed)
    throw Error(ErrorKind::Value, "the seed of an SVD of low rank is a constant integer", arguments.back().span,
                "without one it is the session's next: SVD(A[i,j], 5)");

  const auto& a = call.operands.front();
  const auto& batch = call.batch;
  const auto between = labels_.fresh("k", *rank);
  const auto first_columns = [&](VertexId vertex, Label all) {
    auto output = graph_.vertex(vertex).einsum.output;
    std::replace(output.begin(), output.end(), all, between);
    return ContractionOperand{unpacked(vertex, all, 0, between, output, e.span), output};
  };
  const auto wanted = std::min(*rank + kFurtherColumns, least);
  if (wanted == least) {
    auto results = factors_of(call, e.span);
    const auto all = graph_.vertex(results[1]).einsum.output.back();
    for (auto& result : results) result = first_columns(result, all).vertex;
    return results;
  }

  const auto drawn = labels_.fresh("k", wanted);
  EinSum random{.inputs = {},
                .output = {call.columns, drawn},
                .aggregated = {},
                .expression = ScalarExpression::random(ScalarExpression::Kind::Normal,
                                                       static_cast<std::uint64_t>(*seed), {call.columns, drawn}),
                .aggregate = Aggregate::None};
  const auto start = add_vertex(Draft{}, std::move(random), e.span, DType::Float64);
  ContractionOperand reached{start, {call.columns, drawn}};
  const auto basis_of_seen = [&] {
    const auto seen =
        matrix_product(a, false, reached, call.columns, beside(batch, {call.rows, reached.labels.back()}), e.span);
    return basis_of(seen, call.rows, reached.labels.back(), call, e.span);
  };
  auto q = basis_of_seen();
  for (int step = 0; step < kPowerSteps; ++step) {
    const auto columns = q.labels.back();
    const auto back = matrix_product(a, true, q, call.rows, beside(batch, {call.columns, columns}), e.span);
    reached = basis_of(back, call.columns, columns, call, e.span);
    q = basis_of_seen();
  }
  const auto inner = q.labels.back();
  const auto small = matrix_product(q, true, a, call.rows, beside(batch, {inner, call.columns}), e.span);
  auto results = factors_of({.op = BlockOp::Svd,
                             .type = call.type,
                             .rows = inner,
                             .columns = call.columns,
                             .batch = batch,
                             .operands = {small}},
                            e.span);
  const auto all = graph_.vertex(results[1]).einsum.output.back();
  for (auto& result : results) result = first_columns(result, all).vertex;
  const ContractionOperand left{results[0], graph_.vertex(results[0]).einsum.output};
  results[0] = matrix_product(q, false, left, inner, beside(batch, {call.rows, between}), e.span).vertex;
  return results;
}

}  // namespace eindb
