#include <algorithm>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/binder/expression_binder.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Functions of matrices are computed in double precision.
std::optional<ScalarOp> to_double_precision(DType type) {
  if (type == DType::Complex64) return ScalarOp::ToComplex128;
  return type == DType::Float64 || type == DType::Complex128 ? std::nullopt : std::optional(ScalarOp::ToFloat64);
}

}  // namespace

const MatrixFunction* find_matrix_function(const ast::Expression& e) {
  const auto* call = std::get_if<ast::Call>(&e.node);
  if (call == nullptr || call->function.quoted) return nullptr;
  const auto found = std::find_if(kMatrixFunctions.begin(), kMatrixFunctions.end(), [&](const MatrixFunction& known) {
    return equal_ignoring_case(known.word, call->function.text);
  });
  return found == kMatrixFunctions.end() ? nullptr : &*found;
}

// An argument as a vertex in double precision, whose core labels stand last, in their order.
ContractionOperand ExpressionBinder::matrix_operand(const ast::Expression& e, const Labels& core, DType& type) {
  const Draft outer{.inputs = {}, .labels = {}, .visible = matrix_visible_, .cell = {}, .numbers = {}};
  auto given = materialize(e, outer);
  type = promote(type, floating_of(graph_.vertex(given.vertex).dtype));
  const auto op = to_double_precision(graph_.vertex(given.vertex).dtype);
  Labels wanted = difference(DistinctLabels(given.labels).labels(), core);
  append_distinct(wanted, core);
  if (!op && given.labels == wanted) return given;
  Draft draft;
  auto value = operand(given.vertex, given.labels, draft);
  if (op) value = ScalarExpression::call(*op, {std::move(value)});
  EinSum einsum{
      .inputs = {}, .output = wanted, .aggregated = {}, .expression = std::move(value), .aggregate = Aggregate::None};
  return {add_vertex(std::move(draft), std::move(einsum), e.span), wanted};
}

// The labels of the arguments: those of the matrix are the last two of the first one.
ExpressionBinder::MatrixCall ExpressionBinder::bind_matrix_call(const ast::Expression& e,
                                                                const MatrixFunction& function,
                                                                const std::vector<ast::Dimension>& head) {
  const auto& call = std::get<ast::Call>(e.node);
  const std::string word(function.word);
  const auto as_in = "as in " + std::string(function.example);
  const bool solves = function.op == BlockOp::Solve || function.op == BlockOp::LeastSquares;
  // SVD(A, k) has a third argument, the seed.
  const bool is_low_rank = function.op == BlockOp::Svd && (call.arguments.size() == 2 || call.arguments.size() == 3);
  if (call.arguments.size() != (solves ? 2 : 1) && !is_low_rank)
    throw Error(ErrorKind::Value, word + " takes " + counted(solves ? 2 : 1, "argument"), e.span, as_in);
  for (const auto& argument : call.arguments) {
    bind_labels(argument, {});
    check_names(argument);
  }
  for (const auto& dimension : head)
    if (const auto* label = labels_.find(dimension.label)) matrix_visible_.push_back(*label);
  DistinctLabels free;
  collect_free_labels(call.arguments[0], matrix_visible_, free);
  auto batch = free.labels();
  if (batch.size() < 2)
    throw Error(ErrorKind::Label, word + " is of a matrix, and its argument has " + counted(batch.size(), "label"),
                call.arguments[0].span, as_in);
  MatrixCall out{.op = function.op};
  out.columns = batch.back();
  out.rows = batch[batch.size() - 2];
  batch.resize(batch.size() - 2);
  if (solves) {
    DistinctLabels right;
    collect_free_labels(call.arguments[1], matrix_visible_, right);
    Labels others = difference(right.labels(), {out.rows});
    others = difference(others, batch);
    const auto name = [&](Label label) { return graph_.labels().name(label); };
    if (!right.contains(out.rows) || contains(others, out.columns))
      throw Error(ErrorKind::Label,
                  "the right sides of " + word + " have the label of the matrix' rows, " + name(out.rows) +
                      ", and not that of its columns, " + name(out.columns),
                  call.arguments[1].span, as_in);
    if (others.size() > 1)
      throw Error(ErrorKind::Label,
                  "the right sides of " + word + " have " + counted(others.size(), "label") +
                      " that the matrix does not have, and may have one",
                  call.arguments[1].span, as_in);
    out.right = others;
  }
  out.batch = batch;

  const auto extent = [&](Label label) { return graph_.labels().extent(label); };
  const bool is_square = function.op == BlockOp::Inverse || function.op == BlockOp::Cholesky ||
                         function.op == BlockOp::Exponential || function.op == BlockOp::Determinant ||
                         function.op == BlockOp::LogDeterminant || function.op == BlockOp::Solve ||
                         function.op == BlockOp::Eigh;
  if (is_square && extent(out.rows) != extent(out.columns))
    throw Error(ErrorKind::Shape,
                word + " is of square matrices, and this one is " + std::to_string(extent(out.rows)) + " x " +
                    std::to_string(extent(out.columns)),
                call.arguments[0].span, function.op == BlockOp::Solve ? "LSTSQ takes others" : "");
  for (const auto label : {out.rows, out.columns})
    if (extent(label) == 0)
      throw Error(ErrorKind::Value, word + " of a matrix without elements", call.arguments[0].span);

  DType type = DType::Float32;
  std::vector<ContractionOperand> operands{matrix_operand(call.arguments[0], {out.rows, out.columns}, type)};
  if (solves) {
    Labels core{out.rows};
    append_distinct(core, out.right);
    operands.push_back(matrix_operand(call.arguments[1], core, type));
    // A real matrix with complex right sides, or the reverse.
    for (auto& [vertex, labels] : operands) {
      if (is_complex(graph_.vertex(vertex).dtype) == is_complex(type)) continue;
      Draft draft;
      auto value = ScalarExpression::call(ScalarOp::ToComplex128, {operand(vertex, labels, draft)});
      EinSum einsum{.inputs = {},
                    .output = labels,
                    .aggregated = {},
                    .expression = std::move(value),
                    .aggregate = Aggregate::None};
      vertex = add_vertex(std::move(draft), std::move(einsum), e.span);
    }
  }
  out.type = type;
  out.operands = std::move(operands);
  return out;
}

