#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/level_table.hpp"
#include "tensor/cell_block.hpp"
#include "tensor/einsum.hpp"
#include "tensor/huge_pages.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {

/// Aggregates a further value.
template <class T>
T aggregated_value(Aggregate aggregate, T before, T next) {
  switch (aggregate) {
    case Aggregate::Sum: return scalar_add(before, next);
    case Aggregate::Prod: return scalar_multiply(before, next);
    case Aggregate::Min: return scalar_least(before, next);
    case Aggregate::Max: return scalar_greatest(before, next);
    default: return next;
  }
}

/// Takes the values of a join by the row-major number of the cell of the result: here into all values of a tile.
template <class T>
class DenseSink {
 public:
  DenseSink(T* values, Aggregate aggregate) : values_(values), aggregate_(aggregate) {}

  static constexpr bool kTakesRows = false;

  void add(std::int64_t cell, T value) {
    if (aggregate_ == Aggregate::Sum) values_[cell] = scalar_add(values_[cell], value);
    else values_[cell] = aggregated_value(aggregate_, values_[cell], value);
  }
  /// Adds value(n) at cell + places[n] * stride, for n < count.
  template <class Value>
  void add_at_places(std::int64_t cell, const std::uint32_t* places, std::int64_t stride, std::int64_t count,
                     const Value& value) {
    auto* to = values_ + cell;
    if (aggregate_ == Aggregate::Sum && stride == 0) {
      Wide<T> sum(*to);
      for (std::int64_t n = 0; n < count; ++n) sum = scalar_add(sum, Wide<T>(value(n)));
      *to = static_cast<T>(sum);
    } else if (aggregate_ == Aggregate::Sum) {
      for (std::int64_t n = 0; n < count; ++n) {
        auto& sum = to[static_cast<std::int64_t>(places[n]) * stride];
        sum = scalar_add(sum, value(n));
      }
    } else if (stride == 0) {
      auto held = *to;
      for (std::int64_t n = 0; n < count; ++n) held = aggregated_value(aggregate_, held, value(n));
      *to = held;
    } else {
      for (std::int64_t n = 0; n < count; ++n) add(cell + static_cast<std::int64_t>(places[n]) * stride, value(n));
    }
  }
  /// The values of some points, and the end of all. Points of one cell mostly follow each other.
  void take_points(std::span<const std::int64_t> cells, const T* values) {
    for (std::size_t n = 0; n < cells.size();) {
      const auto cell = cells[n];
      Wide<T> value(values_[cell]);
      for (; n < cells.size() && cells[n] == cell; ++n) value = aggregated_value(aggregate_, value, Wide<T>(values[n]));
      values_[cell] = static_cast<T>(value);
    }
  }
  void end_points() {}
  /// Cells to which values may be added in place, `count` of them from that one on; null if they must be passed to
  /// add().
  T* run(std::int64_t cell, std::int64_t /*count*/) { return aggregate_ == Aggregate::Sum ? values_ + cell : nullptr; }

 private:
  T* values_;
  Aggregate aggregate_;
};

/// The same into a block of cells. They come in ascending order; or in rows, which do, while the cells of a row come in
/// any order and again and again: then a row has a place for each, and bits for those that have come; or a hash table,
/// where it has too many places.
template <class T>
class CellSink {
 public:
  enum class Mode : std::uint8_t { Ascending, Places, Hashed };

  /// `row`: the number of places of a row; rows begin at multiples of it. `keeps_zeros`: cells that are +0 stay.
  /// `most`: the most cells that come, 0 if that is unknown.
  CellSink(const Shape& shape, Mode mode, std::int64_t row, Aggregate aggregate, bool keeps_zeros, std::int64_t most)
      : mode_(mode), row_(row), aggregate_(aggregate), keeps_zeros_(keeps_zeros), maker_(shape) {
    maker_.reserve(static_cast<std::size_t>(most));
    reserve_huge(values_, static_cast<std::size_t>(most) * sizeof(T));
    if (mode_ != Mode::Places) return;
    places_.resize(static_cast<std::size_t>(row_));
    came_.resize(static_cast<std::size_t>(row_ / 64 + 1));
    words_came_.resize(came_.size() / 64 + 1);
  }

  static constexpr bool kTakesRows = true;

  static bool is_plus_zero(T value) {
    constexpr std::array<std::byte, sizeof(T)> kZero{};
    return std::memcmp(static_cast<const void*>(&value), kZero.data(), sizeof(T)) == 0;
  }

