#include "optimizer/rewrites/long_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/checked_math.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/block_form.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tensor/scan_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kBlockOfLine = 1 << 14;
// Lines up to these are computed whole; of many ones some are computed at a time, so that they may be longer.
constexpr std::int64_t kLongestWhole = 1 << 18;
constexpr std::int64_t kLongestOfMany = 1 << 20;
constexpr double kManyLinesAtOnce = 16;

ScalarPtr call_to(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}
ScalarPtr at_label(Label label) { return ScalarExpression::label_index(label); }
ScalarPtr whole_number(std::int64_t value) { return ScalarExpression::integer(value); }
ScalarPtr is_same(ScalarPtr a, ScalarPtr b) { return call_to(ScalarOp::Equal, {std::move(a), std::move(b)}); }

Labels swapped(Labels labels, Label from, const Labels& to) {
  Labels out;
  for (const auto label : labels) {
    if (label != from) out.push_back(label);
    else out.insert(out.end(), to.begin(), to.end());
  }
  return out;
}

// The line of a vertex: the label that its operands have, that of the result, and which way it is taken.
struct Line {
  Label along;
  Label upto;
  bool forward;
  std::optional<ScanForm> scan;
};

std::optional<Line> line_of(const Vertex& vertex) {
  if (vertex.is_input() || vertex.einsum.epilogue != nullptr) return std::nullopt;
  const auto& einsum = vertex.einsum;
  if (einsum.block) {
    if (!is_recurrence(einsum.block->op)) return std::nullopt;
    return Line{einsum.aggregated.front(), result_core_of(einsum).front(), !einsum.block->descending, std::nullopt};
  }
  const auto scan = scan_form(einsum, vertex.compute_dtype);
  if (!scan) return std::nullopt;
  return Line{scan->along, scan->upto, scan->forward, scan};
}

bool is_long(const LabelTable& labels, const Vertex& vertex, const Line& line) {
  const auto extent = labels.extent(line.upto);
  if (extent != labels.extent(line.along)) return false;
  double lines = 1;
  for (const auto label : vertex.einsum.output)
    if (label != line.upto) lines *= static_cast<double>(labels.extent(label));
  // A scan has more than one thread only in blocks; a recurrence takes twice its time in them.
  return extent > (line.scan && lines < kManyLinesAtOnce ? kLongestWhole : kLongestOfMany);
}

