#include "optimizer/rewrites/tall_factors.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "common/checked_math.hpp"
#include "optimizer/rewrites/packed_factors.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kFewestBlocks = 4;
constexpr std::int64_t kRowsOfColumns = 8;  // a block has so many rows for each column, that R is much smaller than it
constexpr std::int64_t kBlockCells = 1 << 14;

// How matrices are cut into blocks of rows.
class RowBlocks {
 public:
  explicit RowBlocks(const PlanningTerms& terms) : terms_(terms) {}

  // How many rows a block of an m x n matrix has; 0 if it is not taken apart, as it is not tall enough and one call has
  // room for it. The number of blocks is a power of two times that of workers, as that of parts is, so that each may be
  // a part of its own.
  std::int64_t rows(std::int64_t m, std::int64_t n, DType type) const {
    if (n == 0 || n > kBlockCells) return 0;
    const auto fit = rows_that_fit(n, type);
    const auto least = std::clamp(fit, 2 * n, std::max(kRowsOfColumns * n, kBlockCells / n));
    const auto fewest = std::max(m > fit ? 2 : kFewestBlocks, terms_.workers);
    if (m / fewest < least) return 0;
    const auto per_worker = std::bit_floor(static_cast<std::uint64_t>(m / least / terms_.workers));
    return rows_of(m, n, static_cast<std::int64_t>(per_worker) * terms_.workers);
  }
  // The same of a matrix of `blocks` factors of n x n, one above the other: each worker has one of its own first.
  std::int64_t rows_of_factors(std::int64_t blocks, std::int64_t n, DType type) const {
    const auto found = rows(blocks * n, n, type);
    const bool is_less = terms_.workers > 1 && blocks > terms_.workers && blocks % terms_.workers == 0;
    return found == 0 && is_less ? blocks / terms_.workers * n : found;
  }

 private:
  // A call takes several times what the block does, and several calls run at once.
  std::int64_t rows_that_fit(std::int64_t n, DType type) const {
    constexpr std::int64_t kRoomOfBlock = 32;
    if (terms_.memory_limit == 0) return std::numeric_limits<std::int64_t>::max();
    return terms_.memory_limit / kRoomOfBlock / n / static_cast<std::int64_t>(size_of(type));
  }

  static std::int64_t rows_of(std::int64_t m, std::int64_t n, std::int64_t blocks) {
    // The last block has at least as many rows as columns.
    const auto even = ceil_divide(m, blocks);
    for (auto rows = even; rows < 2 * even; ++rows)
      if (m - (ceil_divide(m, rows) - 1) * rows >= n) return rows;
    return 0;
  }

  const PlanningTerms& terms_;
};

