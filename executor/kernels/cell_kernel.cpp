#include "executor/kernels/cell_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/cell_nest.hpp"
#include "executor/kernels/cell_order.hpp"
#include "executor/kernels/cell_product.hpp"
#include "executor/kernels/cell_reduction.hpp"
#include "executor/kernels/cell_sink.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "tensor/scalar_types.hpp"

namespace eindb {
namespace {

EinSum with_cell_types(EinSum einsum, const LabelTable& labels, const std::vector<DType>& operand_types,
                       DType compute) {
  CHECK(operand_types.size() == einsum.inputs.size(), "a kernel knows the type of every operand");
  einsum.expression = with_types(einsum.expression, operand_types, labels, compute);
  return einsum;
}

bool is_finite_value(const ScalarValue& value) {
  return value.visit([](auto v) {
    if constexpr (std::is_integral_v<decltype(v)>) return true;
    else if constexpr (is_complex_type<decltype(v)>) return std::isfinite(v.real()) && std::isfinite(v.imag());
    else return std::isfinite(v);
  });
}

// Collects an expression as factor * operand * operand ...; false if it has another form.
bool collect_factors(const ScalarExpression& e, const std::vector<DType>& types, DType compute,
                     std::vector<std::size_t>& operands, ScalarValue& factor) {
  if (e.is_constant()) {
    factor = ScalarValue::apply(ScalarOp::Multiply, factor, ScalarValue::of(e));
    return is_finite_value(factor);
  }
  const bool is_converted = e.kind() == ScalarExpression::Kind::Call && converts_to(e.op()) == compute;
  const auto& operand = is_converted ? *e.arguments().front() : e;
  if (operand.kind() == ScalarExpression::Kind::Operand) {
    if (!is_converted && types[operand.operand()] != compute) return false;
    const bool is_new = std::find(operands.begin(), operands.end(), operand.operand()) == operands.end();
    operands.push_back(operand.operand());
    return is_new;
  }
  if (e.is_call(ScalarOp::Negate)) {
    factor = ScalarValue::apply(ScalarOp::Negate, factor);
    return collect_factors(*e.arguments().front(), types, compute, operands, factor);
  }
  if (!e.is_call(ScalarOp::Multiply)) return false;
  return std::all_of(e.arguments().begin(), e.arguments().end(),
                     [&](const auto& a) { return collect_factors(*a, types, compute, operands, factor); });
}

std::vector<std::byte> converted_values(std::span<const std::byte> values, DType from, DType to) {
  const auto count = static_cast<std::int64_t>(values.size() / size_of(from));
  std::vector<std::byte> result(static_cast<std::size_t>(count) * size_of(to));
  if (count > 0)
    preferred_level_table().of(to).move[slot_of(from)]({result.data(), 0, 1}, {values.data(), 0, 1}, 1, count);
  return result;
}

// The node of every coordinate of a trie's first level.
std::vector<std::int32_t> list_of_places(const CellTrie::Level& level, std::int64_t extent) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(extent), -1);
  for (std::size_t node = 0; node < level.coordinates.size(); ++node)
    places[level.coordinates[node]] = static_cast<std::int32_t>(node);
  return places;
}

bool has_list_of_places(std::int64_t nodes, std::int64_t extent) {
  constexpr std::int64_t kPlacesPerNode = 64;
  return nodes > 0 && extent <= kPlacesPerNode * nodes + 1024 && nodes < std::numeric_limits<std::int32_t>::max();
}

}  // namespace

// One call: it holds the order of the loops, the tries in that order, and the values converted to the compute type.
class CellKernel::Call {
 public:
  Call(const CellKernel& kernel, std::span<const Tile* const> operands, std::span<const PartRange> ranges,
       bool makes_cells)
      : kernel_(kernel),
        operands_(operands),
        ranges_(ranges),
        output_(kernel.sizes_of(kernel.einsum_.output, ranges)),
        output_strides_(label_strides(kernel.labels_, kernel.einsum_.output, output_)) {
    uses_product_ = (kernel_.product_ || kernel_.maps_values_) && kernel_.pattern_ != CellPattern::Union;
    makes_cells_ = makes_cells;
    order_ = choose_order(order_problem());
  }

