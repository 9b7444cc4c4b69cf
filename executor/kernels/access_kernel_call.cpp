// The calls of an access.
#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/access_kernel.hpp"
#include "executor/kernels/streamed_copy.hpp"
#include "executor/kernels/strided_copy.hpp"

namespace eindb {

// One call: its loops over the free labels, and the tiles as they move through them.
class AccessKernel::Call {
 public:
  Call(const AccessKernel& kernel, std::span<const LabelView> operands, std::span<const PartRange> ranges,
       const MutableLabelView& output, bool first)
      : kernel_(kernel), ranges_(ranges), output_(output), is_first_(first) {
    const auto& source = operands[kernel.form_.source];
    source_ = source.data;
    for (std::size_t n = 0; n < kernel.form_.determined.size(); ++n) add_index(n, operands);
    for (std::size_t l = 0; l < ranges.size(); ++l)
      if (!kernel.form_.determines(kernel.labels_[l])) add_loop(l, source.strides[l], output.strides[l]);
    for (auto& index : indices_) fold(index, source);
    order_loops();
    merge_loops();
  }

  void run() {
    const bool assigns = is_first_ && kernel_.writes_once_ && kernel_.writes_all_;
    if (is_first_ && !assigns) clear();
    if (is_transposition()) return copy_whole();
    streams_ = assigns && writes_long_rows();
    pass_over(assigns);
    if (streams_) end_streams();
  }

 private:
  // A complex element that is moved, but not computed with.
  struct Moved16 {
    std::array<std::uint64_t, 2> bits;
  };

  static constexpr std::int64_t kLooked = 8;  // indices that are looked at together

  // Offsets of elements are modulo 2^64: those of cells that are not reached may exceed any tile.
  static std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  static void add_wrapping(std::int64_t& offset, std::int64_t more) {
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(more));
  }

  // The least i >= 0 with value + step * i >= bound, for a positive step.
  static std::int64_t steps_to(std::int64_t bound, std::int64_t value, std::int64_t step) {
    return bound <= value ? 0 : (bound - value + step - 1) / step;
  }

  void pass_over(bool assigns) {
    switch (kernel_.compute_) {
      case DType::Float32: return kernel_.writes_once_ ? pass<std::uint32_t, false>(assigns) : pass<float, true>(false);
      case DType::Float64:
        return kernel_.writes_once_ ? pass<std::uint64_t, false>(assigns) : pass<double, true>(false);
      case DType::Int64:
        return kernel_.writes_once_ ? pass<std::uint64_t, false>(assigns) : pass<std::uint64_t, true>(false);
      case DType::Complex64:
        return kernel_.writes_once_ ? pass<std::uint64_t, false>(assigns) : pass<std::complex<float>, true>(false);
      case DType::Complex128:
        return kernel_.writes_once_ ? pass<Moved16, false>(assigns) : pass<std::complex<double>, true>(false);
    }
  }

  // Whether a row is one copy, into a result that is larger than the caches.
  bool writes_long_rows() const {
    const auto& row = loops_.back();
    auto cells = static_cast<std::size_t>(row.size);
    for (std::size_t l = 0; l + 1 < loops_.size(); ++l)
      if (loops_[l].output != 0) cells *= static_cast<std::size_t>(loops_[l].size);
    const auto bytes = size_of(kernel_.compute_);
    return row.source == 1 && row.output == 1 && is_streamed(static_cast<std::size_t>(row.size) * bytes, cells * bytes);
  }

  // A determined label. Its affine index has become part of the loops' steps in both tiles.
  struct Index {
    std::size_t label = 0;
    std::int64_t begin = 0;  // of the label's range
    std::int64_t end = 0;
    std::int64_t value = 0;                  // affine: the index at the loops' first indices
    const std::int64_t* elements = nullptr;  // of an index operand
    const DeterminedLabel* bits = nullptr;   // where the index is in these
    std::int64_t in_source = 0;  // the strides of an index operand's label, which each row multiplies by its index
    std::int64_t in_output = 0;
  };

  struct Loop {
    std::size_t label = 0;
    std::int64_t size = 1;
    std::int64_t source = 0;  // elements per index
    std::int64_t output = 0;
    std::vector<std::int64_t> indices;  // by determined label: the step of its value, or of its element
  };