VertexId ExpressionBinder::add_matrix_block(const MatrixCall& call, Labels output, SourceSpan span) {
  std::vector<VertexId> inputs;
  EinSum einsum{.inputs = {},
                .output = std::move(output),
                .aggregated = {},
                .expression = nullptr,
                .aggregate = Aggregate::Block,
                .block = BlockFunction{.op = call.op}};
  for (const auto& [vertex, labels] : call.operands) {
    inputs.push_back(vertex);
    auto& read = einsum.inputs.emplace_back();
    for (const auto label : labels) {
      if (contains(call.batch, label)) {
        read.push_back(label);
        continue;
      }
      read.push_back(labels_.fresh(graph_.labels().name(label), graph_.labels().extent(label)));
      einsum.aggregated.push_back(read.back());
    }
  }
  auto core = einsum.aggregated;
  for (const auto label : einsum.output)
    if (!contains(call.batch, label)) core.push_back(label);
  einsum.expression = block_expression(inputs.size(), core);
  const auto compute = is_complex(call.type) ? DType::Complex128 : DType::Float64;
  return with_place(span, [&] {
    return graph_.add(make_vertex(graph_, next_name(), std::move(inputs), std::move(einsum), compute));
  });
}

VertexId ExpressionBinder::bind_matrix(const ast::Expression& e, const std::vector<ast::Dimension>& head) {
  const auto& function = *find_matrix_function(e);
  const std::string word(function.word);
  if (function.results > 1)
    throw Error(ErrorKind::Value, word + " has " + counted(function.results, "result"), e.span,
                "name them in WITH: WITH " + std::string(function.example) + " EINSUM ...");
  const auto call = bind_matrix_call(e, function, head);
  const auto extent = [&](Label label) { return graph_.labels().extent(label); };
  std::vector<std::int64_t> extents;
  switch (function.op) {
    case BlockOp::Determinant:
    case BlockOp::LogDeterminant: break;
    case BlockOp::PseudoInverse: extents = {extent(call.columns), extent(call.rows)}; break;
    case BlockOp::Solve:
    case BlockOp::LeastSquares:
      extents.push_back(extent(call.columns));
      for (const auto label : call.right) extents.push_back(extent(label));
      break;
    default: extents = {extent(call.rows), extent(call.columns)};
  }
  Labels output;
  std::size_t place = 0;
  for (const auto& dimension : head) {
    const auto* known = labels_.find(dimension.label);
    if (known != nullptr && contains(call.batch, *known)) {
      output.push_back(*known);
      continue;
    }
    if (place < extents.size())
      output.push_back(labels_.bind_at(dimension.label, extents[place], "the result of " + word));
    ++place;
  }
  if (place != extents.size())
    throw Error(ErrorKind::Label,
                word + " gives " + counted(extents.size(), "dimension") +
                    " beside those of its argument that are no matrix, and the head of " + name_ + " has " +
                    counted(place, "label") + " for them",
                e.span, "as in " + std::string(function.example));
  for (const auto label : call.batch)
    if (!contains(output, label))
      throw Error(ErrorKind::Label, "label " + graph_.labels().name(label) + " is not in the head of " + name_, e.span,
                  "the last two labels of the argument are those of the matrix, all others stay");
  if (DistinctLabels(output).labels().size() != output.size())
    throw Error(ErrorKind::Label, "a label stands twice in the head of " + name_, e.span);
  const auto vertex = add_matrix_block(call, output, e.span);
  graph_.set_dtype(vertex, call.type);
  return vertex;
}