  std::size_t workspace_bytes() const {
    std::size_t bytes = 0;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      const auto size = size_of(kernel_.operand_types_[n]);
      const auto& tile = *operands_[n];
      const bool is_converted =
          kernel_.maps_values_ ||
          (uses_product_ && (kernel_.operand_types_[n] != kernel_.compute_ || operands_.size() == 1));
      if (!kernel_.of_cells_[n]) {
        if (is_converted) bytes += static_cast<std::size_t>(tile.shape().element_count()) * size_of(kernel_.compute_);
        continue;
      }
      const auto count = static_cast<std::size_t>(tile.cells().count());
      const auto rank = tile.shape().rank();
      const auto extents = tile.shape().extents();
      // Sorting takes numbers or coordinates, and values twice, beside the new trie, and counts of some coordinates.
      if (trie_order(n) != tile.cells().trie().order || (makes_cells_ && operands_.size() == 1))
        bytes +=
            count * (16 * rank + 2 * sizeof(std::int64_t) + 3 * size) +
            sizeof(std::int64_t) * static_cast<std::size_t>(std::min(*std::max_element(extents.begin(), extents.end()),
                                                                     16 * tile.cells().count()));
      if (is_converted) bytes += count * size_of(kernel_.compute_);
      bytes += static_cast<std::size_t>(std::min<std::int64_t>(
                   *std::max_element(tile.shape().extents().begin(), tile.shape().extents().end()),
                   64 * tile.cells().count() + 1024)) *
               sizeof(std::int32_t);
    }
    if (makes_cells_)
      bytes += static_cast<std::size_t>(std::min(row_places(), kMostRowPlaces)) * (size_of(kernel_.compute_) + 1);
    if (kernel_.rest_ && (!makes_cells_ || reduces()))
      bytes += static_cast<std::size_t>(output_.element_count()) *
               (sizeof(std::int64_t) + (makes_cells_ ? size_of(kernel_.compute_) : 0));
    return bytes + static_cast<std::size_t>(PointExpression::kMostPoints) * 16 * (operands_.size() + 4);
  }

  void run(Tile& accumulator) {
    dispatch(kernel_.compute_, [&](auto t) {
      using T = typename decltype(t)::type;
      DenseSink<T> sink(accumulator.mutable_data<T>(), kernel_.einsum_.aggregate);
      run_into<T>(sink);
    });
  }

  // Whether the cells of the only operand are aggregated as they lie, and counted with it.
  bool reduces() const {
    constexpr std::int64_t kMostResultsPerCell = 8;
    return kernel_.rest_ && (kernel_.product_ || kernel_.maps_values_) &&
           (!makes_cells_ || output_.element_count() <= kMostResultsPerCell * operands_.front()->cells().count());
  }

  // Aggregates them into `values`, one for each result, and adds their numbers to `counts`.
  template <class T>
  void reduce(T* values, std::int64_t* counts) {
    const auto& trie = operands_.front()->cells().trie();
    const auto aggregate = kernel_.einsum_.aggregate;
    std::vector<std::int64_t> strides;
    for (const auto label : input(0)) strides.push_back(output_strides_[kernel_.place_of(label)]);
    const auto* from = trie.template values_as<T>();
    std::vector<std::byte> mapped;
    if (!is_plain_operand()) {
      mapped = mapped_values(trie.values);
      from = reinterpret_cast<const T*>(mapped.data());
    }
    const bool is_extreme = aggregate == Aggregate::Min || aggregate == Aggregate::Max;
    const auto fold = preferred_level_table().of(kernel_.compute_).along[slot_of(aggregate)];
    CellReduction<T>(trie, from, std::move(strides), aggregate, is_extreme ? fold : nullptr, values, counts).run();
  }

  // Adds the number of cells of each result.
  void count_cells(Tile& accumulator) {
    std::vector<std::vector<std::int64_t>> ones;
    prepare_nest();
    std::vector<const std::int64_t*> values;
    for (const auto* trie : nest_.tries) {
      ones.emplace_back(static_cast<std::size_t>(trie->count()), 1);
      values.push_back(ones.back().data());
    }
    DenseSink<std::int64_t> sink(accumulator.mutable_data<std::int64_t>(), Aggregate::Sum);
    ProductJoin<std::int64_t, DenseSink<std::int64_t>>(nest_, preferred_level_table().of(DType::Int64).cells,
                                                       std::move(values), {}, true, sink)
        .run(1);
  }

  CellBlock make_cells() {
    return dispatch(kernel_.compute_, [&](auto t) {
      using T = typename decltype(t)::type;
      if (reduces()) return reduced_cells<T>();
      if (auto cells = mapped_cells<T>()) return std::move(*cells);
      auto sink = sink_of_cells<T>(kernel_.einsum_.aggregate);
      run_into<T>(sink);
      if (kernel_.rest_) return with_rest<T>(sink.take(kernel_.compute_));
      return sink.take(kernel_.compute_);
    });
  }

 private:
  using Mode = CellSink<double>::Mode;

  Mode mode() const {
    if (order_.leading == output_.rank()) return Mode::Ascending;
    return row_places() <= kMostRowPlaces ? Mode::Places : Mode::Hashed;
  }
  std::int64_t row_places() const {
    std::int64_t places = 1;
    for (auto d = order_.leading; d < output_.rank(); ++d) places = checked_multiply(places, output_[d]);
    return places;
  }
  // The most cells that the result has, by operands that have all its labels; 0 if there are none.
  std::int64_t most_cells() const {
    std::int64_t most = 0;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      if (!kernel_.of_cells_[n]) continue;
      const bool has_all = difference(kernel_.einsum_.output, input(n)).empty();
      const auto count = operands_[n]->cells().count();
      if (kernel_.pattern_ == CellPattern::Union) {
        if (!has_all) return 0;
        most += count;
      } else if (has_all) {
        most = most == 0 ? count : std::min(most, count);
      }
    }
    return most;
  }
  template <class T>
  CellSink<T> sink_of_cells(Aggregate aggregate) const {
    return {output_,
            static_cast<typename CellSink<T>::Mode>(mode()),
            row_places(),
            aggregate,
            kernel_.rest_.has_value(),
            most_cells()};
  }

  // The cells of the only operand in another order of dimensions, with the expression's values; nullopt if the result
  // is another one, or some are +0.
  template <class T>
  std::optional<CellBlock> mapped_cells() {
    if (operands_.size() != 1 || !uses_product_) return std::nullopt;
    if (kernel_.einsum_.aggregate != Aggregate::None || output_.rank() != input(0).size()) return std::nullopt;
    std::vector<std::size_t> order;
    for (const auto label : kernel_.einsum_.output) {
      const auto place = std::find(input(0).begin(), input(0).end(), label) - input(0).begin();
      if (std::cmp_equal(place, input(0).size())) return std::nullopt;
      order.push_back(static_cast<std::size_t>(place));
    }
    const auto& block = operands_.front()->cells();
    const auto& from = block.trie();
    std::vector<std::byte> mapped;
    if (!is_plain_operand()) mapped = mapped_values(from.values);
    const auto* values = is_plain_operand() ? from.template values_as<T>() : reinterpret_cast<const T*>(mapped.data());
    if (std::any_of(values, values + from.count(), CellSink<T>::is_plus_zero)) return std::nullopt;
    if (is_plain_operand()) return CellBlock(kernel_.compute_, output_, as_natural(block.in_order(std::move(order))));
    CellTrie trie{from.order, from.levels, std::move(mapped)};
    if (order != from.order)
      trie = CellBlock(kernel_.compute_, block.shape(), std::move(trie)).in_order(std::move(order));
    return CellBlock(kernel_.compute_, output_, as_natural(std::move(trie)));
  }

  // With its levels as the dimensions of another block.
  static CellTrie as_natural(CellTrie trie) {
    for (std::size_t level = 0; level < trie.order.size(); ++level) trie.order[level] = level;
    return trie;
  }

  // Whether the expression's values are those of the only operand.
  bool is_plain_operand() const {
    return kernel_.einsum_.expression->kind() == ScalarExpression::Kind::Operand &&
           kernel_.operand_types_.front() == kernel_.compute_;
  }

  template <class T>
  CellBlock reduced_cells() {
    const auto count = static_cast<std::size_t>(output_.element_count());
    std::vector<T> results(count, identity_of<T>(kernel_.einsum_.aggregate));
    std::vector<std::int64_t> counts(count, 0);
    reduce<T>(results.data(), counts.data());
    const auto all = kernel_.points_of_a_result(ranges_);
    const auto rest = kernel_.rest_->template as<T>();
    CellSink<T> sink(output_, CellSink<T>::Mode::Ascending, 1, Aggregate::None, false, 0);
    for (std::size_t n = 0; n < count; ++n) {
      if (counts[n] == 0) continue;
      sink.add(static_cast<std::int64_t>(n),
               counts[n] < all ? aggregated_value(kernel_.einsum_.aggregate, results[n], rest) : results[n]);
    }
    return sink.take(kernel_.compute_);
  }

  template <class T>
  CellBlock with_rest(const CellBlock& cells) {
    std::vector<std::vector<std::int64_t>> ones;
    std::vector<const std::int64_t*> counted;
    for (const auto* trie : nest_.tries) {
      ones.emplace_back(static_cast<std::size_t>(trie->count()), 1);
      counted.push_back(ones.back().data());
    }
    auto sink = sink_of_cells<std::int64_t>(Aggregate::Sum);
    ProductJoin<std::int64_t, CellSink<std::int64_t>>(nest_, preferred_level_table().of(DType::Int64).cells,
                                                      std::move(counted), {}, true, sink)
        .run(1);
    const auto counts = sink.take(DType::Int64);
    CHECK(counts.count() == cells.count(), "cells are counted where there are some");
    const auto all = kernel_.points_of_a_result(ranges_);
    const auto rest = kernel_.rest_->template as<T>();
    const auto* value = cells.trie().values_as<T>();
    const auto* count = counts.trie().values_as<std::int64_t>();
    auto numbers = cells.numbers();
    std::vector<std::byte> values(numbers.size() * sizeof(T));
    std::size_t kept = 0;
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      const auto sum = count[n] < all ? aggregated_value(kernel_.einsum_.aggregate, value[n], rest) : value[n];
      if (CellSink<T>::is_plus_zero(sum)) continue;
      numbers[kept] = numbers[n];
      std::memcpy(values.data() + kept++ * sizeof(T), &sum, sizeof(T));
    }
    numbers.resize(kept);
    values.resize(kept * sizeof(T));
    return CellBlock::of_numbers(kernel_.compute_, output_, numbers, std::move(values));
  }

  const Labels& input(std::size_t n) const { return kernel_.einsum_.inputs[n]; }
  std::int64_t extent(std::size_t place) const { return ranges_[place].size; }

  OrderProblem order_problem() const {
    OrderProblem problem;
    problem.takes_union = kernel_.pattern_ == CellPattern::Union;
    problem.makes_cells = makes_cells_;
    for (const auto& range : ranges_) problem.extents.push_back(static_cast<double>(range.size));
    for (const auto label : kernel_.einsum_.output) problem.output.push_back(kernel_.place_of(label));
    problem.run_costs.assign(ranges_.size(), 0.15);
    for (std::size_t place = 0; place < ranges_.size(); ++place)
      if (output_strides_[place] > 1) problem.run_costs[place] = 0.6;
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      if (kernel_.of_cells_[n]) {
        OrderProblem::Trie trie;
        for (const auto& level : operands_[n]->cells().trie().levels)
          trie.nodes.push_back(static_cast<double>(level.coordinates.size()));
        for (const auto label : input(n)) trie.labels.push_back(kernel_.place_of(label));
        problem.tries.push_back(std::move(trie));
      } else {
        const auto strides = label_strides(kernel_.labels_, input(n), operands_[n]->shape());
        for (std::size_t place = 0; place < ranges_.size(); ++place)
          if (strides[place] > 1) problem.run_costs[place] = 2.5;
      }
    }
    return problem;
  }

  // The dimensions of an operand of cells in the order of the loops.
  std::vector<std::size_t> trie_order(std::size_t n) const {
    std::vector<std::size_t> order;
    for (const auto place : order_.labels)
      for (std::size_t d = 0; d < input(n).size(); ++d)
        if (kernel_.place_of(input(n)[d]) == place) order.push_back(d);
    return order;
  }

  bool is_used(std::size_t n) const {
    if (!uses_product_ || kernel_.of_cells_[n]) return true;
    const auto& used = kernel_.product_->operands;
    return std::find(used.begin(), used.end(), n) != used.end();
  }

  void prepare_nest() {
    nest_.row_level = order_.leading;
    for (const auto place : order_.labels) {
      nest_.levels.push_back({.label = place,
                              .extent = extent(place),
                              .begin = ranges_[place].begin,
                              .output_stride = output_strides_[place],
                              .tries = {},
                              .dense = {}});
    }
    tries_.reserve(operands_.size());
    places_.reserve(operands_.size());
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      if (!is_used(n)) continue;
      if (kernel_.of_cells_[n]) add_trie(n);
      else add_dense(n);
    }
    add_lists_of_places();
  }

  void add_trie(std::size_t n) {
    const auto& block = operands_[n]->cells();
    auto order = trie_order(n);
    const auto* trie = &block.trie();
    if (order != trie->order) {
      tries_.push_back(std::make_unique<CellTrie>(block.in_order(std::move(order))));
      trie = tries_.back().get();
    }
    std::size_t depth = 0;
    for (auto& level : nest_.levels) {
      if (!contains(input(n), kernel_.labels_[level.label])) continue;
      const auto& at = trie->levels[depth];
      const bool is_last = ++depth == trie->levels.size();
      level.tries.push_back({.trie = nest_.tries.size(),
                             .is_last = is_last,
                             .is_first = depth == 1,
                             .coordinates = at.coordinates.data(),
                             .begins = is_last ? nullptr : at.begins.data(),
                             .places = nullptr});
    }
    nest_.tries.push_back(trie);
    trie_operands_.push_back(n);
  }

  void add_dense(std::size_t n) {
    const auto strides = label_strides(kernel_.labels_, input(n), operands_[n]->shape());
    std::optional<std::size_t> last;
    for (std::size_t number = 0; number < nest_.levels.size(); ++number) {
      auto& level = nest_.levels[number];
      if (!contains(input(n), kernel_.labels_[level.label])) continue;
      level.dense.push_back({.dense = nest_.dense_count, .stride = strides[level.label], .is_last = false});
      last = number;
    }
    if (last) nest_.levels[*last].dense.back().is_last = true;
    ++nest_.dense_count;
    dense_operands_.push_back(n);
  }

  void add_lists_of_places() {
    for (auto& level : nest_.levels) {
      if (level.tries.size() < 2 || kernel_.pattern_ == CellPattern::Union) continue;
      for (auto& step : level.tries) {
        const auto& first = nest_.tries[step.trie]->levels.front();
        const auto nodes = static_cast<std::int64_t>(first.coordinates.size());
        if (!step.is_first || !has_list_of_places(nodes, level.extent)) continue;
        places_.push_back(list_of_places(first, level.extent));
        step.places = places_.back().data();
      }
    }
  }

  // Labels that nothing depends on: a factor of the sum, or nodes that need not be told apart.
  ScalarValue take_out_levels() {
    ScalarValue factor(std::int64_t{1}, kernel_.compute_);
    std::erase_if(nest_.levels, [&](const CellNest::Level& level) {
      const bool is_factor = kernel_.einsum_.aggregate == Aggregate::Sum && level.tries.empty() &&
                             level.dense.empty() && level.output_stride == 0;
      if (is_factor)
        factor = ScalarValue::apply(ScalarOp::Multiply, factor, ScalarValue(level.extent, kernel_.compute_));
      return is_factor;
    });
    skip_levels();
    return factor;
  }

  void skip_levels() {
    for (std::size_t number = 0; number + 1 < nest_.levels.size(); ++number) {
      auto& level = nest_.levels[number];
      const auto& next = nest_.levels[number + 1];
      level.is_skipped = level.tries.size() == 1 && level.dense.empty() && level.output_stride == 0 &&
                         !level.tries.front().is_last && next.tries.size() == 1 &&
                         next.tries.front().trie == level.tries.front().trie;
    }
  }

  template <class T, class Sink>
  void run_into(Sink& sink) {
    prepare_nest();
    if (uses_product_) return run_product<T>(sink);
    if (kernel_.points_.numbers().empty()) skip_levels();
    run_points<T>(sink);
  }

  template <class T, class Sink>
  void run_product(Sink& sink) {
    const auto constant = kernel_.product_ ? kernel_.product_->factor : ScalarValue(std::int64_t{1}, kernel_.compute_);
    auto factor = ScalarValue::apply(ScalarOp::Multiply, constant, take_out_levels()).template as<T>();
    std::vector<std::vector<std::byte>> converted;
    converted.reserve(operands_.size());
    const auto values_of = [&](std::size_t n, std::span<const std::byte> values) {
      const auto type = kernel_.operand_types_[n];
      if (kernel_.maps_values_) converted.push_back(mapped_values(values));
      else if (type == kernel_.compute_) return reinterpret_cast<const T*>(values.data());
      else converted.push_back(converted_values(values, type, kernel_.compute_));
      return reinterpret_cast<const T*>(converted.back().data());
    };
    std::vector<const T*> values;
    for (std::size_t t = 0; t < nest_.tries.size(); ++t)
      values.push_back(values_of(trie_operands_[t], nest_.tries[t]->values));
    std::vector<const T*> dense;
    for (const auto n : dense_operands_) {
      dense.push_back(values_of(n, operands_[n]->bytes()));
      if (input(n).empty()) factor = product_of_cells(factor, *dense.back());
    }
    ProductJoin<T, Sink>(nest_, preferred_level_table().of(kernel_.compute_).cells, std::move(values), std::move(dense),
                         kernel_.einsum_.aggregate == Aggregate::Sum, sink)
        .run(factor);
  }

  // The values of the expression for those of the only operand.
  std::vector<std::byte> mapped_values(std::span<const std::byte> values) const {
    const auto from = size_of(kernel_.operand_types_.front());
    const auto to = size_of(kernel_.compute_);
    const auto count = values.size() / from;
    constexpr auto kPoints = static_cast<std::size_t>(PointExpression::kMostPoints);
    std::vector<std::byte> mapped(count * to);
    for (std::size_t n = 0; n < count; n += kPoints) {
      const auto part = std::min(kPoints, count - n);
      const auto* column = values.data() + n * from;
      kernel_.points_.evaluate(std::span(&column, 1), static_cast<std::int64_t>(part), mapped.data() + n * to);
      poll_cancellation_after(part);
    }
    return mapped;
  }

  template <class T, class Sink>
  void run_points(Sink& sink) {
    std::vector<PointJoin::Source> sources(operands_.size());
    for (std::size_t t = 0; t < nest_.tries.size(); ++t)
      sources[trie_operands_[t]] = {true, t, nest_.tries[t]->values.data()};
    for (std::size_t d = 0; d < dense_operands_.size(); ++d)
      sources[dense_operands_[d]] = {false, d, operands_[dense_operands_[d]]->bytes().data()};
    PointJoin(nest_, kernel_.points_, std::move(sources), kernel_.compute_, ranges_.size(),
              kernel_.pattern_ == CellPattern::Union)
        .run([&](std::span<const std::int64_t> cells, const std::byte* values) {
          sink.take_points(cells, reinterpret_cast<const T*>(values));
        });
    sink.end_points();
  }

  const CellKernel& kernel_;
  std::span<const Tile* const> operands_;
  std::span<const PartRange> ranges_;
  Shape output_;
  std::vector<std::int64_t> output_strides_;  // by label
  bool uses_product_ = false;
  bool makes_cells_ = false;
  LabelOrder order_;
  CellNest nest_;
  std::vector<std::unique_ptr<CellTrie>> tries_;  // sorted ones
  std::vector<std::vector<std::int32_t>> places_;
  std::vector<std::size_t> trie_operands_;  // the operand of each trie of the nest
  std::vector<std::size_t> dense_operands_;
};