Labels joined(Labels first, const Labels& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

// Takes one vertex apart.
class TallFactors {
 public:
  // A matrix for each index of the batch labels, whichever order its dimensions have.
  struct Matrix {
    VertexId vertex;
    Labels labels;
    Label rows;
    Label columns;
  };
  // Q[i,k], and the transposed R[j,k].
  struct Factors {
    Matrix q;
    Matrix r;
  };

  TallFactors(EinGraph& graph, VertexNames& names, const Vertex& vertex, const RowBlocks& row_blocks)
      : graph_(graph), names_(names), vertex_(vertex), row_blocks_(row_blocks), batch_(vertex.einsum.output) {
    const auto core = result_core_of(vertex.einsum);
    batch_ = difference(batch_, core);
    const auto matrix = core_of(vertex.einsum, 0);
    is_wide_ = extent(matrix[0]) < extent(matrix[1]);
  }

  std::vector<PackedPiece> pieces() {
    const auto& einsum = vertex_.einsum;
    const auto core = core_of(einsum, 0);
    const auto [q, r] = qr_of_argument();
    const auto m = extent(core[0]);
    if (einsum.block->op == BlockOp::Qr) return {{0, q.vertex, q.labels, q.rows}, {m, r.vertex, r.labels, r.rows}};

    const auto n = extent(r.rows);
    const auto between = fresh(q.columns);
    const auto stacked = graph_.labels().add(name_of(r.rows), 2 * n + 1);
    const auto packed =
        block(BlockOp::Svd, {r.vertex, r.labels, r.columns, r.rows}, joined(batch_, {stacked, between}));
    const auto left = taken(packed, stacked, 0, q.columns);
    const auto values = taken(packed, stacked, n, graph_.labels().add(name_of(r.rows), 1));
    const auto right = taken(packed, stacked, n + 1, fresh(r.rows));
    auto first = product(q, left, joined(batch_, {q.rows, between}));
    auto second = right;
    // If A^T = U s V^H, A = CONJ(V) s CONJ(U)^H.
    if (is_wide_) {
      std::swap(first, second);
      first.vertex = conjugate_of(first);
      second.vertex = conjugate_of(second);
    }
    return {{0, first.vertex, first.labels, first.rows},
            {m, values.vertex, values.labels, values.rows},
            {m + 1, second.vertex, second.labels, second.rows}};
  }

  // All pieces below each other, as the function itself gives them.
  VertexId packed(const std::vector<PackedPiece>& pieces) {
    const auto core = result_core_of(vertex_.einsum);
    EinSum einsum{.inputs = {}, .output = vertex_.einsum.output, .aggregated = {}, .expression = nullptr};
    std::vector<VertexId> inputs;
    std::vector<ScalarPtr> branches;
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      const auto& piece = pieces[n];
      auto labels = piece.labels;
      labels.back() = core[1];  // the columns
      auto output = labels;
      std::replace(output.begin(), output.end(), piece.rows, core[0]);
      EinSum moved{.inputs = {std::move(labels)},
                   .output = std::move(output),
                   .aggregated = {piece.rows},
                   .expression = operand_where(piece.rows, label_plus(core[0], -piece.first)),
                   .aggregate = Aggregate::Sum};
      inputs.push_back(add({piece.vertex}, std::move(moved)));
      einsum.inputs.push_back(graph_.vertex(inputs.back()).einsum.output);
      if (n + 1 < pieces.size())
        branches.push_back(ScalarExpression::call(
            ScalarOp::Less, {ScalarExpression::label_index(core[0]), ScalarExpression::integer(pieces[n + 1].first)}));
      branches.push_back(ScalarExpression::operand(n));
    }
    einsum.expression = ScalarExpression::call(ScalarOp::Case, std::move(branches));
    return finish(std::move(inputs), std::move(einsum));
  }

  // The x with the least residual of A x = y is that of R x = Q^H y.
  VertexId least_squares() {
    const auto& einsum = vertex_.einsum;
    const auto right = core_of(einsum, 1);
    batch_ = difference(einsum.inputs[0], core_of(einsum, 0));
    const auto [q, r] = qr_of_argument();
    if (is_wide_) return least_solution(q, r);
    auto y = einsum.inputs[1];
    std::replace(y.begin(), y.end(), right[0], q.rows);
    DistinctLabels output(difference(q.labels, {q.rows}));
    output.add(difference(y, {q.rows}));
    const auto projected = output.labels();
    const auto seen = add({q.vertex, vertex_.inputs[1]}, {.inputs = {q.labels, y},
                                                          .output = projected,
                                                          .aggregated = {q.rows},
                                                          .expression = product_with(conjugated(0), 1),
                                                          .aggregate = Aggregate::Sum});
    const Labels read{fresh(r.columns), fresh(r.rows)};
    const auto k = fresh(r.columns);
    auto matrix = r.labels;
    std::replace(matrix.begin(), matrix.end(), r.columns, read[0]);
    std::replace(matrix.begin(), matrix.end(), r.rows, read[1]);
    auto sides = projected;
    std::replace(sides.begin(), sides.end(), q.columns, k);
    auto aggregated = joined(read, {k});
    if (right.size() > 1) aggregated.push_back(right[1]);
    return finish({r.vertex, seen}, {.inputs = {std::move(matrix), std::move(sides)},
                                     .output = einsum.output,
                                     .aggregated = aggregated,
                                     .expression = block_expression(2, joined(aggregated, result_core_of(einsum))),
                                     .aggregate = Aggregate::Block,
                                     .block = einsum.block});
  }

  // The pseudo-inverse is that of R times Q^H; that of A^T is its transpose.
  VertexId pseudo_inverse() {
    const auto& einsum = vertex_.einsum;
    const auto result = result_core_of(einsum);
    auto [q, r] = qr_of_argument();
    const auto of_rows = is_wide_ ? result[0] : result[1];
    const auto of_columns = is_wide_ ? result[1] : result[0];
    const auto inverse =
        block(BlockOp::PseudoInverse, {r.vertex, r.labels, r.columns, r.rows}, joined(batch_, {of_columns, q.columns}));
    std::replace(q.labels.begin(), q.labels.end(), q.rows, of_rows);
    return finish({q.vertex, inverse}, {.inputs = {q.labels, graph_.vertex(inverse).einsum.output},
                                        .output = einsum.output,
                                        .aggregated = {q.columns},
                                        .expression = product_with(conjugated(0), 1),
                                        .aggregate = Aggregate::Sum});
  }

 private:
  // Of the first argument, or of its transpose, whichever has more rows.
  Factors qr_of_argument() {
    const auto& einsum = vertex_.einsum;
    const auto core = core_of(einsum, 0);
    const Matrix matrix{vertex_.inputs[0], einsum.inputs[0], core[is_wide_ ? 1 : 0], core[is_wide_ ? 0 : 1]};
    return qr(matrix, batch_, row_blocks_.rows(extent(matrix.rows), extent(matrix.columns), vertex_.compute_dtype));
  }

  // If A^T = Q R, A x = R^T z with x = CONJ(Q) z, which is as long as z.
  VertexId least_solution(const Matrix& q, const Matrix& r) {
    const auto& einsum = vertex_.einsum;
    const auto right = core_of(einsum, 1);
    auto result = result_core_of(einsum);
    const auto solution = result[0];
    const auto between = fresh(q.columns);
    result[0] = between;
    const Labels read{fresh(r.rows), fresh(r.columns)};
    auto matrix = r.labels;
    std::replace(matrix.begin(), matrix.end(), r.rows, read[0]);
    std::replace(matrix.begin(), matrix.end(), r.columns, read[1]);
    auto output = einsum.output;
    std::replace(output.begin(), output.end(), solution, between);
    const auto aggregated = joined(read, right);
    const auto solved =
        add({r.vertex, vertex_.inputs[1]}, {.inputs = {std::move(matrix), einsum.inputs[1]},
                                            .output = output,
                                            .aggregated = aggregated,
                                            .expression = block_expression(2, joined(aggregated, result)),
                                            .aggregate = Aggregate::Block,
                                            .block = einsum.block});
    auto turned = q.labels;
    std::replace(turned.begin(), turned.end(), q.rows, solution);
    std::replace(turned.begin(), turned.end(), q.columns, between);
    return finish({q.vertex, solved}, {.inputs = {std::move(turned), std::move(output)},
                                       .output = einsum.output,
                                       .aggregated = {between},
                                       .expression = product_with(conjugated(0), 1),
                                       .aggregate = Aggregate::Sum});
  }

  VertexId conjugate_of(const Matrix& matrix) {
    if (!is_complex(vertex_.compute_dtype)) return matrix.vertex;
    return add({matrix.vertex}, {.inputs = {matrix.labels},
                                 .output = matrix.labels,
                                 .aggregated = {},
                                 .expression = conjugated(0),
                                 .aggregate = Aggregate::None});
  }

  // An operand, conjugated where it is complex.
  ScalarPtr conjugated(std::size_t operand) const {
    auto value = ScalarExpression::operand(operand);
    return is_complex(vertex_.compute_dtype) ? ScalarExpression::call(ScalarOp::Conj, {std::move(value)}) : value;
  }
  static ScalarPtr product_with(ScalarPtr factor, std::size_t operand) {
    return ScalarExpression::call(ScalarOp::Multiply, {std::move(factor), ScalarExpression::operand(operand)});
  }
  // The vertex that stands in the place of the one that is taken apart.
  VertexId finish(std::vector<VertexId> inputs, EinSum einsum) {
    auto made = make_vertex(graph_, vertex_.name, std::move(inputs), std::move(einsum), vertex_.compute_dtype);
    made.dtype = vertex_.dtype;
    return graph_.add(std::move(made));
  }

  std::int64_t extent(Label label) const { return graph_.labels().extent(label); }
  const std::string& name_of(Label label) const { return graph_.labels().name(label); }
  Label fresh(Label like) { return graph_.labels().add(std::string(name_of(like)), extent(like)); }
  VertexId add(std::vector<VertexId> inputs, EinSum einsum) {
    return graph_.add(
        make_vertex(graph_, names_.next(vertex_.name), std::move(inputs), std::move(einsum), vertex_.compute_dtype));
  }

  VertexId block(BlockOp op, const Matrix& a, Labels output) {
    const Labels read{fresh(a.rows), fresh(a.columns)};
    auto labels = a.labels;
    std::replace(labels.begin(), labels.end(), a.rows, read[0]);
    std::replace(labels.begin(), labels.end(), a.columns, read[1]);
    auto core = read;
    for (const auto label : output)
      if (!contains(labels, label)) core.push_back(label);
    return add({a.vertex}, {.inputs = {std::move(labels)},
                            .output = std::move(output),
                            .aggregated = read,
                            .expression = block_expression(1, core),
                            .aggregate = Aggregate::Block,
                            .block = BlockFunction{.op = op}});
  }

  // The rows from `first` on of what a function has put below each other, as many as `rows` has indices.
  Matrix taken(VertexId packed, Label stacked, std::int64_t first, Label rows) {
    const auto labels = graph_.vertex(packed).einsum.output;
    auto output = labels;
    std::replace(output.begin(), output.end(), stacked, rows);
    const auto made = add({packed}, {.inputs = {labels},
                                     .output = output,
                                     .aggregated = {stacked},
                                     .expression = operand_where(stacked, label_plus(rows, first)),
                                     .aggregate = Aggregate::Sum});
    return {made, output, rows, output.back()};
  }

  Matrix product(const Matrix& a, const Matrix& b, Labels output) {
    auto factors =
        ScalarExpression::call(ScalarOp::Multiply, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
    const auto made = add({a.vertex, b.vertex}, {.inputs = {a.labels, b.labels},
                                                 .output = output,
                                                 .aggregated = {a.columns},
                                                 .expression = std::move(factors),
                                                 .aggregate = Aggregate::Sum});
    return {made, output, a.rows, output.back()};
  }

  // first * size + second, where size is the number of rows of one block.
  static ScalarPtr numbered(Label first, std::int64_t size, Label second) {
    auto blocks = ScalarExpression::call(ScalarOp::Multiply,
                                         {ScalarExpression::integer(size), ScalarExpression::label_index(first)});
    return ScalarExpression::call(ScalarOp::Add, {std::move(blocks), ScalarExpression::label_index(second)});
  }

  // In blocks of so many rows; 0: whole.
  Factors qr(const Matrix& a, const Labels& batch, std::int64_t rows) {
    if (rows == 0) return whole_qr(a, batch);

    const auto n = extent(a.columns);
    const auto b = graph_.labels().add("block", ceil_divide(extent(a.rows), rows));
    const auto r = graph_.labels().add(std::string(name_of(a.rows)), rows);
    const auto in_blocks = joined(batch, {b, r, a.columns});
    const auto blocks = add({a.vertex}, {.inputs = {a.labels},
                                         .output = in_blocks,
                                         .aggregated = {a.rows},
                                         .expression = operand_where(a.rows, numbered(b, rows, r)),
                                         .aggregate = Aggregate::Sum});
    const auto [q1, r1] = whole_qr({blocks, in_blocks, r, a.columns}, joined(batch, {b}));
    const auto k = q1.columns;
    // The factors R, one above the other.
    const auto t = graph_.labels().add("block_" + std::string(name_of(k)), checked_multiply(extent(b), n));
    const auto in_stack = joined(batch, {t, r1.rows});
    const auto stack = add({r1.vertex}, {.inputs = {r1.labels},
                                         .output = in_stack,
                                         .aggregated = {b, k},
                                         .expression = operand_where(t, numbered(b, n, k)),
                                         .aggregate = Aggregate::Sum});
    const auto [q2, r2] =
        qr({stack, in_stack, t, r1.rows}, batch, row_blocks_.rows_of_factors(extent(b), n, vertex_.compute_dtype));
    // The part of their Q that turns the columns of each block's.
    const auto last = q2.columns;
    const auto turning = joined(batch, {b, k, last});
    const auto turn = add({q2.vertex}, {.inputs = {q2.labels},
                                        .output = turning,
                                        .aggregated = {q2.rows},
                                        .expression = operand_where(q2.rows, numbered(b, n, k)),
                                        .aggregate = Aggregate::Sum});
    const auto turned = product(q1, {turn, turning, k, last}, joined(batch, {b, q1.rows, last}));
    const auto i = fresh(a.rows);
    const auto output = joined(batch, {i, last});
    const auto q = add({turned.vertex}, {.inputs = {turned.labels},
                                         .output = output,
                                         .aggregated = {b, q1.rows},
                                         .expression = operand_where(i, numbered(b, rows, q1.rows)),
                                         .aggregate = Aggregate::Sum});
    return {{q, output, i, last}, r2};
  }

  Factors whole_qr(const Matrix& a, const Labels& batch) {
    const auto m = extent(a.rows);
    const auto n = extent(a.columns);
    const auto stacked = graph_.labels().add(std::string(name_of(a.rows)), m + n);
    const auto between = graph_.labels().add("k", std::min(m, n));
    const auto packed = block(BlockOp::Qr, a, joined(batch, {stacked, between}));
    return {taken(packed, stacked, 0, fresh(a.rows)), taken(packed, stacked, m, fresh(a.columns))};
  }

  EinGraph& graph_;
  VertexNames& names_;
  const Vertex& vertex_;
  const RowBlocks& row_blocks_;
  Labels batch_;
  bool is_wide_ = false;  // the argument, which is then taken apart as its transpose
};

// Whether the vertex is taken apart: its argument has many more rows than columns, or the other way round.
bool is_tall(const EinGraph& graph, const Vertex& vertex, const RowBlocks& row_blocks) {
  if (!vertex.einsum.block) return false;
  const auto op = vertex.einsum.block->op;
  if (op != BlockOp::Qr && op != BlockOp::Svd && op != BlockOp::LeastSquares && op != BlockOp::PseudoInverse)
    return false;
  const auto core = core_of(vertex.einsum, 0);
  auto rows = graph.labels().extent(core[0]);
  auto columns = graph.labels().extent(core[1]);
  if (rows < columns && op != BlockOp::Qr) std::swap(rows, columns);
  return row_blocks.rows(rows, columns, vertex.compute_dtype) > 0;
}

}  // namespace

EinGraph factorise_tall(const EinGraph& graph, const PlanningTerms& terms) {
  const RowBlocks row_blocks(terms);
  if (std::none_of(graph.vertices().begin(), graph.vertices().end(),
                   [&](const Vertex& vertex) { return is_tall(graph, vertex, row_blocks); }))
    return graph;
  VertexNames names(graph);
  std::map<VertexId, PackedFactors> apart;
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    if (vertex.inputs.size() == 1)
      if (const auto found = apart.find(vertex.inputs.front()); found != apart.end())
        return reread(out, vertex, found->second);
    if (!is_tall(out, vertex, row_blocks)) return std::nullopt;
    TallFactors factors(out, names, vertex, row_blocks);
    if (vertex.einsum.block->op == BlockOp::LeastSquares) return factors.least_squares();
    if (vertex.einsum.block->op == BlockOp::PseudoInverse) return factors.pseudo_inverse();
    auto pieces = factors.pieces();
    const auto packed = factors.packed(pieces);
    apart.emplace(packed, PackedFactors{std::move(pieces), vertex.einsum.output, result_core_of(vertex.einsum)});
    return packed;
  });
}

}  // namespace eindb
