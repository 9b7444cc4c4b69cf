#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/cell_nest.hpp"
#include "executor/kernels/cell_sink.hpp"
#include "executor/kernels/level_table.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {

/// The product that joins of cells compute: complex numbers by the plain formula, like matrix products.
template <class T>
inline T product_of_cells(T a, T b) {
  if constexpr (is_complex_type<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else return scalar_multiply(a, b);
}

/// Where rows of two tries meet again and again, the coordinates of one are marked, a bit each, if there are at most so
/// many.
inline constexpr std::int64_t kMostMarks = std::int64_t{1} << 26U;

/// One call's state of the sum, or without an aggregate each, of the products of the operands' values at the points of
/// a nest. Products are taken as far as their factors are known, so that inner loops multiply by what changes in them
/// alone. The innermost loops go over
///
///     a run of a dense label          z[k] += p * x[k],  z[k] += p * x[k] * y[k],  z += p * x[k] * y[k]
///     the nodes of one trie           z += p * a[n] * x[place[n]],  z[place[n]] += p * a[n]
///     the nodes that tries share      z += p * a[m] * b[n]
///     nodes, and a run below each     z[k] += p * a[n] * x[place[n], k], with z[k] in registers
///                                     z[place[n]] += p * a[n] * sum over k of y[k] * x[place[n], k]
///     nodes, and nodes below each     z[row] += p * sum over n of a[n] * x[place[n]]
///     nodes, and a row of another     z[place[m]] += p * a[n] * b[m], for m in the row of place[n]
///     nodes, and where a row of       z += p * a[n] * b[m] * c[m'], for m in the row of place[n], and m' of the same
///     another meets one that stays    coordinate in the row of a third trie (triangles)
template <class T, class Sink>
class ProductJoin {
 public:
  /// `values`: the cells' values by trie; `dense`: the first value of each dense operand.
  ProductJoin(const CellNest& nest, const CellTable& loops, std::vector<const T*> values, std::vector<const T*> dense,
              bool sums, Sink& sink)
      : levels_(nest.levels),
        tries_(nest.tries),
        row_level_(nest.row_level),
        loops_(loops),
        values_(std::move(values)),
        at_(std::move(dense)),
        sums_(sums),
        sink_(sink),
        cursors_(nest) {
    std::size_t steps = 0;
    ways_.reserve(levels_.size());
    for (std::size_t n = 0; n < levels_.size(); ++n) {
      ways_.push_back({way_of(n), steps});
      steps += levels_[n].dense.size();
    }
    bases_.resize(steps);
  }

  void run(T factor) { visit(0, factor, 0); }
  /// At the points alone where the outermost label, which tries have, is from `from` to before `to`.
  void run(T factor, std::int64_t from, std::int64_t to) {
    for (const auto& step : levels_.front().tries) {
      const auto* begin = step.coordinates + cursors_.begin(step.trie);
      const auto* end = step.coordinates + cursors_.end(step.trie);
      const auto* first = std::lower_bound(begin, end, from);
      cursors_.set(step.trie, first - step.coordinates, std::lower_bound(first, end, to) - step.coordinates);
    }
    run(factor);
  }

 private:
  enum class Way : std::uint8_t {
    Skip,
    Range,
    Nodes,
    Meet,
    RunLeaf,
    NodesLeaf,
    MeetLeaf,
    RowsLeaf,
    DotsLeaf,
    SumsLeaf,
    MatchedRowsLeaf,
    MatchedMeetsLeaf
  };
  using Level = CellNest::Level;
  static constexpr std::int64_t kChunk = 256;  // of values that are held for a moment

  Way way_of(std::size_t number) const {
    const auto& level = levels_[number];
    const bool is_last = number + 1 == levels_.size();
    if (level.is_skipped) return Way::Skip;
    if (level.tries.empty()) return is_last ? Way::RunLeaf : Way::Range;
    if (level.tries.size() > 1) {
      if (is_last) return Way::MeetLeaf;
      if (ends_in_matched_meets(number)) return Way::MatchedMeetsLeaf;
      return ends_in_matched_rows(number) ? Way::MatchedRowsLeaf : Way::Meet;
    }
    if (is_last) return Way::NodesLeaf;
    if (ends_in_dots(number)) return Way::DotsLeaf;
    if (ends_in_sums(number)) return Way::SumsLeaf;
    return ends_in_rows(number) ? Way::RowsLeaf : Way::Nodes;
  }

  // Whether each node of this level, which is a cell, has a product of two runs.
  bool ends_in_dots(std::size_t number) const {
    const auto& level = levels_[number];
    if (number + 2 != levels_.size() || !sums_ || level.output_stride == 0 || !level.tries.front().is_last)
      return false;
    const auto& run = levels_.back();
    return run.tries.empty() && run.output_stride == 0 && level.dense.size() == 1 && !level.dense.front().is_last &&
           run.dense.size() == 2 && run.dense.front().stride == 1 && run.dense.back().stride == 1;
  }
  // Whether the cells below each node of this level are added up into a value of their own.
  bool ends_in_sums(std::size_t number) const {
    if (Sink::kTakesRows || number + 2 != levels_.size() || !sums_) return false;
    const auto& level = levels_[number];
    const auto& cells = levels_.back();
    return level.dense.empty() && cells.tries.size() == 1 && cells.tries.front().trie == level.tries.front().trie &&
           cells.output_stride == 0 && cells.dense.size() <= 1;
  }

  // Whether each node of this level is a cell of one trie that finds its row of another one in a list: a product of
  // matrices.
  bool ends_in_matched_rows(std::size_t number) const {
    const auto& level = levels_[number];
    if (!Sink::kTakesRows || number + 2 != levels_.size() || !sums_ || level.output_stride != 0 ||
        level.tries.size() != 2 || !level.dense.empty())
      return false;
    const auto& row = levels_.back();
    const auto& matched = level.tries[level.tries.front().is_last ? 1 : 0];
    return level.tries.front().is_last != level.tries.back().is_last && matched.places != nullptr &&
           row.tries.size() == 1 && row.dense.empty() && row.tries.front().trie == matched.trie &&
           row.output_stride != 0;
  }

  // Whether each node of this level is a cell of one trie that finds its row of another one in a list, and that row
  // meets a row of a third trie, which is the same for all nodes of the level.
  bool ends_in_matched_meets(std::size_t number) const {
    const auto& level = levels_[number];
    if (number + 2 != levels_.size() || !sums_ || level.tries.size() != 2 || !level.dense.empty()) return false;
    const auto& last = levels_.back();
    const auto& matched = level.tries[level.tries.front().is_last ? 1 : 0];
    if (level.tries.front().is_last == level.tries.back().is_last || matched.places == nullptr ||
        last.tries.size() != 2 || !last.dense.empty() || last.output_stride != 0 || last.extent > kMostMarks)
      return false;
    return (last.tries.front().trie == matched.trie) != (last.tries.back().trie == matched.trie);
  }

  // Whether the values of one dense operand, in a run for each node of this level, are added up.
  bool ends_in_rows(std::size_t number) const {
    const auto& level = levels_[number];
    if (number + 2 != levels_.size() || !sums_ || level.output_stride != 0 || !level.tries.front().is_last)
      return false;
    const auto& run = levels_.back();
    if (!run.tries.empty() || level.dense.size() != 1 || level.dense.front().is_last || run.dense.size() > 2)
      return false;
    bool has_row = false;
    for (const auto& step : run.dense) {
      if (step.stride != 1) return false;
      has_row = has_row || step.dense == level.dense.front().dense;
    }
    return has_row;
  }

  void visit(std::size_t number, T product, std::int64_t cell) {
    if constexpr (Sink::kTakesRows) {
      if (number == row_level_ && sink_.has_rows()) {
        sink_.begin_row(cell);
        visit_level(number, product, cell);
        sink_.end_row();
        return;
      }
    }
    visit_level(number, product, cell);
  }

  void visit_level(std::size_t number, T product, std::int64_t cell) {
    if (number == levels_.size()) return sink_.add(cell, product);
    const auto& level = levels_[number];
    switch (ways_[number].way) {
      case Way::Skip: return skip(number, product, cell);
      case Way::Range: return over_range(number, product, cell);
      case Way::Nodes: return over_nodes(number, product, cell);
      case Way::Meet: return over_shared(number, product, cell);
      case Way::RunLeaf: return add_run(level, product, cell);
      case Way::NodesLeaf: return add_nodes(level, product, cell);
      case Way::MeetLeaf: return add_shared(number, product, cell);
      case Way::RowsLeaf: return add_rows(level, product, cell);
      case Way::DotsLeaf: return add_dots(level, product, cell);
      case Way::SumsLeaf: return add_sums(level, product, cell);
      case Way::MatchedRowsLeaf: return add_matched_rows(level, product, cell);
      case Way::MatchedMeetsLeaf: return add_matched_meets(level, product, cell);
    }
  }

  void skip(std::size_t number, T product, std::int64_t cell) {
    const auto& step = levels_[number].tries.front();
    const auto begin = cursors_.begin(step.trie);
    const auto end = cursors_.end(step.trie);
    if (begin == end) return;
    cursors_.set(step.trie, step.begins[begin], step.begins[end]);
    visit(number + 1, product, cell);
    cursors_.set(step.trie, begin, end);
  }

  void keep_bases(std::size_t number) {
    auto* bases = bases_.data() + ways_[number].bases;
    for (const auto& step : levels_[number].dense) *bases++ = at_[step.dense];
  }
  void restore_bases(std::size_t number) {
    const auto* bases = bases_.data() + ways_[number].bases;
    for (const auto& step : levels_[number].dense) at_[step.dense] = *bases++;
  }
  // Moves dense operands to an index; the product with those that are at a value then.
  T bind(std::size_t number, std::int64_t index, T product) {
    const auto* bases = bases_.data() + ways_[number].bases;
    for (const auto& step : levels_[number].dense) {
      at_[step.dense] = *bases++ + index * step.stride;
      if (step.is_last) product = product_of_cells(product, *at_[step.dense]);
    }
    return product;
  }

  void over_range(std::size_t number, T product, std::int64_t cell) {
    const auto& level = levels_[number];
    keep_bases(number);
    for (std::int64_t index = 0; index < level.extent; ++index) {
      poll_cancellation_after(1);
      const auto next = bind(number, index, product);
      visit(number + 1, next, cell + index * level.output_stride);
    }
    restore_bases(number);
  }

  void over_nodes(std::size_t number, T product, std::int64_t cell) {
    const auto& level = levels_[number];
    const auto& step = level.tries.front();
    const auto begin = cursors_.begin(step.trie);
    const auto end = cursors_.end(step.trie);
    keep_bases(number);
    for (auto node = begin; node < end; ++node) {
      const auto index = static_cast<std::int64_t>(step.coordinates[node]);
      auto next = bind(number, index, product);
      if (step.is_last) next = product_of_cells(next, values_[step.trie][node]);
      else cursors_.descend(step, node);
      visit(number + 1, next, cell + index * level.output_stride);
    }
    poll_cancellation_after(static_cast<std::size_t>(end - begin));
    cursors_.set(step.trie, begin, end);
    restore_bases(number);
  }

  void over_shared(std::size_t number, T product, std::int64_t cell) {
    const auto& level = levels_[number];
    const auto& steps = level.tries;
    const auto saved = ranges_.size();
    for (const auto& step : steps) ranges_.push_back({cursors_.begin(step.trie), cursors_.end(step.trie)});
    keep_bases(number);
    cursors_.meet(level, number, [&](std::uint32_t coordinate, const std::int64_t* nodes) {
      const auto index = static_cast<std::int64_t>(coordinate);
      auto next = bind(number, index, product);
      for (std::size_t k = 0; k < steps.size(); ++k) {
        if (steps[k].is_last) next = product_of_cells(next, values_[steps[k].trie][nodes[k]]);
        else cursors_.descend(steps[k], nodes[k]);
      }
      visit(number + 1, next, cell + index * level.output_stride);
      for (std::size_t k = 0; k < steps.size(); ++k)
        cursors_.set(steps[k].trie, ranges_[saved + k].begin, ranges_[saved + k].end);
      poll_cancellation_after(1);
    });
    restore_bases(number);
    ranges_.resize(saved);
  }

  // The product of the level's dense operands at an index.
  T dense_at(const Level& level, std::int64_t index) const {
    T product(1);
    for (const auto& step : level.dense) product = product_of_cells(product, at_[step.dense][index * step.stride]);
    return product;
  }

  void add_run(const Level& level, T product, std::int64_t cell) {
    const auto count = level.extent;
    if (count == 0) return;
    poll_cancellation_after(static_cast<std::size_t>(count / 8 + 1));
    bool is_contiguous = !level.dense.empty() && level.dense.size() <= 2 && level.output_stride <= 1;
    for (const auto& step : level.dense) is_contiguous = is_contiguous && step.stride == 1;
    if (is_contiguous) {
      const auto* a = at_[level.dense.front().dense];
      const auto* b = level.dense.size() == 2 ? at_[level.dense.back().dense] : nullptr;
      if (level.output_stride == 0 && sums_) {
        T sum;
        loops_.dot(&sum, a, b, count);
        return sink_.add(cell, product_of_cells(product, sum));
      }
      if (auto* to = level.output_stride == 1 ? sink_.run(cell, count) : nullptr)
        return loops_.add_products(to, a, b, &product, count);
    }
    if (level.output_stride == 0 && sums_) {
      T sum(0);
      for (std::int64_t n = 0; n < count; ++n) sum = scalar_add(sum, dense_at(level, n));
      return sink_.add(cell, product_of_cells(product, sum));
    }
    for (std::int64_t n = 0; n < count; ++n)
      sink_.add(cell + n * level.output_stride, product_of_cells(product, dense_at(level, n)));
  }

  void add_nodes(const Level& level, T product, std::int64_t cell) {
    const auto& nodes = level.tries.front();
    const auto begin = cursors_.begin(nodes.trie);
    const auto count = cursors_.end(nodes.trie) - begin;
    if (count == 0) return;
    poll_cancellation_after(static_cast<std::size_t>(count));
    const auto* values = values_[nodes.trie] + begin;
    const auto* places = nodes.coordinates + begin;
    if (level.output_stride == 0 && sums_) {
      T sum(0);
      if (level.dense.empty()) {
        loops_.dot(&sum, values, nullptr, count);
      } else if (level.dense.size() == 1) {
        const auto& dense = level.dense.front();
        loops_.dot_places(&sum, values, places, at_[dense.dense], dense.stride, count);
      } else {
        for (std::int64_t n = 0; n < count; ++n)
          sum = scalar_add(sum, product_of_cells(values[n], dense_at(level, places[n])));
      }
      return sink_.add(cell, product_of_cells(product, sum));
    }
    const auto stride = level.output_stride;
    if (level.dense.empty()) {
      sink_.add_at_places(cell, places, stride, count,
                          [&](std::int64_t n) { return product_of_cells(product, values[n]); });
    } else if (level.dense.size() == 1) {
      const auto* dense = at_[level.dense.front().dense];
      const auto step = level.dense.front().stride;
      sink_.add_at_places(cell, places, stride, count, [&](std::int64_t n) {
        return product_of_cells(product, product_of_cells(values[n], dense[places[n] * step]));
      });
    } else {
      sink_.add_at_places(cell, places, stride, count, [&](std::int64_t n) {
        return product_of_cells(product, product_of_cells(values[n], dense_at(level, places[n])));
      });
    }
  }

  void add_shared(std::size_t number, T product, std::int64_t cell) {
    const auto& level = levels_[number];
    const auto& steps = level.tries;
    std::size_t met = 1;
    if (level.output_stride == 0 && sums_) {
      T sum(0);
      cursors_.meet(level, number, [&](std::uint32_t coordinate, const std::int64_t* nodes) {
        sum = scalar_add(sum, shared_at(level, coordinate, nodes));
        ++met;
      });
      // Where nothing meets, nothing is there.
      if (met > 1) sink_.add(cell, product_of_cells(product, sum));
    } else {
      cursors_.meet(level, number, [&](std::uint32_t coordinate, const std::int64_t* nodes) {
        sink_.add(cell + static_cast<std::int64_t>(coordinate) * level.output_stride,
                  product_of_cells(product, shared_at(level, coordinate, nodes)));
        ++met;
      });
    }
    auto least = cursors_.end(steps.front().trie) - cursors_.begin(steps.front().trie);
    for (const auto& step : steps) least = std::min(least, cursors_.end(step.trie) - cursors_.begin(step.trie));
    poll_cancellation_after(static_cast<std::size_t>(least) + 1);
  }
  T shared_at(const Level& level, std::uint32_t coordinate, const std::int64_t* nodes) const {
    T value = values_[level.tries.front().trie][nodes[0]];
    for (std::size_t k = 1; k < level.tries.size(); ++k)
      value = product_of_cells(value, values_[level.tries[k].trie][nodes[k]]);
    return level.dense.empty() ? value : product_of_cells(value, dense_at(level, coordinate));
  }

  void add_rows(const Level& level, T product, std::int64_t cell) {
    const auto& step = level.tries.front();
    const auto begin = cursors_.begin(step.trie);
    const auto count = cursors_.end(step.trie) - begin;
    if (count == 0) return;
    const auto& run = levels_.back();
    poll_cancellation_after(static_cast<std::size_t>(count * (run.extent / 16 + 1)));
    const auto& row = level.dense.front();
    const auto* values = values_[step.trie] + begin;
    const auto* places = step.coordinates + begin;
    const T* other = nullptr;
    for (const auto& dense : run.dense)
      if (dense.dense != row.dense) other = at_[dense.dense];
    if (other == nullptr && run.output_stride == 1) {
      if (auto* to = sink_.run(cell, run.extent))
        return loops_.add_rows(to, at_[row.dense], places, row.stride, values, count, run.extent, &product);
    }
    T total(0);
    for (std::int64_t from = 0; from < run.extent; from += kChunk) {
      const auto columns = std::min(kChunk, run.extent - from);
      std::fill_n(held_.data(), columns, T(0));
      loops_.add_rows(held_.data(), at_[row.dense] + from, places, row.stride, values, count, columns, &product);
      if (run.output_stride == 0) {
        T sum;
        loops_.dot(&sum, held_.data(), other == nullptr ? nullptr : other + from, columns);
        total = scalar_add(total, sum);
      } else {
        add_held(run, other == nullptr ? nullptr : other + from, cell + from * run.output_stride, columns);
      }
    }
    if (run.output_stride == 0) sink_.add(cell, total);
  }

  void add_dots(const Level& level, T product, std::int64_t cell) {
    const auto& step = level.tries.front();
    const auto& run = levels_.back();
    const auto& from = level.dense.front();
    const auto& row = run.dense.front().dense == from.dense ? run.dense.back() : run.dense.front();
    const auto end = cursors_.end(step.trie);
    for (auto node = cursors_.begin(step.trie); node < end; node += kChunk) {
      const auto count = std::min(kChunk, end - node);
      const auto* places = step.coordinates + node;
      loops_.dot_rows(held_.data(), at_[row.dense], at_[from.dense], places, from.stride, values_[step.trie] + node,
                      count, run.extent, &product);
      sink_.add_at_places(cell, places, level.output_stride, count,
                          [&](std::int64_t n) { return held_[static_cast<std::size_t>(n)]; });
      poll_cancellation_after(static_cast<std::size_t>(count * (run.extent / 16 + 1)));
    }
  }

  void add_sums(const Level& level, T product, std::int64_t cell) {
    constexpr std::int64_t kRows = 4096;  // until it is asked whether to go on
    const auto& step = level.tries.front();
    const auto& cells = levels_.back();
    const auto end = cursors_.end(step.trie);
    auto* to = sink_.run(cell, 0);
    CHECK(to != nullptr, "sums are added to values that are there");
    const auto* from = cells.dense.empty() ? nullptr : at_[cells.dense.front().dense];
    const auto stride = cells.dense.empty() ? 0 : cells.dense.front().stride;
    for (auto node = cursors_.begin(step.trie); node < end; node += kRows) {
      const auto count = std::min(kRows, end - node);
      loops_.add_row_sums(
          to, level.output_stride,
          {step.coordinates + node, step.begins + node, count, values_[step.trie], cells.tries.front().coordinates},
          from, stride, &product);
      poll_cancellation_after(static_cast<std::size_t>(step.begins[node + count] - step.begins[node] + count));
    }
  }

  // Rows lie anywhere: those of the next cells are asked for ahead, also behind this row, as the next one follows it.
  void add_matched_rows(const Level& level, T product, std::int64_t cell) {
    constexpr std::int64_t kAhead = 2;
    const bool is_first = level.tries.front().is_last;
    const auto& step = is_first ? level.tries.front() : level.tries.back();
    const auto& matched = is_first ? level.tries.back() : level.tries.front();
    const auto& row = levels_.back();
    const auto* cells = values_[step.trie];
    const auto* values = values_[matched.trie];
    const auto* coordinates = row.tries.front().coordinates;
    const auto end = cursors_.end(step.trie);
    std::int64_t products = end - cursors_.begin(step.trie);
    const auto all = tries_[step.trie]->count();
    for (auto node = cursors_.begin(step.trie); node < end; ++node) {
      if (node + kAhead < all) {
        if (const auto next = matched.places[step.coordinates[node + kAhead]]; next >= 0) {
          const auto begin = matched.begins[next];
          __builtin_prefetch(coordinates + begin);
          __builtin_prefetch(values + begin);
        }
      }
      const auto place = matched.places[step.coordinates[node]];
      if (place < 0) continue;
      const auto begin = matched.begins[place];
      const auto count = matched.begins[place + 1] - begin;
      const auto factor = product_of_cells(product, cells[node]);
      const auto* from = values + begin;
      sink_.add_at_places(cell, coordinates + begin, row.output_stride, count,
                          [&](std::int64_t n) { return product_of_cells(factor, from[n]); });
      products += count;
    }
    poll_cancellation_after(static_cast<std::size_t>(products));
  }

  // The row that stays is marked in a list of bits, which stays in a cache, and other rows look their coordinates up
  // there. Where the row is much shorter than the other one, its own coordinates are looked for in that.
  void add_matched_meets(const Level& level, T product, std::int64_t cell) {
    const bool is_first = level.tries.front().is_last;
    const auto& step = is_first ? level.tries.front() : level.tries.back();
    const auto& matched = is_first ? level.tries.back() : level.tries.front();
    const auto& last = levels_.back();
    const auto& other = last.tries.front().trie == matched.trie ? last.tries.front() : last.tries.back();
    const auto& fixed = last.tries.front().trie == matched.trie ? last.tries.back() : last.tries.front();
    const auto begin = cursors_.begin(step.trie);
    const auto end = cursors_.end(step.trie);
    const auto fixed_begin = cursors_.begin(fixed.trie);
    const auto fixed_end = cursors_.end(fixed.trie);
    if (begin == end || fixed_begin == fixed_end) return;
    const MeetingRows rows{other.coordinates, values_[other.trie], fixed.coordinates, values_[fixed.trie]};
    if (marks_.empty()) marks_.resize(static_cast<std::size_t>(last.extent + 63) / 64);
    for (auto n = fixed_begin; n < fixed_end; ++n)
      marks_[rows.fixed[n] >> 6U] |= std::uint64_t{1} << (rows.fixed[n] & 63U);
    std::int64_t looks = end - begin + 2 * (fixed_end - fixed_begin);
    constexpr std::int64_t kAhead = 8;
    const auto all = tries_[step.trie]->count();  // see add_matched_rows
    for (auto node = begin; node < end; ++node) {
      if (node + 2 * kAhead < all) {
        if (const auto next = matched.places[step.coordinates[node + 2 * kAhead]]; next >= 0)
          __builtin_prefetch(matched.begins + next);
        if (const auto next = matched.places[step.coordinates[node + kAhead]]; next >= 0)
          __builtin_prefetch(rows.other + matched.begins[next]);
      }
      const auto place = matched.places[step.coordinates[node]];
      if (place < 0) continue;
      const NodeRange met{matched.begins[place], matched.begins[place + 1]};
      T sum(0);
      if (!meet_rows(rows, met, {fixed_begin, fixed_end}, sum)) continue;
      const auto index = static_cast<std::int64_t>(step.coordinates[node]);
      sink_.add(cell + index * level.output_stride,
                product_of_cells(product_of_cells(product, values_[step.trie][node]), sum));
      looks += met.end - met.begin;
    }
    for (auto n = fixed_begin; n < fixed_end; ++n) marks_[rows.fixed[n] >> 6U] = 0;
    poll_cancellation_after(static_cast<std::size_t>(looks));
  }

  struct NodeRange {
    std::int64_t begin;
    std::int64_t end;
  };
  struct MeetingRows {
    const std::uint32_t* other;
    const T* other_values;
    const std::uint32_t* fixed;
    const T* fixed_values;
  };

  // Adds the products where two rows meet, of which the fixed one is marked; whether they meet at all.
  bool meet_rows(const MeetingRows& rows, NodeRange met, NodeRange fixed, T& sum) const {
    constexpr std::int64_t kTimes = 16;
    bool any = false;
    const auto add = [&](std::int64_t n, std::int64_t m) {
      sum = scalar_add(sum, product_of_cells(rows.other_values[n], rows.fixed_values[m]));
      any = true;
    };
    if (met.end - met.begin > kTimes * (fixed.end - fixed.begin)) {
      for (auto m = fixed.begin; m < fixed.end; ++m) {
        met.begin = seek_node(rows.other, met.begin, met.end, rows.fixed[m]);
        if (met.begin == met.end) break;
        if (rows.other[met.begin] == rows.fixed[m]) add(met.begin, m);
      }
      return any;
    }
    for (auto n = met.begin; n < met.end; ++n) {
      const auto coordinate = rows.other[n];
      if (((marks_[coordinate >> 6U] >> (coordinate & 63U)) & 1U) == 0) continue;
      fixed.begin = seek_node(rows.fixed, fixed.begin, fixed.end, coordinate);
      add(n, fixed.begin++);
    }
    return any;
  }

  void add_held(const Level& run, const T* other, std::int64_t cell, std::int64_t columns) {
    if (other != nullptr && run.output_stride == 1) {
      if (auto* to = sink_.run(cell, columns)) {
        const T one(1);
        return loops_.add_products(to, held_.data(), other, &one, columns);
      }
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const auto value = held_[static_cast<std::size_t>(c)];
      sink_.add(cell + c * run.output_stride, other == nullptr ? value : product_of_cells(value, other[c]));
    }
  }

  const std::vector<Level>& levels_;
  const std::vector<const CellTrie*>& tries_;
  std::size_t row_level_;
  const CellTable& loops_;
  std::vector<const T*> values_;
  std::vector<const T*> at_;  // of each dense operand, its value at the indices that it has so far
  bool sums_;
  Sink& sink_;
  TrieCursors cursors_;
  struct LevelWay {
    Way way;
    std::size_t bases;  // where those of the level begin
  };
  std::vector<LevelWay> ways_;
  std::vector<const T*> bases_;       // of the dense operands of each level
  std::vector<NodeRange> ranges_;     // of the levels where tries meet
  std::vector<std::uint64_t> marks_;  // a bit for each coordinate of a row that others meet; all 0 in between
  std::array<T, kChunk> held_;
};

}  // namespace eindb