  void add_index(std::size_t n, std::span<const LabelView> operands) {
    const auto& determined = kernel_.form_.determined[n];
    const auto label = kernel_.determined_[n];
    Index index{.label = label, .begin = ranges_[label].begin, .end = ranges_[label].end()};
    if (determined.operand) {
      CHECK(operands[*determined.operand].dtype == DType::Int64, "an index is a whole number");
      index.elements = static_cast<const std::int64_t*>(operands[*determined.operand].data);
      index.bits = &determined;
      for (std::size_t l = 0; l < ranges_.size(); ++l) steps_of_.push_back(operands[*determined.operand].strides[l]);
    } else {
      index.value = determined.offset;
      for (std::size_t l = 0; l < ranges_.size(); ++l) {
        std::int64_t step = 0;
        for (const auto& [behind, coefficient] : determined.coefficients)
          if (behind == kernel_.labels_[l]) step = coefficient;
        index.value += step * ranges_[l].begin;
        steps_of_.push_back(step);
      }
    }
    indices_.push_back(index);
  }

  void add_loop(std::size_t label, std::int64_t in_source, std::int64_t in_output) {
    Loop loop{.label = label, .size = ranges_[label].size, .source = in_source, .output = in_output, .indices = {}};
    for (std::size_t n = 0; n < indices_.size(); ++n) loop.indices.push_back(steps_of_[n * ranges_.size() + label]);
    loops_.push_back(std::move(loop));
  }

  // Writes an affine index into the loops' steps; an index operand's label keeps its strides.
  void fold(Index& index, const LabelView& source) {
    const auto in_source = source.strides[index.label];
    const auto in_output = output_.strides[index.label];
    if (index.elements != nullptr) {
      index.in_source = in_source;
      index.in_output = in_output;
      return;
    }
    const auto n = static_cast<std::size_t>(&index - indices_.data());
    add_wrapping(source_begin_, wrapping_product(index.value - index.begin, in_source));
    add_wrapping(output_begin_, wrapping_product(index.value - index.begin, in_output));
    for (auto& loop : loops_) {
      add_wrapping(loop.source, wrapping_product(loop.indices[n], in_source));
      add_wrapping(loop.output, wrapping_product(loop.indices[n], in_output));
    }
  }

  bool takes_index(const Loop& loop) const {
    for (std::size_t n = 0; n < indices_.size(); ++n)
      if (indices_[n].elements != nullptr && loop.indices[n] != 0) return true;
    return false;
  }

  // The innermost loop is the one with the cheapest rows; the others follow the result.
  void order_loops() {
    if (loops_.empty()) loops_.push_back({0, 1, 0, 0, std::vector<std::int64_t>(indices_.size(), 0)});
    const auto distance = [](const Loop& loop) { return loop.output < 0 ? -(loop.output + 1) : loop.output; };
    std::stable_sort(loops_.begin(), loops_.end(),
                     [&](const Loop& a, const Loop& b) { return distance(a) > distance(b); });
    // About the nanoseconds of a cell: its own, and its part of those of a row.
    const auto cost = [&](const Loop& loop) {
      constexpr double kRow = 10;
      const int contiguous = (loop.output == 1 ? 1 : 0) + (loop.source == 1 ? 1 : 0);
      const double cell = takes_index(loop) ? 2 : contiguous == 2 ? 0.1 : contiguous == 1 ? 0.5 : 1;
      return cell + kRow / static_cast<double>(std::max<std::int64_t>(loop.size, 1));
    };
    const auto best =
        std::min_element(loops_.begin(), loops_.end(), [&](const Loop& a, const Loop& b) { return cost(a) < cost(b); });
    std::rotate(best, best + 1, loops_.end());
  }

