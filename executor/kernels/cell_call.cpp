#include "executor/kernels/cell_call.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/cell_product.hpp"
#include "executor/kernels/cell_reduction.hpp"
#include "executor/kernels/cell_union.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/lent_threads.hpp"

namespace eindb {
namespace {

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

CellKernel::Call::Call(const CellKernel& kernel, std::span<const Tile* const> operands,
                       std::span<const PartRange> ranges, bool makes_cells, std::optional<LabelOrder> order)
    : kernel_(kernel),
      operands_(operands),
      ranges_(ranges),
      output_(kernel.sizes_of(kernel.einsum_.output, ranges)),
      output_strides_(label_strides(kernel.labels_, kernel.einsum_.output, output_)) {
  uses_product_ = (kernel_.product_ || kernel_.maps_values_) && kernel_.pattern_ != CellPattern::Union;
  makes_cells_ = makes_cells;
  order_ = order ? *std::move(order) : choose_order(order_problem());
}

std::size_t CellKernel::Call::workspace_bytes() const {
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
    bytes += static_cast<std::size_t>(
                 std::min<std::int64_t>(*std::max_element(tile.shape().extents().begin(), tile.shape().extents().end()),
                                        64 * tile.cells().count() + 1024)) *
             sizeof(std::int32_t);
  }
  // A bit for each coordinate of a row that the rows of another trie meet.
  if (operands_.size() > 2) {
    std::int64_t marks = 0;
    for (const auto& range : ranges_) marks = std::max(marks, std::min(range.size, kMostMarks));
    bytes += static_cast<std::size_t>(marks) / 8 + sizeof(std::uint64_t);
  }
  if (makes_cells_) bytes += gathering_bytes();
  if (kernel_.rest_ && (!makes_cells_ || reduces()))
    bytes += static_cast<std::size_t>(output_.element_count()) *
             (sizeof(std::int64_t) + (makes_cells_ ? size_of(kernel_.compute_) : 0));
  return bytes + static_cast<std::size_t>(PointExpression::kMostOfRun) * 16 * (operands_.size() + 4);
}

// Of the places or the hash table in which a row of the result is gathered.
std::size_t CellKernel::Call::gathering_bytes() const {
  constexpr double kBytesPerPoint = 80;
  const auto places = static_cast<double>(std::min(row_places(), kMostRowPlaces));
  const auto most = places * static_cast<double>(size_of(kernel_.compute_) + 1);
  if (mode() != Mode::Hashed) return static_cast<std::size_t>(most);
  double points = 1;
  for (std::size_t n = 0; n < operands_.size(); ++n)
    if (kernel_.of_cells_[n]) points *= static_cast<double>(operands_[n]->cells().count()) + 1;
  for (std::size_t place = 0; place < ranges_.size(); ++place) {
    const auto label = kernel_.labels_[place];
    bool has_cells = false;
    for (std::size_t n = 0; n < operands_.size(); ++n)
      has_cells = has_cells || (kernel_.of_cells_[n] && contains(input(n), label));
    if (!has_cells) points *= static_cast<double>(extent(place));
  }
  return static_cast<std::size_t>(std::min(most, points * kBytesPerPoint));
}

void CellKernel::Call::run(Tile& accumulator) {
  dispatch(kernel_.compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    DenseSink<T> sink(accumulator.mutable_data<T>(), kernel_.einsum_.aggregate);
    run_into<T>(sink);
  });
}

bool CellKernel::Call::reduces() const {
  constexpr std::int64_t kMostResultsPerCell = 8;
  return kernel_.rest_ && operands_.size() == 1 && (kernel_.product_ || kernel_.maps_values_) &&
         (!makes_cells_ || output_.element_count() <= kMostResultsPerCell * operands_.front()->cells().count());
}

template <class T>
void CellKernel::Call::reduce_into(T* values, std::int64_t* counts) {
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
  const auto fold = preferred_level_table().of(kernel_.compute_).along[slot_of(aggregate)];
  CellReduction<T>(trie, from, std::move(strides), aggregate, fold, values, counts).run();
}