CellKernel::CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
                       std::vector<bool> of_cells, CellPattern pattern)
    : CellKernel(einsum, labels, std::move(operand_types), compute, of_cells, pattern,
                 CellPanel::of(einsum, of_cells)) {}

CellKernel::CellKernel(const EinSum& einsum, const LabelTable& labels, std::vector<DType> operand_types, DType compute,
                       std::vector<bool> of_cells, CellPattern pattern, std::optional<CellPanel> panel)
    : einsum_(with_cell_types(einsum, labels, operand_types, compute)),
      labels_(einsum.labels()),
      operand_types_(std::move(operand_types)),
      compute_(compute),
      of_cells_(std::move(of_cells)),
      pattern_(pattern),
      product_(product_of(einsum_, operand_types_, compute)),
      points_(einsum_, labels, operand_types_, compute),
      leaves_zeros_(leaves_zeros(einsum_, labels, operand_types_, pattern)),
      operation_count_(ExpressionProgram(einsum_, labels, operand_types_).operation_count()) {
  CHECK(of_cells_.size() == einsum_.inputs.size(), "it is known of every operand whether it is of cells");
  if (panel && product_ && pattern_ == CellPattern::Intersection) {
    panel_kernel_.reset(
        new CellKernel(panel->einsum(), labels, operand_types_, compute_, of_cells_, pattern_, std::nullopt));
    panel_ = std::move(panel);
  }
  maps_values_ = !product_ && einsum_.inputs.size() == 1 && points_.numbers().empty();
  if (pattern_ != CellPattern::WithRest) return;
  const OperandFacts zero{.zero = true};
  rest_ = constant_of(*einsum_.expression, std::span(&zero, 1), operand_types_);
  CHECK(einsum_.inputs.size() == 1 && rest_, "where there is no cell, one operand has one value");
}

