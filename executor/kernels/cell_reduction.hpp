#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "common/poll_steps.hpp"
#include "executor/kernels/cell_sink.hpp"
#include "executor/kernels/level_table.hpp"
#include "tensor/cell_block.hpp"

namespace eindb {

/// Aggregates the cells of one trie into all values of a result, and counts them in the same pass. Cells are visited as
/// they lie: those that differ in aggregated dimensions alone, which come last, are a run of values, and others are
/// scattered.
template <class T>
class CellReduction {
 public:
  /// `values`: of the cells; `strides`: of the result by level, 0 if the dimension is aggregated. `fold`: the loop that
  /// aggregates a row of values (ElementTable::along).
  CellReduction(const CellTrie& trie, const T* values, std::vector<std::int64_t> strides, Aggregate aggregate,
                ElementTable::Fold fold, T* results, std::int64_t* counts)
      : trie_(trie),
        values_(values),
        strides_(std::move(strides)),
        aggregate_(aggregate),
        fold_(fold),
        results_(results),
        counts_(counts),
        run_level_(strides_.size()) {
    while (run_level_ > 0 && strides_[run_level_ - 1] == 0) --run_level_;
  }

  void run() {
    if (trie_.count() > 0) visit(0, 0, static_cast<std::int64_t>(trie_.levels.front().coordinates.size()), 0);
  }

 private:
  // The nodes of a level from `begin` to before `end`.
  void visit(std::size_t level, std::int64_t begin, std::int64_t end, std::int64_t cell) {
    if (level == run_level_) return add_run(level, begin, end, cell);
    const auto* coordinates = trie_.levels[level].coordinates.data();
    const auto stride = strides_[level];
    if (level + 1 == trie_.levels.size()) return scatter(coordinates, begin, end, cell, stride);
    const auto* begins = trie_.levels[level].begins.data();
    for (auto node = begin; node < end; ++node)
      visit(level + 1, begins[node], begins[node + 1], cell + static_cast<std::int64_t>(coordinates[node]) * stride);
  }

  void add_run(std::size_t level, std::int64_t begin, std::int64_t end, std::int64_t cell) {
    for (; level + 1 < trie_.levels.size(); ++level) {
      const auto& begins = trie_.levels[level].begins;
      begin = begins[static_cast<std::size_t>(begin)];
      end = begins[static_cast<std::size_t>(end)];
    }
    constexpr std::int64_t kFew = 16;
    poll_cancellation_after(static_cast<std::size_t>((end - begin) / 4 + 1));
    counts_[cell] += end - begin;
    with_constant([&](auto constant) {
      constexpr auto kAggregate = decltype(constant)::value;
      auto& result = results_[cell];
      Accumulator<T, kAggregate> value(result);
      if (end - begin >= kFew) {
        Accumulator<T, kAggregate> run;
        fold_(&run, {values_ + begin, 0, 1}, 1, end - begin, true);
        value = aggregated_value(kAggregate, value, run);
      } else {
        for (auto n = begin; n < end; ++n)
          value = aggregated_value(kAggregate, value, Accumulator<T, kAggregate>(values_[n]));
      }
      result = static_cast<T>(value);
    });
  }

  void scatter(const std::uint32_t* coordinates, std::int64_t begin, std::int64_t end, std::int64_t cell,
               std::int64_t stride) {
    poll_cancellation_after(static_cast<std::size_t>(end - begin));
    with_constant([&](auto aggregate) {
      for (auto n = begin; n < end; ++n) {
        const auto to = cell + static_cast<std::int64_t>(coordinates[n]) * stride;
        results_[to] = aggregated_value(decltype(aggregate)::value, results_[to], values_[n]);
        ++counts_[to];
      }
    });
  }

  template <class Function>
  void with_constant(Function function) {
    using enum Aggregate;
    switch (aggregate_) {
      case Sum: return function(std::integral_constant<Aggregate, Sum>{});
      case Prod: return function(std::integral_constant<Aggregate, Prod>{});
      case Min: return function(std::integral_constant<Aggregate, Min>{});
      default: return function(std::integral_constant<Aggregate, Max>{});
    }
  }

  const CellTrie& trie_;
  const T* values_;
  std::vector<std::int64_t> strides_;
  Aggregate aggregate_;
  ElementTable::Fold fold_;
  T* results_;
  std::int64_t* counts_;
  std::size_t run_level_;  // that and the levels behind are aggregated
};

}  // namespace eindb