  bool has_rows() const { return mode_ != Mode::Ascending; }
  void begin_row(std::int64_t first_cell) { first_ = first_cell; }
  void end_row() {
    if (mode_ == Mode::Places) end_places();
    else end_hashed();
  }

  void add(std::int64_t cell, T value) {
    if (mode_ == Mode::Places) return add_place(cell - first_, value);
    if (mode_ == Mode::Hashed) return add_hashed(cell - first_, value);
    if (aggregate_ == Aggregate::None) return append(cell, value);
    if (is_open_ && open_cell_ == cell) {
      open_value_ = aggregated_value(aggregate_, open_value_, value);
    } else {
      close();
      is_open_ = true;
      open_cell_ = cell;
      open_value_ = value;
    }
  }
  template <class Value>
  void add_at_places(std::int64_t cell, const std::uint32_t* places, std::int64_t stride, std::int64_t count,
                     const Value& value) {
    if (mode_ == Mode::Ascending && stride != 0) return append_at_places(cell, places, stride, count, value);
    if (mode_ != Mode::Places || aggregate_ != Aggregate::Sum) {
      for (std::int64_t n = 0; n < count; ++n) add(cell + static_cast<std::int64_t>(places[n]) * stride, value(n));
      return;
    }
    auto* sums = places_.data();
    auto* came = came_.data();
    auto* words = words_came_.data();
    for (std::int64_t n = 0; n < count; ++n) {
      const auto place = static_cast<std::size_t>(cell - first_ + static_cast<std::int64_t>(places[n]) * stride);
      sums[place] = scalar_add(sums[place], value(n));
      came[place / 64] |= std::uint64_t{1} << (place % 64);
      words[place / 4096] |= std::uint64_t{1} << (place / 64 % 64);
    }
  }
  void take_points(std::span<const std::int64_t> cells, const T* values) {
    if (!has_rows() && aggregate_ == Aggregate::None) return append_all(cells, values);
    for (std::size_t n = 0; n < cells.size(); ++n) {
      if (has_rows() && (!is_in_row_ || cells[n] < first_ || cells[n] - first_ >= row_)) {
        if (is_in_row_) end_row();
        begin_row(cells[n] / row_ * row_);
        is_in_row_ = true;
      }
      add(cells[n], values[n]);
    }
  }
  void end_points() {
    if (is_in_row_) end_row();
    is_in_row_ = false;
  }
  T* run(std::int64_t cell, std::int64_t count) {
    if (mode_ != Mode::Places || aggregate_ != Aggregate::Sum) return nullptr;
    for (auto place = cell - first_; place < cell - first_ + count; ++place) mark(static_cast<std::size_t>(place));
    return places_.data() + (cell - first_);
  }

  /// All cells, with values of that type, which is T.
  CellBlock take(DType type) {
    close();
    values_.resize(maker_.count() * sizeof(T));
    return maker_.take(type, std::move(values_));
  }

 private:
  static constexpr std::int64_t kFree = -1;
  static constexpr std::size_t kStep = 1024;

  void append(std::int64_t cell, T value) {
    if (maker_.count() == room_) make_room(kStep);
    append_in_room(cell, value);
  }
  void append_all(std::span<const std::int64_t> cells, const T* values) {
    if (room_ - maker_.count() < cells.size()) make_room(std::max(kStep, cells.size()));
    for (std::size_t n = 0; n < cells.size(); ++n) append_in_room(cells[n], values[n]);
  }
  // Where cells come in ascending order, those at different places come once each.
  template <class Value>
  void append_at_places(std::int64_t cell, const std::uint32_t* places, std::int64_t stride, std::int64_t count,
                        const Value& value) {
    close();
    if (room_ - maker_.count() < static_cast<std::size_t>(count))
      make_room(std::max(kStep, static_cast<std::size_t>(count)));
    for (std::int64_t n = 0; n < count; ++n)
      append_in_room(cell + static_cast<std::int64_t>(places[n]) * stride, value(n));
  }
  void append_in_room(std::int64_t cell, T value) {
    if (!keeps_zeros_ && is_plus_zero(value)) return;
    std::memcpy(values_.data() + maker_.count() * sizeof(T), &value, sizeof(T));
    maker_.add(cell);
  }
  // Step by step, so that what is set to zero is still in a cache when it is written.
  void make_room(std::size_t cells) {
    room_ = maker_.count() + cells;
    maker_.make_room(cells);
    if (values_.capacity() < room_ * sizeof(T)) reserve_huge(values_, 2 * room_ * sizeof(T));
    values_.resize(room_ * sizeof(T));
  }
  void close() {
    if (is_open_) append(open_cell_, open_value_);
    is_open_ = false;
  }