std::optional<CellKernel::Product> CellKernel::product_of(const EinSum& typed, const std::vector<DType>& types,
                                                          DType compute) {
  Product product{{}, ScalarValue(std::int64_t{1}, compute)};
  if (!collect_factors(*typed.expression, types, compute, product.operands, product.factor)) return std::nullopt;
  return product;
}

void CellKernel::run(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges, Tile& accumulator,
                     bool first) const {
  check(operands, label_ranges);
  CHECK(accumulator.dtype() == compute_, "a kernel accumulates in the type that it computes in");
  CHECK(accumulator.shape().extents() == sizes_of(einsum_.output, label_ranges),
        "an accumulator covers its labels' ranges");
  CHECK(first || einsum_.aggregate != Aggregate::None, "without an aggregate every call writes new cells");
  if (accumulator.shape().element_count() == 0) return;
  const auto is_empty = [](const PartRange& range) { return range.size == 0; };
  const bool is_any_empty = std::any_of(label_ranges.begin(), label_ranges.end(), is_empty);
  if (!is_any_empty && takes_panels(operands, accumulator.shape()))
    return run_panels(operands, label_ranges, accumulator, first);
  if (first) begin(accumulator);
  if (is_any_empty) return;
  if (rest_) return run_with_rest(operands, label_ranges, accumulator);
  Call(*this, operands, label_ranges, false).run(accumulator);
}