  // Pairs of loops on which no index depends, and which nest in both tiles, become one.
  void merge_loops() {
    const auto is_free = [](const Loop& loop) {
      return std::all_of(loop.indices.begin(), loop.indices.end(), [](auto step) { return step == 0; });
    };
    for (std::size_t n = loops_.size(); n-- > 1;) {
      auto& outer = loops_[n - 1];
      const auto& inner = loops_[n];
      if (!is_free(outer) || !is_free(inner)) continue;
      if (outer.source != wrapping_product(inner.source, inner.size)) continue;
      if (outer.output != wrapping_product(inner.output, inner.size)) continue;
      outer.size *= inner.size;
      outer.source = inner.source;
      outer.output = inner.output;
      loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(n));
    }
  }

  void clear() {
    static constexpr std::array<std::byte, 16> kZero{};
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> extents;
    for (std::size_t l = 0; l < ranges_.size(); ++l) {
      if (!kernel_.in_output_[l]) continue;
      strides.push_back(output_.strides[l]);
      extents.push_back(ranges_[l].size);
    }
    const std::vector<std::int64_t> none(strides.size(), 0);
    copy_strided({output_.dtype, output_.data, strides}, {output_.dtype, kZero.data(), none}, extents);
  }

  // Whether all cells are copied, between tiles that are contiguous along different loops: rows would visit a cache
  // line for each cell, where squares take lines whole.
  bool is_transposition() const {
    bool along_source = false;
    bool along_output = false;
    for (const auto& loop : loops_) {
      if (loop.size == 1) continue;
      if (loop.source < 0 || loop.output <= 0) return false;
      along_source = along_source || (loop.source == 1 && loop.output > 1);
      along_output = along_output || (loop.output == 1 && loop.source > 1);
    }
    return kernel_.writes_once_ && along_source && along_output &&
           std::all_of(indices_.begin(), indices_.end(), [&](const Index& index) { return stays_inside(index); });
  }

  // Whether an affine index has its label's range in all cells.
  bool stays_inside(const Index& index) const {
    if (index.elements != nullptr) return false;
    const auto n = static_cast<std::size_t>(&index - indices_.data());
    auto least = index.value;
    auto greatest = index.value;
    for (const auto& loop : loops_) {
      const auto reach = loop.indices[n] * (loop.size - 1);
      (reach < 0 ? least : greatest) += reach;
    }
    return least >= index.begin && greatest < index.end;
  }

  void copy_whole() const {
    std::vector<std::int64_t> from;
    std::vector<std::int64_t> to;
    std::vector<std::int64_t> extents;
    for (const auto& loop : loops_) {
      from.push_back(loop.source);
      to.push_back(loop.output);
      extents.push_back(loop.size);
    }
    const auto bytes = static_cast<std::int64_t>(size_of(kernel_.compute_));
    copy_strided({kernel_.compute_, static_cast<std::byte*>(output_.data) + output_begin_ * bytes, to},
                 {kernel_.compute_, static_cast<const std::byte*>(source_) + source_begin_ * bytes, from}, extents);
  }

  // The place of a row: the first element of either tile, and the indices there.
  struct Place {
    std::int64_t source = 0;
    std::int64_t output = 0;
    std::vector<std::int64_t> indices;  // the value of an affine index, or the place of an element
  };

  // Visits the rows. `assigns`: cells whose index is out of range become zero.
  template <class T, bool kAdds>
  void pass(bool assigns) {
    const auto* source = static_cast<const T*>(source_);
    auto* output = static_cast<T*>(output_.data);
    Place place{source_begin_, output_begin_, {}};
    for (const auto& index : indices_) place.indices.push_back(index.elements != nullptr ? 0 : index.value);
    const auto outer = loops_.size() - 1;
    const auto length = static_cast<std::size_t>(loops_.back().size);
    row_takes_index_ = takes_index(loops_.back());
    index_of_runs_ = index_of_runs();
    index_of_row_ = index_of_row();
    counters_.assign(outer, 0);
    index_of_rows_ = assigns ? std::nullopt : index_of_rows();
    for (;;) {
      if (const auto outside = index_of_rows_ ? rows_outside(place) : 0; outside > 0) {
        poll_cancellation_after(static_cast<std::size_t>(outside));
        if (!advance(place, outside)) return;
        continue;
      }
      poll_cancellation_after(length / 4 + 1);
      row<T, kAdds>(source, output, place, assigns);
      if (!advance(place, 1)) return;
    }
  }

  // Goes that many rows on, which are as many at most as are left of the loop around rows; false behind the last one.
  bool advance(Place& place, std::int64_t rows) {
    for (auto n = counters_.size(); n-- > 0; rows = 1) {
      move(place, loops_[n], rows);
      if ((counters_[n] += rows) < loops_[n].size) return true;
      move(place, loops_[n], -loops_[n].size);
      counters_[n] = 0;
    }
    return false;
  }

  // The index of an operand that changes from row to row, and not along them.
  std::optional<std::size_t> index_of_rows() const {
    if (counters_.empty()) return std::nullopt;
    const auto& around = loops_[loops_.size() - 2];
    for (std::size_t n = 0; n < indices_.size(); ++n)
      if (indices_[n].elements != nullptr && around.indices[n] != 0 && loops_.back().indices[n] == 0) return n;
    return std::nullopt;
  }

  // How many rows from this one on have their index in another part: of tensors in many parts those are almost all.
  std::int64_t rows_outside(const Place& place) const {
    const auto n = *index_of_rows_;
    const auto& index = indices_[n];
    const auto& around = loops_[loops_.size() - 2];
    const auto most = around.size - counters_.back();
    const auto* element = index.elements + place.indices[n];
    std::int64_t rows = 0;
    if (around.indices[n] == 1 && index.bits->shift == 0 && index.bits->mask == -1) {
      for (; rows + kLooked <= most && are_outside(element, index); rows += kLooked) element += kLooked;
    }
    for (; rows < most && *element >= kLeastPackedIndices; ++rows, element += around.indices[n]) {
      const auto value = index.bits->index_in(*element);
      if (value >= index.begin && value < index.end) break;
    }
    return rows;
  }

  // Whether none of the next elements has its index in this part or is out of bounds; without branches.
  static bool are_outside(const std::int64_t* element, const Index& index) {
    const auto begin = static_cast<std::uint64_t>(index.begin);
    const auto size = static_cast<std::uint64_t>(index.end - index.begin);
    constexpr auto kLeast = static_cast<std::uint64_t>(kIndexOutOfBounds);
    constexpr auto kOutOfBounds = static_cast<std::uint64_t>(kLeastPackedIndices) - kLeast;
    unsigned found = 0;
    for (std::int64_t i = 0; i < kLooked; ++i) {
      const auto value = static_cast<std::uint64_t>(element[i]);
      found |= static_cast<unsigned>(value - begin < size) | static_cast<unsigned>(value - kLeast < kOutOfBounds);
    }
    return found == 0;
  }

  static void move(Place& place, const Loop& loop, std::int64_t steps) {
    add_wrapping(place.source, wrapping_product(steps, loop.source));
    add_wrapping(place.output, wrapping_product(steps, loop.output));
    for (std::size_t n = 0; n < loop.indices.size(); ++n) place.indices[n] += steps * loop.indices[n];
  }

  template <class T, bool kAdds>
  void row(const T* source, T* output, const Place& place, bool assigns) {
    const auto& loop = loops_.back();
    std::int64_t begin = 0;
    std::int64_t end = loop.size;
    auto from = place.source;
    auto to = place.output;
    for (std::size_t n = 0; n < indices_.size(); ++n) {
      const auto& index = indices_[n];
      const auto step = loop.indices[n];
      if (index.elements == nullptr) {
        clip(index, place.indices[n], step, begin, end);
      } else if (step == 0) {
        const auto value = checked(index, index.elements[place.indices[n]], 0);
        if (value < index.begin || value >= index.end) {
          end = begin;
        } else {
          add_wrapping(from, wrapping_product(value - index.begin, index.in_source));
          add_wrapping(to, wrapping_product(value - index.begin, index.in_output));
        }
      }
    }
    begin = std::min(begin, loop.size);
    end = std::clamp(end, begin, loop.size);
    if (assigns) {
      fill(output + to, 0, begin, loop.output);
      fill(output + to, end, loop.size, loop.output);
    }
    if (begin == end) return;
    if (row_takes_index_) return elements<T, kAdds>(source + from, output + to, place, begin, end, assigns);
    copy<T, kAdds>(source + from + begin * loop.source, loop.source, output + to + begin * loop.output, loop.output,
                   end - begin);
  }

  static void clip(const Index& index, std::int64_t value, std::int64_t step, std::int64_t& begin, std::int64_t& end) {
    if (step == 0) {
      if (value < index.begin || value >= index.end) end = begin;
    } else if (step > 0) {
      begin = std::max(begin, steps_to(index.begin, value, step));
      end = std::min(end, steps_to(index.end, value, step));
    } else {
      begin = std::max(begin, steps_to(-index.end + 1, -value, -step));
      end = std::min(end, steps_to(-index.begin + 1, -value, -step));
    }
  }

  template <class T>
  static void fill(T* output, std::int64_t begin, std::int64_t end, std::int64_t step) {
    for (auto i = begin; i < end; ++i) output[i * step] = T{};
  }

  template <class T, bool kAdds>
  static void put(T& output, const T& value) {
    if constexpr (kAdds) output += value;
    else output = value;
  }

  template <class T, bool kAdds>
  void copy(const T* source, std::int64_t source_step, T* output, std::int64_t output_step, std::int64_t count) const {
    if (source_step != 1 || output_step != 1) {
      for (std::int64_t i = 0; i < count; ++i) put<T, kAdds>(output[i * output_step], source[i * source_step]);
    } else if constexpr (kAdds) {
      for (std::int64_t i = 0; i < count; ++i) output[i] += source[i];
    } else {
      const auto bytes = static_cast<std::size_t>(count) * sizeof(T);
      if (streams_) stream_row(output, source, bytes);
      else std::memcpy(output, source, bytes);
    }
  }

  // The index that changes along a row whose elements follow each other, as 5, 6, 7 do: the one in the lowest bits of
  // the only operand that changes. Nullopt if there is no such row.
  std::optional<std::size_t> index_of_runs() const {
    std::optional<std::size_t> lowest;
    const std::int64_t* elements = nullptr;
    for (std::size_t n = 0; n < indices_.size(); ++n) {
      const auto step = loops_.back().indices[n];
      if (indices_[n].elements == nullptr || step == 0) continue;
      if (step != 1 || (elements != nullptr && elements != indices_[n].elements)) return std::nullopt;
      elements = indices_[n].elements;
      if (indices_[n].bits->shift == 0) lowest = n;
    }
    return lowest;
  }

  // The index of an operand that changes along a row, if there is one only.
  std::optional<std::size_t> index_of_row() const {
    std::optional<std::size_t> found;
    for (std::size_t n = 0; n < indices_.size(); ++n) {
      if (indices_[n].elements == nullptr || loops_.back().indices[n] == 0) continue;
      if (found) return std::nullopt;
      found = n;
    }
    return found;
  }

  // How many elements from place i of the row on follow each other, with indices inside.
  std::int64_t run_length(const Place& place, std::int64_t i, std::int64_t end) const {
    const auto& index = indices_[*index_of_runs_];
    const auto* elements = &element(*index_of_runs_, place, i);
    const auto most = std::min(end - i, index.end - index.bits->index_in(*elements));
    std::int64_t length = 1;
    while (length < most && elements[length] == *elements + length) ++length;
    return length;
  }

  // A row along which index operands change. Elements that follow each other are one copy.
  template <class T, bool kAdds>
  void elements(const T* source, T* output, const Place& place, std::int64_t begin, std::int64_t end, bool assigns) {
    const auto& loop = loops_.back();
    std::int64_t count = 1;
    auto looked_at = begin;
    for (auto i = begin; i < end; i += count) {
      if (index_of_row_ && i >= looked_at) {
        i = scattered<T, kAdds>(source, output, place, i, end);
        if (i == end) return;
        looked_at = i + kLooked;
      }
      auto from = i * loop.source;
      auto to = i * loop.output;
      bool reached = true;
      for (std::size_t n = 0; n < indices_.size() && reached; ++n) {
        const auto& index = indices_[n];
        if (index.elements == nullptr || loop.indices[n] == 0) continue;
        const auto value = checked(index, element(n, place, i), i);
        reached = value >= index.begin && value < index.end;
        from += (value - index.begin) * index.in_source;
        to += (value - index.begin) * index.in_output;
      }
      count = reached && index_of_runs_ ? run_length(place, i, end) : 1;
      if (count > 1) {
        const auto& index = indices_[*index_of_runs_];
        copy<T, kAdds>(source + from, loop.source + index.in_source, output + to, loop.output + index.in_output, count);
      } else if (reached) {
        put<T, kAdds>(output[to], source[from]);
      } else if (assigns) {
        output[i * loop.output] = T{};
      }
    }
  }

  // Elements of a row with one index, as long as the next ones all lie inside and none follows another: a few are
  // looked at together, without branches. Returns the place behind the last one.
  template <class T, bool kAdds>
  std::int64_t scattered(const T* source, T* output, const Place& place, std::int64_t i, std::int64_t end) const {
    const auto& index = indices_[*index_of_row_];
    const auto shift = index.bits->shift;
    const auto mask = index.bits->mask;
    const auto* elements = index.elements + place.indices[*index_of_row_];
    const auto step = loops_.back().indices[*index_of_row_];
    const auto from_step = loops_.back().source;
    const auto to_step = loops_.back().output;
    const auto in_source = index.in_source;
    const auto in_output = index.in_output;
    const auto size = static_cast<std::uint64_t>(index.end - index.begin);
    const auto first = static_cast<std::uint64_t>(index.begin);
    for (; i + kLooked <= end; i += kLooked) {
      std::array<std::int64_t, kLooked> values{};
      unsigned found = 0;
      std::uint64_t before = 0;
      for (std::int64_t k = 0; k < kLooked; ++k) {
        const auto value = elements[(i + k) * step];
        const auto inside = static_cast<std::uint64_t>((value >> shift) & mask) - first;
        found |= static_cast<unsigned>(inside >= size);
        found |= static_cast<unsigned>(value < kLeastPackedIndices);
        found |= static_cast<unsigned>(k > 0 && static_cast<std::uint64_t>(value) - 1 == before);
        before = static_cast<std::uint64_t>(value);
        values[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(inside);
      }
      if (found != 0) return i;
      for (std::int64_t k = 0; k < kLooked; ++k) {
        const auto inside = values[static_cast<std::size_t>(k)];
        put<T, kAdds>(output[(i + k) * to_step + inside * in_output], source[(i + k) * from_step + inside * in_source]);
      }
    }
    return i;
  }

  // The element of an index operand at place i of the row.
  const std::int64_t& element(std::size_t index, const Place& place, std::int64_t i) const {
    return indices_[index].elements[place.indices[index] + i * loops_.back().indices[index]];
  }

  std::int64_t checked(const Index& index, std::int64_t element, std::int64_t in_row) const {
    if (element < kLeastPackedIndices) fail(index, element, in_row);
    return index.bits->index_in(element);
  }

  [[noreturn]] void fail(const Index& index, std::int64_t element, std::int64_t in_row) const {
    const auto n = static_cast<std::size_t>(&index - indices_.data());
    std::string place;
    const auto add = [&](const Loop& loop, std::int64_t at) {
      if (loop.indices[n] != 0) kernel_.add_place(loop.label, ranges_[loop.label].begin + at, place);
    };
    for (std::size_t l = 0; l + 1 < loops_.size(); ++l) add(loops_[l], counters_[l]);
    add(loops_.back(), in_row);
    throw kernel_.out_of_bounds(*index.bits->operand, element, place);
  }

  const AccessKernel& kernel_;
  std::span<const PartRange> ranges_;
  MutableLabelView output_;
  bool is_first_;
  const void* source_ = nullptr;
  std::int64_t source_begin_ = 0;
  std::int64_t output_begin_ = 0;
  std::vector<Index> indices_;
  std::vector<std::int64_t> steps_of_;  // by index and label
  std::vector<Loop> loops_;             // innermost last
  std::vector<std::int64_t> counters_;  // of all loops but the innermost
  bool row_takes_index_ = false;
  std::optional<std::size_t> index_of_row_;
  bool streams_ = false;
  std::optional<std::size_t> index_of_runs_;
  std::optional<std::size_t> index_of_rows_;
};

void AccessKernel::run(std::span<const LabelView> operands, std::span<const PartRange> ranges,
                       const MutableLabelView& accumulator, bool first) const {
  CHECK(operands[form_.source].dtype == compute_ && accumulator.dtype == compute_,
        "an access moves elements of one type");
  Call(*this, operands, ranges, accumulator, first).run();
}

}  // namespace eindb