// Rows `first` and the following of what a function has put one above the other, as many as `rows` has indices; or one.
VertexId ExpressionBinder::unpacked(VertexId packed, Label stacked, std::int64_t first, std::optional<Label> rows,
                                    const Labels& output, SourceSpan span) {
  ScalarPtr index = ScalarExpression::integer(first);
  if (rows) {
    index = ScalarExpression::label_index(*rows);
    if (first != 0) index = ScalarExpression::call(ScalarOp::Add, {std::move(index), ScalarExpression::integer(first)});
  }
  auto here = ScalarExpression::call(ScalarOp::Equal, {ScalarExpression::label_index(stacked), std::move(index)});
  EinSum einsum{.inputs = {graph_.vertex(packed).einsum.output},
                .output = output,
                .aggregated = {stacked},
                .expression = ScalarExpression::call(
                    ScalarOp::Case, {std::move(here), ScalarExpression::operand(0), ScalarExpression::integer(0)}),
                .aggregate = Aggregate::Sum};
  return with_place(span, [&] { return graph_.add(make_vertex(graph_, next_name(), {packed}, std::move(einsum))); });
}

std::vector<VertexId> ExpressionBinder::bind_matrices(const ast::Expression& e) {
  const auto call = bind_matrix_call(e, *find_matrix_function(e), {});
  const bool is_low_rank = call.op == BlockOp::Svd && std::get<ast::Call>(e.node).arguments.size() > 1;
  auto results = is_low_rank ? low_rank(e, call) : factors_of(call, e.span);
  for (const auto vertex : results)
    graph_.set_dtype(vertex, is_complex(graph_.vertex(vertex).dtype) ? call.type : real_of(call.type));
  return results;
}

// The results of a function that has several, in double precision.
std::vector<VertexId> ExpressionBinder::factors_of(const MatrixCall& call, SourceSpan span) {
  const auto& table = graph_.labels();
  const auto m = table.extent(call.rows);
  const auto n = table.extent(call.columns);
  const auto k = std::min(m, n);
  const auto with = [&](const Labels& more) {
    auto labels = call.batch;
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
  };
  const auto between = labels_.fresh("k", k);
  const auto columns = labels_.fresh(table.name(call.columns), n);
  std::vector<VertexId> results;
  const auto stack = [&](std::int64_t rows) { return labels_.fresh(table.name(call.rows), rows); };
  if (call.op == BlockOp::Qr) {
    const auto stacked = stack(m + n);
    const auto packed = add_matrix_block(call, with({stacked, between}), span);
    results.push_back(unpacked(packed, stacked, 0, call.rows, with({call.rows, between}), span));
    results.push_back(unpacked(packed, stacked, m, columns, with({between, columns}), span));
  } else {
    const bool of_svd = call.op == BlockOp::Svd;
    const auto stacked = stack(of_svd ? m + 1 + n : 1 + n);
    const auto packed = add_matrix_block(call, with({stacked, between}), span);
    if (of_svd) results.push_back(unpacked(packed, stacked, 0, call.rows, with({call.rows, between}), span));
    const auto values = unpacked(packed, stacked, of_svd ? m : 0, std::nullopt, with({between}), span);
    results.push_back(values);
    if (is_complex(call.type)) {  // singular values and eigenvalues are real
      Draft draft;
      auto real = ScalarExpression::call(ScalarOp::Real, {operand(values, with({between}), draft)});
      EinSum einsum{.inputs = {},
                    .output = with({between}),
                    .aggregated = {},
                    .expression = std::move(real),
                    .aggregate = Aggregate::None};
      results.back() = add_vertex(std::move(draft), std::move(einsum), span);
    }
    results.push_back(of_svd ? unpacked(packed, stacked, m + 1, columns, with({columns, between}), span)
                             : unpacked(packed, stacked, 1, call.rows, with({call.rows, between}), span));
  }
  return results;
}

}  // namespace eindb