// Takes one vertex apart.
class LongLine {
 public:
  LongLine(EinGraph& graph, VertexNames& names, const Vertex& vertex, const Line& line)
      : graph_(graph),
        names_(names),
        vertex_(vertex),
        line_(line),
        extent_(graph.labels().extent(line.upto)),
        compute_(vertex.compute_dtype),
        batch_(difference(vertex.einsum.output, {line.upto})) {
    const auto count = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent_ / kBlockOfLine)));
    size_ = ceil_divide(extent_, count);
    count_ = ceil_divide(extent_, size_);
    // The block that is taken last is filled up at its end, where nothing follows.
    filled_ = line_.forward ? 0 : count_ * size_ - extent_;
    block_ = fresh("block", count_);
    place_ = fresh(std::string(graph.labels().name(line.upto)), size_);
    blocks_ = batch_;
    blocks_.push_back(block_);
    cells_ = blocks_;
    cells_.push_back(place_);
  }

  VertexId scanned() {
    const auto& einsum = vertex_.einsum;
    const auto values = in_blocks(vertex_.inputs.front(), einsum.inputs.front());
    // Of whole blocks, of those before each block, and inside of them.
    const auto totals = add({values}, {.inputs = {cells_},
                                       .output = blocks_,
                                       .aggregated = {place_},
                                       .expression = ScalarExpression::operand(0),
                                       .aggregate = einsum.aggregate,
                                       .user = einsum.user});
    const auto before = scan_of(totals, blocks_, block_, false);
    const auto inside = scan_of(values, cells_, place_, line_.scan->inclusive);
    const auto joined = add({before, inside}, {.inputs = {blocks_, cells_},
                                               .output = cells_,
                                               .aggregated = {},
                                               .expression = combined(line_.forward ? 0 : 1)});
    return in_line(joined);
  }

  VertexId recurring() {
    const auto& einsum = vertex_.einsum;
    const auto x = in_blocks(vertex_.inputs[0], einsum.inputs[0]);
    const bool is_constant = !contains(einsum.inputs[1], line_.along);
    const auto batch_of_a = difference(einsum.inputs[1], {line_.along});
    const auto a_labels = is_constant ? batch_of_a : with(batch_of_a, {block_, place_});
    const auto a =
        is_constant ? copy(vertex_.inputs[1], batch_of_a) : in_blocks(vertex_.inputs[1], einsum.inputs[1], batch_of_a);
    // The values of blocks that begin with nothing, and the last of each.
    const auto alone = recurrence(x, cells_, a, a_labels, cells_, place_);
    const auto last = line_.forward ? size_ - 1 : 0;
    auto ends = at_place(alone, cells_, blocks_, last);
    // Their products take the value before a block into it, and to its end.
    const auto entered_labels = is_constant ? batch_of_a : with(batch_of_a, {block_});
    const auto entered = is_constant ? a : entering(batch_of_a);
    const auto factors = is_of_user() ? users_factors(a, a_labels, entered, entered_labels, last)
                                      : factors_of_blocks(a, a_labels, entered, entered_labels);
    const auto wide = compute_ == DType::Float32 && !is_of_user() ? DType::Float64 : compute_;
    if (wide != compute_)
      ends = add({ends},
                 {.inputs = {blocks_},
                  .output = blocks_,
                  .aggregated = {},
                  .expression = call_to(conversion_to(wide), {ScalarExpression::operand(0)})},
                 wide);
    auto ended = recurrence(ends, blocks_, factors, entered_labels, blocks_, block_, wide);
    ended = moved(ended, blocks_, line_.forward ? -1 : 1);
    // And then with what comes before them.
    auto taken = joined_by_step(by_factor(ScalarExpression::operand(2), to_compute(ScalarExpression::operand(1), wide)),
                                ScalarExpression::operand(0));
    const auto edge = line_.forward ? std::pair(std::int64_t{0}, std::int64_t{0}) : std::pair(size_ - 1, count_ - 1);
    auto is_edge = call_to(ScalarOp::And, {is_same(at_label(place_), whole_number(edge.first)),
                                           call_to(ScalarOp::NotEqual, {at_label(block_), whole_number(edge.second)})});
    const auto begun = add(
        {x, ended, entered},
        {.inputs = {cells_, blocks_, entered_labels},
         .output = cells_,
         .aggregated = {},
         .expression = call_to(ScalarOp::Case, {std::move(is_edge), std::move(taken), ScalarExpression::operand(0)})});
    return in_line(recurrence(begun, cells_, a, a_labels, cells_, place_));
  }

 private:
  Label fresh(std::string name, std::int64_t extent) { return graph_.labels().add(std::move(name), extent); }
  Label like(Label label) { return fresh(std::string(graph_.labels().name(label)), graph_.labels().extent(label)); }
  static Labels with(Labels labels, const Labels& more) {
    labels.insert(labels.end(), more.begin(), more.end());
    return labels;
  }
  VertexId add(std::vector<VertexId> inputs, EinSum einsum, std::optional<DType> type = {}) {
    return graph_.add(
        make_vertex(graph_, names_.next(vertex_.name), std::move(inputs), std::move(einsum), type ? *type : compute_));
  }

  static ScalarPtr where_is(Label label, ScalarPtr index) {
    return call_to(ScalarOp::Case,
                   {is_same(at_label(label), std::move(index)), ScalarExpression::operand(0), whole_number(0)});
  }
  // The index in the line, where the first block begins with what it is filled up with.
  ScalarPtr index_in_line() const {
    auto index = call_to(ScalarOp::Multiply, {whole_number(size_), at_label(block_)});
    index = call_to(ScalarOp::Add, {std::move(index), at_label(place_)});
    return filled_ == 0 ? index : call_to(ScalarOp::Subtract, {std::move(index), whole_number(filled_)});
  }

  // X'[p,q] = X[(p,q)], with the labels `batch` before them.
  VertexId in_blocks(VertexId values, const Labels& labels, const Labels& batch) {
    if (!contains(labels, line_.along))
      return add({values}, {.inputs = {labels},
                            .output = with(batch, {block_, place_}),
                            .aggregated = {},
                            .expression = ScalarExpression::operand(0)});
    return add({values}, {.inputs = {labels},
                          .output = with(batch, {block_, place_}),
                          .aggregated = {line_.along},
                          .expression = where_is(line_.along, index_in_line()),
                          .aggregate = Aggregate::Sum});
  }
  VertexId in_blocks(VertexId values, const Labels& labels) { return in_blocks(values, labels, batch_); }
  VertexId copy(VertexId values, const Labels& labels) {
    if (graph_.vertex(values).dtype == compute_) return values;
    return add({values},
               {.inputs = {labels}, .output = labels, .aggregated = {}, .expression = ScalarExpression::operand(0)});
  }

  // Z[(p,q)] = Z'[p,q], in the place of the vertex.
  VertexId in_line(VertexId values) {
    EinSum einsum{.inputs = {cells_},
                  .output = vertex_.einsum.output,
                  .aggregated = {block_, place_},
                  .expression = where_is(line_.upto, index_in_line()),
                  .aggregate = Aggregate::Sum};
    auto made = make_vertex(graph_, vertex_.name, {values}, std::move(einsum), compute_);
    made.dtype = vertex_.dtype;
    return graph_.add(std::move(made));
  }

  // The same scan along another label.
  VertexId scan_of(VertexId values, const Labels& labels, Label upto, bool inclusive) {
    const auto along = like(upto);
    const auto op = inclusive ? (line_.forward ? ScalarOp::LessEqual : ScalarOp::GreaterEqual)
                              : (line_.forward ? ScalarOp::Less : ScalarOp::Greater);
    auto is_before = call_to(op, {at_label(along), at_label(upto)});
    return add({values}, {.inputs = {swapped(labels, upto, {along})},
                          .output = labels,
                          .aggregated = {along},
                          .expression = call_to(ScalarOp::Case, {std::move(is_before), ScalarExpression::operand(0),
                                                                 vertex_.einsum.expression->arguments()[2]}),
                          .aggregate = vertex_.einsum.aggregate,
                          .user = vertex_.einsum.user});
  }

  static ScalarPtr log_add_exp(const ScalarPtr& a, const ScalarPtr& b) {
    const auto greatest = call_to(ScalarOp::Greatest, {a, b});
    const auto is_infinite =
        is_same(call_to(ScalarOp::Abs, {greatest}), ScalarExpression::real(std::numeric_limits<double>::infinity()));
    const auto share = [&](const ScalarPtr& of) {
      return call_to(ScalarOp::Exp, {call_to(ScalarOp::Subtract, {of, greatest})});
    };
    const auto sum = call_to(ScalarOp::Log, {call_to(ScalarOp::Add, {share(a), share(b)})});
    return call_to(ScalarOp::Case, {is_infinite, greatest, call_to(ScalarOp::Add, {greatest, sum})});
  }

  // The aggregate of two, of which operand `first` comes first.
  ScalarPtr combined(std::size_t first) const {
    const auto a = ScalarExpression::operand(first);
    const auto b = ScalarExpression::operand(1 - first);
    switch (vertex_.einsum.aggregate) {
      case Aggregate::Sum: return call_to(ScalarOp::Add, {a, b});
      case Aggregate::Prod: return call_to(ScalarOp::Multiply, {a, b});
      case Aggregate::Min: return call_to(ScalarOp::Least, {a, b});
      case Aggregate::Max: return call_to(ScalarOp::Greatest, {a, b});
      case Aggregate::LogSumExp: return log_add_exp(a, b);
      default: break;
    }
    CHECK(vertex_.einsum.user != nullptr, "a scan is of an aggregate");
    return of_two(typed_combination(*vertex_.einsum.user, compute_), a, b);
  }

  // ---- Recurrences

  bool is_sum() const { return vertex_.einsum.block->op == BlockOp::SumRecurrence; }
  bool is_of_user() const { return vertex_.einsum.block->op == BlockOp::UserRecurrence; }
  static ScalarPtr of_two(const ScalarPtr& typed, const ScalarPtr& a, const ScalarPtr& b) {
    return substitute_operands(typed, [&](std::size_t n) { return n == 0 ? a : b; });
  }
  // The state at the end of the blocks before, combined with the factor as the recurrence does.
  ScalarPtr by_factor(const ScalarPtr& factor, const ScalarPtr& before) const {
    if (is_of_user()) return of_two(recurrence_join(*vertex_.einsum.user, compute_).combination, factor, before);
    return call_to(is_sum() ? ScalarOp::Multiply : ScalarOp::Add, {factor, before});
  }
  ScalarPtr joined_by_step(const ScalarPtr& before, const ScalarPtr& value) const {
    switch (vertex_.einsum.block->op) {
      case BlockOp::SumRecurrence: return call_to(ScalarOp::Add, {before, value});
      case BlockOp::MaxRecurrence: return call_to(ScalarOp::Greatest, {before, value});
      case BlockOp::MinRecurrence: return call_to(ScalarOp::Least, {before, value});
      case BlockOp::UserRecurrence: return of_two(typed_combination(*vertex_.einsum.user, compute_), before, value);
      default: return log_add_exp(before, value);
    }
  }
  ScalarPtr to_compute(ScalarPtr value, DType from) const {
    return from == compute_ ? value : call_to(conversion_to(compute_), {std::move(value)});
  }

  VertexId recurrence(VertexId values, const Labels& labels, VertexId factors, const Labels& factor_labels,
                      const Labels& output, Label upto, std::optional<DType> type = {}) {
    return recurrence_of(vertex_.einsum.user, values, labels, factors, factor_labels, output, upto, type);
  }
  VertexId recurrence_of(const UserAggregatePtr& user, VertexId values, const Labels& labels, VertexId factors,
                         const Labels& factor_labels, const Labels& output, Label upto,
                         std::optional<DType> type = {}) {
    const auto along = like(upto);
    return add({values, factors},
               {.inputs = {swapped(labels, upto, {along}), swapped(factor_labels, upto, {along})},
                .output = output,
                .aggregated = {along},
                .expression = block_expression(2, {along, upto}),
                .aggregate = Aggregate::Block,
                .block = vertex_.einsum.block,
                .user = user},
               type);
  }

  // The values at one place of each block.
  VertexId at_place(VertexId values, const Labels& labels, const Labels& output, std::int64_t place) {
    return add({values}, {.inputs = {labels},
                          .output = output,
                          .aggregated = {place_},
                          .expression = where_is(place_, whole_number(place)),
                          .aggregate = Aggregate::Sum});
  }

  // The factors of a user's function o, which need not have a neutral one: p[t] = a[t] o p[t-1] is a recurrence of the
  // function that takes the first of two values, which distributes over any o, from the factor that enters the block
  // to the last place.
  VertexId users_factors(VertexId a, const Labels& a_labels, VertexId entered, const Labels& entered_labels,
                         std::int64_t last) {
    auto first = *vertex_.einsum.user;
    first.name = "the first of two";
    first.combination = ScalarExpression::operand(0);
    const auto over = with(entered_labels, {place_});
    const auto begun =
        add({entered},
            {.inputs = {entered_labels}, .output = over, .aggregated = {}, .expression = ScalarExpression::operand(0)});
    // A constant factor lacks the block, too.
    const auto products =
        recurrence_of(std::make_shared<const UserAggregate>(std::move(first)), begun, over, a, a_labels, over, place_);
    const auto made = at_place(products, over, entered_labels, last);
    return line_.forward || !contains(entered_labels, block_) ? made : moved(made, entered_labels, -1);
  }

  // The factor of the first value of each block, or backward of that behind its last one.
  VertexId entering(const Labels& batch) {
    auto index = call_to(ScalarOp::Multiply, {whole_number(size_), at_label(block_)});
    if (!line_.forward) index = call_to(ScalarOp::Add, {std::move(index), whole_number(size_ - filled_)});
    return add({vertex_.inputs[1]}, {.inputs = {vertex_.einsum.inputs[1]},
                                     .output = with(batch, {block_}),
                                     .aggregated = {line_.along},
                                     .expression = where_is(line_.along, std::move(index)),
                                     .aggregate = Aggregate::Sum});
  }

  // Backward the factor of block p takes the value of block p to that of p - 1, as recurrences have it.
  VertexId factors_of_blocks(VertexId a, const Labels& a_labels, VertexId entered, const Labels& entered_labels) {
    const auto wide = compute_ == DType::Float32 ? DType::Float64 : compute_;
    auto value = ScalarExpression::operand(0);
    if (wide != compute_) value = call_to(conversion_to(wide), {std::move(value)});
    auto inner = call_to(
        ScalarOp::Case, {is_same(at_label(place_), whole_number(0)), whole_number(is_sum() ? 1 : 0), std::move(value)});
    const auto inside = add({a},
                            {.inputs = {a_labels},
                             .output = entered_labels,
                             .aggregated = {place_},
                             .expression = std::move(inner),
                             .aggregate = is_sum() ? Aggregate::Prod : Aggregate::Sum},
                            wide);
    auto first = ScalarExpression::operand(1);
    if (wide != compute_) first = call_to(conversion_to(wide), {std::move(first)});
    auto all = call_to(is_sum() ? ScalarOp::Multiply : ScalarOp::Add, {ScalarExpression::operand(0), std::move(first)});
    if (is_sum() && wide == DType::Float64) {
      const auto most = std::numeric_limits<double>::max();
      all = call_to(ScalarOp::Least, {std::move(all), ScalarExpression::real(most)});
      all = call_to(ScalarOp::Greatest, {std::move(all), ScalarExpression::real(-most)});
    }
    const auto made = add({inside, entered},
                          {.inputs = {entered_labels, entered_labels},
                           .output = entered_labels,
                           .aggregated = {},
                           .expression = std::move(all)},
                          wide);
    return line_.forward || !contains(entered_labels, block_) ? made : moved(made, entered_labels, -1);
  }

  // The value `distance` blocks further; 0 where there is none.
  VertexId moved(VertexId values, const Labels& labels, std::int64_t distance) {
    const auto read = like(block_);
    auto index = call_to(ScalarOp::Add, {at_label(block_), whole_number(distance)});
    return add({values},
               {.inputs = {swapped(labels, block_, {read})},
                .output = labels,
                .aggregated = {read},
                .expression = where_is(read, std::move(index)),
                .aggregate = Aggregate::Sum},
               graph_.vertex(values).dtype);
  }

  EinGraph& graph_;
  VertexNames& names_;
  const Vertex& vertex_;
  Line line_;
  std::int64_t extent_;
  DType compute_;
  Labels batch_;
  std::int64_t size_ = 0;    // of a block
  std::int64_t count_ = 0;   // of blocks
  std::int64_t filled_ = 0;  // cells that the first block begins with
  Label block_;
  Label place_;
  Labels blocks_;  // the batch and the block
  Labels cells_;   // and the place in it
};

}  // namespace

EinGraph cut_long_lines(const EinGraph& graph) {
  const auto long_line = [&](const Vertex& vertex) {
    const auto line = line_of(vertex);
    return line && is_long(graph.labels(), vertex, *line) ? line : std::nullopt;
  };
  if (std::none_of(graph.vertices().begin(), graph.vertices().end(),
                   [&](const Vertex& vertex) { return long_line(vertex).has_value(); }))
    return graph;
  VertexNames names(graph);
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    const auto line = long_line(vertex);
    if (!line) return std::nullopt;
    LongLine apart(out, names, vertex, *line);
    return line->scan ? apart.scanned() : apart.recurring();
  });
}

}  // namespace eindb