bool CellKernel::takes_panels(std::span<const Tile* const> operands, const Shape& result) const {
  if (!panel_) return false;
  std::int64_t cells = 0;
  for (std::size_t n = 0; n < operands.size(); ++n)
    if (of_cells_[n]) cells = std::max(cells, operands[n]->cells().count());
  return panel_->pays(operands, result, cells);
}

void CellKernel::run_panels(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                            Tile& accumulator, bool first) const {
  const auto extent = panel_->extent(label_ranges);
  for (std::int64_t from = 0; from < extent; from += CellPanel::kWidth) {
    const auto width = std::min(CellPanel::kWidth, extent - from);
    std::vector<Tile> tiles;
    tiles.reserve(operands.size());
    std::vector<const Tile*> panels(operands.begin(), operands.end());
    for (std::size_t n = 0; n < operands.size(); ++n) {
      if (!panel_->has_operand(n)) continue;
      tiles.push_back(panel_->operand(n, *operands[n], from, width));
      panels[n] = &tiles.back();
    }
    const auto ranges = panel_->ranges(label_ranges, from, width);
    if (panel_->has_result()) {
      auto result = panel_->result(accumulator, width);
      if (!first) panel_->read_result(result, accumulator, from);
      panel_kernel_->run(panels, ranges, result, first);
      panel_->write_result(result, accumulator, from);
    } else {
      panel_kernel_->run(panels, ranges, accumulator, first && from == 0);
    }
  }
}