  void mark(std::size_t place) {
    came_[place / 64] |= std::uint64_t{1} << (place % 64);
    words_came_[place / 4096] |= std::uint64_t{1} << (place / 64 % 64);
  }

  // Places are zero before they are added to.
  void add_place(std::int64_t number, T value) {
    const auto place = static_cast<std::size_t>(number);
    auto& sum = places_[place];
    if (aggregate_ == Aggregate::Sum) {
      sum = scalar_add(sum, value);
    } else {
      const bool came = (came_[place / 64] >> (place % 64) & 1U) != 0;
      sum = came ? aggregated_value(aggregate_, sum, value) : value;
    }
    mark(place);
  }

  void end_places() {
    for (std::size_t group = 0; group < words_came_.size(); ++group) {
      for (auto words = std::exchange(words_came_[group], 0); words != 0; words &= words - 1) {
        const auto word = group * 64 + static_cast<std::size_t>(std::countr_zero(words));
        for (auto bits = std::exchange(came_[word], 0); bits != 0; bits &= bits - 1) {
          const auto place = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
          append(first_ + static_cast<std::int64_t>(place), std::exchange(places_[place], T(0)));
        }
      }
    }
  }

  void add_hashed(std::int64_t number, T value) {
    if (2 * (used_.size() + 1) > table_.size()) grow();
    const auto slot = slot_of_number(number);
    auto& [key, sum] = table_[slot];
    if (key == kFree) {
      key = number;
      sum = value;
      used_.push_back(slot);
    } else {
      sum = aggregated_value(aggregate_, sum, value);
    }
  }

  std::size_t slot_of_number(std::int64_t number) const {
    const auto mask = table_.size() - 1;
    auto slot = static_cast<std::size_t>(static_cast<std::uint64_t>(number) * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
    while (table_[slot].first != kFree && table_[slot].first != number) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    constexpr std::size_t kLeast = 64;
    auto before = std::move(table_);
    table_.assign(std::max(kLeast, 2 * before.size()), {kFree, T(0)});
    for (auto& slot : used_) {
      const auto entry = before[slot];
      slot = slot_of_number(entry.first);
      table_[slot] = entry;
    }
  }

  void end_hashed() {
    constexpr std::size_t kFew = 256;
    poll_cancellation_after(used_.size());
    if (used_.size() <= kFew) end_few();
    else end_many();
    used_.clear();
  }
  void end_few() {
    const auto number_of = [&](std::size_t slot) { return table_[slot].first; };
    std::sort(used_.begin(), used_.end(), [&](auto a, auto b) { return number_of(a) < number_of(b); });
    for (const auto slot : used_) append(first_ + std::exchange(table_[slot].first, kFree), table_[slot].second);
  }
  void end_many() {
    std::vector<std::int64_t> numbers;
    std::vector<std::byte> values(used_.size() * sizeof(T));
    numbers.reserve(used_.size());
    for (const auto slot : used_) {
      std::memcpy(values.data() + numbers.size() * sizeof(T), &table_[slot].second, sizeof(T));
      numbers.push_back(std::exchange(table_[slot].first, kFree));
    }
    sort_cells(numbers, values, sizeof(T));
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      T value;
      std::memcpy(&value, values.data() + n * sizeof(T), sizeof(T));
      append(first_ + numbers[n], value);
    }
  }

  Mode mode_;
  std::int64_t row_;
  Aggregate aggregate_;
  bool keeps_zeros_;
  std::int64_t first_ = 0;  // of the row
  bool is_in_row_ = false;  // of points
  CellMaker maker_;         // of the cells that are done
  std::size_t room_ = 0;    // for cells and their values
  std::vector<std::byte> values_;
  bool is_open_ = false;  // the last cell, in ascending order, to which more may be added
  std::int64_t open_cell_ = 0;
  T open_value_{};
  std::vector<T> places_;
  std::vector<std::uint64_t> came_;        // a bit for each place
  std::vector<std::uint64_t> words_came_;  // a bit for each word of those
  std::vector<std::pair<std::int64_t, T>> table_;
  std::vector<std::size_t> used_;  // slots of the table
};

}  // namespace eindb