void CellKernel::Call::reduce(Tile& values, Tile& counts) {
  dispatch(kernel_.compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    reduce_into<T>(values.mutable_data<T>(), counts.mutable_data<std::int64_t>());
  });
}

void CellKernel::Call::count_cells(Tile& accumulator) {
  std::vector<std::vector<std::int64_t>> ones;
  prepare_nest();
  leave_out_dense();
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

// Points are counted whatever the values of dense operands are.
void CellKernel::Call::leave_out_dense() {
  for (auto& level : nest_.levels) level.dense.clear();
}

CellBlock CellKernel::Call::make_cells() {
  return dispatch(kernel_.compute_, [&](auto t) {
    using T = typename decltype(t)::type;
    if (reduces()) return reduced_cells<T>();
    if (auto cells = mapped_cells<T>()) return std::move(*cells);
    if (auto cells = united_cells()) return std::move(*cells);
    auto sink = sink_of_cells<T>(kernel_.einsum_.aggregate);
    run_into<T>(sink);
    if (kernel_.rest_) return with_rest<T>(sink.take(kernel_.compute_));
    return sink.take(kernel_.compute_);
  });
}

CellKernel::Call::Mode CellKernel::Call::mode() const {
  if (order_.leading == output_.rank()) return Mode::Ascending;
  return order_.takes_places ? Mode::Places : Mode::Hashed;
}

std::int64_t CellKernel::Call::row_places() const {
  std::int64_t places = 1;
  for (auto d = order_.leading; d < output_.rank(); ++d) places = checked_multiply(places, output_[d]);
  return places;
}

std::int64_t CellKernel::Call::most_cells() const {
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
CellSink<T> CellKernel::Call::sink_of_cells(Aggregate aggregate) const {
  return {
      output_,     static_cast<typename CellSink<T>::Mode>(mode()), row_places(), aggregate, kernel_.rest_.has_value(),
      most_cells()};
}

template <class T>
std::optional<CellBlock> CellKernel::Call::mapped_cells() {
  if (operands_.size() != 1 || !uses_product_) return std::nullopt;
  auto order = order_of_result(0);
  if (kernel_.einsum_.aggregate != Aggregate::None || !order) return std::nullopt;
  const auto& block = operands_.front()->cells();
  const auto& from = block.trie();
  std::vector<std::byte> mapped;
  if (!is_plain_operand()) mapped = mapped_values(from.values);
  const auto* values = is_plain_operand() ? from.template values_as<T>() : reinterpret_cast<const T*>(mapped.data());
  if (std::any_of(values, values + from.count(), CellSink<T>::is_plus_zero)) return std::nullopt;
  if (is_plain_operand()) return CellBlock(kernel_.compute_, output_, as_natural(block.in_order(*std::move(order))));
  auto trie = CellTrie{from.order, from.levels, std::move(mapped)}.kept();
  if (*order != from.order)
    trie = CellBlock(kernel_.compute_, block.shape(), std::move(trie)).in_order(*std::move(order));
  return CellBlock(kernel_.compute_, output_, as_natural(std::move(trie)));
}

std::optional<CellBlock> CellKernel::Call::united_cells() {
  const auto& einsum = kernel_.einsum_;
  if (kernel_.pattern_ != CellPattern::Union || operands_.size() != 2 || einsum.aggregate != Aggregate::None ||
      kernel_.rest_ || !kernel_.points_.numbers().empty())
    return std::nullopt;
  std::array<const CellTrie*, 2> tries{};
  std::vector<CellTrie> ordered;
  ordered.reserve(tries.size());
  for (std::size_t n = 0; n < tries.size(); ++n) {
    auto order = order_of_result(n);
    if (!kernel_.of_cells_[n] || !order) return std::nullopt;
    const auto& block = operands_[n]->cells();
    tries[n] = *order == block.trie().order ? &block.trie() : &ordered.emplace_back(block.in_order(*std::move(order)));
  }
  auto trie = as_natural(CellUnion(*tries[0], *tries[1], kernel_.points_, kernel_.compute_).make());
  return CellBlock(kernel_.compute_, output_, std::move(trie));
}

std::optional<std::vector<std::size_t>> CellKernel::Call::order_of_result(std::size_t n) const {
  if (input(n).size() != output_.rank()) return std::nullopt;
  std::vector<std::size_t> order;
  for (const auto label : kernel_.einsum_.output) {
    const auto place = std::find(input(n).begin(), input(n).end(), label) - input(n).begin();
    if (std::cmp_equal(place, input(n).size())) return std::nullopt;
    order.push_back(static_cast<std::size_t>(place));
  }
  return order;
}

CellTrie CellKernel::Call::as_natural(CellTrie trie) {
  for (std::size_t level = 0; level < trie.order.size(); ++level) trie.order[level] = level;
  return trie;
}

bool CellKernel::Call::is_plain_operand() const {
  return kernel_.einsum_.expression->kind() == ScalarExpression::Kind::Operand &&
         kernel_.operand_types_.front() == kernel_.compute_;
}

template <class T>
CellBlock CellKernel::Call::reduced_cells() {
  const auto count = static_cast<std::size_t>(output_.element_count());
  std::vector<T> results(count, identity_of<T>(kernel_.einsum_.aggregate));
  std::vector<std::int64_t> counts(count, 0);
  reduce_into<T>(results.data(), counts.data());
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
CellBlock CellKernel::Call::with_rest(const CellBlock& cells) {
  std::vector<std::vector<std::int64_t>> ones;
  std::vector<const std::int64_t*> counted;
  for (const auto* trie : nest_.tries) {
    ones.emplace_back(static_cast<std::size_t>(trie->count()), 1);
    counted.push_back(ones.back().data());
  }
  leave_out_dense();
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

OrderProblem CellKernel::Call::order_problem() const {
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

std::vector<std::size_t> CellKernel::Call::trie_order(std::size_t n) const {
  std::vector<std::size_t> order;
  for (const auto place : order_.labels)
    for (std::size_t d = 0; d < input(n).size(); ++d)
      if (kernel_.place_of(input(n)[d]) == place) order.push_back(d);
  return order;
}

bool CellKernel::Call::is_used(std::size_t n) const {
  if (!uses_product_ || kernel_.of_cells_[n]) return true;
  const auto& used = kernel_.product_->operands;
  return std::find(used.begin(), used.end(), n) != used.end();
}

void CellKernel::Call::prepare_nest() {
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

void CellKernel::Call::add_trie(std::size_t n) {
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

void CellKernel::Call::add_dense(std::size_t n) {
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

void CellKernel::Call::add_lists_of_places() {
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

ScalarValue CellKernel::Call::take_out_levels() {
  ScalarValue factor(std::int64_t{1}, kernel_.compute_);
  std::erase_if(nest_.levels, [&](const CellNest::Level& level) {
    const bool is_factor = kernel_.einsum_.aggregate == Aggregate::Sum && level.tries.empty() && level.dense.empty() &&
                           level.output_stride == 0;
    if (is_factor) factor = ScalarValue::apply(ScalarOp::Multiply, factor, ScalarValue(level.extent, kernel_.compute_));
    return is_factor;
  });
  skip_levels();
  return factor;
}

void CellKernel::Call::skip_levels() {
  for (std::size_t number = 0; number + 1 < nest_.levels.size(); ++number) {
    auto& level = nest_.levels[number];
    const auto& next = nest_.levels[number + 1];
    level.is_skipped = level.tries.size() == 1 && level.dense.empty() && level.output_stride == 0 &&
                       !level.tries.front().is_last && next.tries.size() == 1 &&
                       next.tries.front().trie == level.tries.front().trie;
  }
}

template <class T, class Sink>
void CellKernel::Call::run_into(Sink& sink) {
  prepare_nest();
  if (uses_product_) return run_product<T>(sink);
  if (kernel_.points_.numbers().empty()) skip_levels();
  run_points<T>(sink);
}

template <class T, class Sink>
void CellKernel::Call::run_product(Sink& sink) {
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
  const auto& loops = preferred_level_table().of(kernel_.compute_).cells;
  const bool sums = kernel_.einsum_.aggregate == Aggregate::Sum;
  if constexpr (!Sink::kTakesRows) {
    const auto at = cuts();
    if (const auto parts = at.size() - 1; parts > 1) {
      const bool is_one = nest_.levels.front().output_stride == 0;
      std::vector<T> results(is_one ? parts : 0, identity_of<T>(kernel_.einsum_.aggregate));
      const auto run_part = [&](std::int64_t number) {
        const auto part = static_cast<std::size_t>(number);
        auto own = is_one ? Sink(&results[part], kernel_.einsum_.aggregate) : sink;
        ProductJoin<T, Sink>(nest_, loops, values, dense, sums, own).run(factor, at[part], at[part + 1]);
      };
      for_each_part(static_cast<std::int64_t>(parts), std::numeric_limits<std::int64_t>::max(), run_part);
      for (const auto& result : results) sink.add(0, result);
      return;
    }
  }
  ProductJoin<T, Sink>(nest_, loops, std::move(values), std::move(dense), sums, sink).run(factor);
}

std::vector<std::int64_t> CellKernel::Call::cuts() const {
  constexpr double kCellsOfPart = 1 << 13;  // some ten microseconds
  constexpr double kMostParts = 16;
  constexpr double kRunPerCell = 8;  // so many values of a run take as long as a cell
  if (nest_.levels.empty()) return {0, 0};
  const auto& level = nest_.levels.front();
  std::vector<std::int64_t> at{0, level.extent};
  // Parts write different cells of the result, or are added up where there is but one.
  const bool is_apart = level.output_stride != 0 || output_.element_count() == 1;
  if (LentThreads::of_this_thread() == nullptr || level.tries.empty() || !is_apart) return at;
  const auto largest = std::max_element(level.tries.begin(), level.tries.end(), [&](const auto& a, const auto& b) {
    return nest_.tries[a.trie]->count() < nest_.tries[b.trie]->count();
  });
  const auto& trie = *nest_.tries[largest->trie];
  auto work = static_cast<double>(trie.count());
  for (const auto& other : nest_.levels)
    if (other.tries.empty()) work *= std::max(1.0, static_cast<double>(other.extent) / kRunPerCell);
  const auto parts = static_cast<std::int64_t>(std::min(kMostParts, work / kCellsOfPart));
  const auto cells_before = [&](std::int64_t node) {
    for (std::size_t l = 0; l + 1 < trie.levels.size(); ++l)
      node = trie.levels[l].begins[static_cast<std::size_t>(node)];
    return node;
  };
  const auto& coordinates = trie.levels.front().coordinates;
  for (std::int64_t part = 1; part < parts; ++part) {
    const auto wanted = static_cast<std::int64_t>(static_cast<double>(trie.count()) / static_cast<double>(parts) *
                                                  static_cast<double>(part));
    // The first node with as many cells before it; the last ones may have all cells that are left.
    std::int64_t node = 0;
    for (auto left = static_cast<std::int64_t>(coordinates.size()); left > 0;) {
      const auto half = left / 2;
      const bool is_behind = cells_before(node + half) < wanted;
      if (is_behind) node += half + 1;
      left = is_behind ? left - half - 1 : half;
    }
    if (node == static_cast<std::int64_t>(coordinates.size())) break;
    const auto index = std::int64_t{coordinates[static_cast<std::size_t>(node)]};
    if (index > at[at.size() - 2]) at.insert(at.end() - 1, index);
  }
  return at;
}

std::vector<std::byte> CellKernel::Call::mapped_values(std::span<const std::byte> values) const {
  const auto from = size_of(kernel_.operand_types_.front());
  const auto to = size_of(kernel_.compute_);
  const auto count = values.size() / from;
  constexpr auto kPoints = static_cast<std::size_t>(PointExpression::kMostOfRun);
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
void CellKernel::Call::run_points(Sink& sink) {
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

}  // namespace eindb