void CellKernel::begin(Tile& accumulator) const {
  dispatch(compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    std::fill_n(accumulator.mutable_data<T>(), accumulator.shape().element_count(), identity_of<T>(einsum_.aggregate));
  });
}

void CellKernel::run_with_rest(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges,
                               Tile& accumulator) const {
  auto counts = Tile::zeros(DType::Int64, accumulator.shape());
  Call call(*this, operands, label_ranges, false);
  if (call.reduces()) {
    dispatch(compute_, [&](auto t) {
      using T = typename decltype(t)::type;
      call.reduce<T>(accumulator.mutable_data<T>(), counts.mutable_data<std::int64_t>());
    });
  } else {
    call.run(accumulator);
    Call(*this, operands, label_ranges, false).count_cells(counts);
  }
  const auto all = points_of_a_result(label_ranges);
  dispatch(compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    const auto rest = rest_->as<T>();
    auto* values = accumulator.mutable_data<T>();
    const auto* count = counts.data<std::int64_t>();
    for (std::int64_t n = 0; n < accumulator.shape().element_count(); ++n) {
      if (count[n] >= all) continue;
      const auto times =
          einsum_.aggregate == Aggregate::Sum ? scalar_multiply(rest, convert_value<T>(all - count[n])) : rest;
      values[n] = aggregated_value(einsum_.aggregate, values[n], times);
    }
  });
}

CellBlock CellKernel::make_cells(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const {
  check(operands, label_ranges);
  CHECK(leaves_zeros_, "a result of cells is zero elsewhere");
  const Shape shape(sizes_of(einsum_.output, label_ranges));
  const auto is_empty = [](const PartRange& range) { return range.size == 0; };
  if (std::any_of(label_ranges.begin(), label_ranges.end(), is_empty))
    return CellBlock::of_numbers(compute_, shape, {}, {});
  return Call(*this, operands, label_ranges, true).make_cells();
}

std::size_t CellKernel::workspace_bytes(std::span<const Tile* const> operands,
                                        std::span<const PartRange> label_ranges) const {
  check(operands, label_ranges);
  const Shape result(sizes_of(einsum_.output, label_ranges));
  const auto panels = takes_panels(operands, result) ? panel_->workspace_bytes(operands, result, compute_) : 0;
  return panels + std::max(Call(*this, operands, label_ranges, false).workspace_bytes(),
                           Call(*this, operands, label_ranges, true).workspace_bytes());
}

std::string CellKernel::describe() const {
  const auto count = std::count(of_cells_.begin(), of_cells_.end(), true);
  auto text = "cells of " + std::to_string(count) + (count == 1 ? " operand" : " operands");
  if (pattern_ == CellPattern::Union) text += " together";
  if (product_ && pattern_ == CellPattern::Intersection)
    return text + (einsum_.aggregate == Aggregate::Sum ? ": sum of products" : ": products");
  text +=
      ": expression (" + std::to_string(operation_count_) + (operation_count_ == 1 ? " operation)" : " operations)");
  return rest_ ? text + ", and the rest" : text;
}

std::size_t CellKernel::place_of(Label label) const {
  const auto place = static_cast<std::size_t>(std::find(labels_.begin(), labels_.end(), label) - labels_.begin());
  DCHECK(place < labels_.size(), "a tile has labels of its EinSum");
  return place;
}

std::vector<std::int64_t> CellKernel::sizes_of(const Labels& labels, std::span<const PartRange> label_ranges) const {
  std::vector<std::int64_t> sizes;
  for (const auto label : labels) sizes.push_back(label_ranges[place_of(label)].size);
  return sizes;
}

// The points that are aggregated into one cell.
std::int64_t CellKernel::points_of_a_result(std::span<const PartRange> label_ranges) const {
  return checked_product(sizes_of(einsum_.aggregated, label_ranges));
}

void CellKernel::check(std::span<const Tile* const> operands, std::span<const PartRange> label_ranges) const {
  CHECK(label_ranges.size() == labels_.size(), "a kernel call has a range for every label");
  CHECK(operands.size() == operand_types_.size(), "a kernel call has a tile for every input");
  for (std::size_t n = 0; n < operands.size(); ++n) {
    CHECK(operands[n]->dtype() == operand_types_[n], "an operand's tiles are of its type");
    CHECK(operands[n]->is_of_cells() == of_cells_[n] && !operands[n]->is_encoded(),
          "tiles are of cells where that is known, and plain elsewhere");
    CHECK(operands[n]->shape().extents() == sizes_of(einsum_.inputs[n], label_ranges),
          "an operand's tile covers its labels' ranges");
  }
}

}  // namespace eindb
