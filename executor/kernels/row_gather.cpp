#include "executor/kernels/row_gather.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/poll_steps.hpp"
#include "executor/kernels/label_view.hpp"
#include "executor/kernels/streamed_copy.hpp"

namespace eindb {
namespace {

std::size_t place_of_gathered(const Labels& labels, Label label) {
  const auto place = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  CHECK(place < labels.size(), "a label of a gather has a place");
  return place;
}

constexpr std::size_t kRowsPerPoll = 4096;

// A loop over rows, or over the cells of one: the elements from index to index.
struct RowLoop {
  std::int64_t size = 1;
  std::int64_t source = 0;
  std::int64_t result = 0;
};

// Pairs of loops that nest in both tiles become one; outermost first.
void merge(std::vector<RowLoop>& loops) {
  for (std::size_t n = loops.size(); n-- > 1;) {
    auto& outer = loops[n - 1];
    const auto& inner = loops[n];
    if (outer.source != inner.source * inner.size || outer.result != inner.result * inner.size) continue;
    outer = {outer.size * inner.size, inner.source, inner.result};
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

// Copies the cells of a row, or makes them zero where there is no source.
template <class T>
void write_row(T* to, const T* from, const RowLoop* loop, const RowLoop* last, bool streams) {
  const auto [size, in_source, in_result] = *loop;
  if (loop != last) {
    for (std::int64_t i = 0; i < size; ++i)
      write_row(to + i * in_result, from == nullptr ? from : from + i * in_source, loop + 1, last, streams);
  } else if (from == nullptr) {
    for (std::int64_t i = 0; i < size; ++i) to[i * in_result] = T{};
  } else if (in_source == 1 && in_result == 1) {
    const auto bytes = static_cast<std::size_t>(size) * sizeof(T);
    if (streams) stream_row(to, from, bytes);
    else std::memcpy(to, from, bytes);
  } else {
    for (std::int64_t i = 0; i < size; ++i) to[i * in_result] = from[i * in_source];
  }
}

}  // namespace

std::int64_t SortedRows::part_at(std::span<const std::int64_t> key) const {
  CHECK(key.size() == axes.size(), "a part has a coordinate for each aggregated label");
  std::int64_t part = 0;
  for (std::size_t a = 0; a < axes.size(); ++a) part = part * axes[a].size + key[a] - axes[a].begin;
  return part;
}

std::optional<RowGather> RowGather::of(const AccessForm& form, const EinSum& einsum, const LabelTable& labels) {
  if (!operand_of_rows(form, einsum)) return std::nullopt;
  return RowGather(form, einsum, labels);
}

RowGather::RowGather(const AccessForm& form, const EinSum& einsum, const LabelTable& labels)
    : form_(form),
      in_source_(einsum.inputs[form.source]),
      in_indices_(einsum.inputs[*form.determined.front().operand]),
      output_(einsum.output),
      labels_(einsum.labels()) {
  for (const auto& index : form_.determined) {
    determined_.push_back(place_of_gathered(labels_, index.label));
    axis_.push_back(place_of_gathered(einsum.aggregated, index.label));
    extents_.push_back(labels.extent(index.label));
  }
  CHECK(std::none_of(in_indices_.begin(), in_indices_.end(), [&](Label label) { return form_.determines(label); }),
        "an index is determined by free labels");
}

// The part that an element's indices lie in.
class RowGather::Axes {
 public:
  Axes(const RowGather& gather, const std::vector<GatherAxis>& axes) {
    std::vector<std::int64_t> strides(axes.size(), 1);
    for (auto a = axes.size(); a-- > 0; count_ *= axes[a].size) strides[a] = count_;
    for (std::size_t n = 0; n < gather.axis_.size(); ++n) {
      const auto& axis = axes[gather.axis_[n]];
      OfIndex of{
          .index = &gather.form_.determined[n], .extent = gather.extents_[n], .stride = strides[gather.axis_[n]]};
      of.begins.reserve(static_cast<std::size_t>(axis.size) + 1);
      for (std::int64_t q = 0; q < axis.size; ++q)
        of.begins.push_back(part_range(of.extent, axis.parts, axis.begin + q).begin);
      of.begins.push_back(part_range(of.extent, axis.parts, axis.begin + axis.size - 1).end());
      const auto reach = std::max<std::int64_t>(of.begins.back() - of.begins.front(), 1);
      of.parts_per_index = static_cast<double>(axis.size) / static_cast<double>(reach);
      indices_.push_back(std::move(of));
    }
  }

  std::int64_t count() const { return count_; }

  // -1: none of the parts.
  std::int64_t part_of(std::int64_t element) const {
    std::int64_t part = 0;
    for (const auto& of : indices_) {
      const auto value = of.index->index_in(element);
      if (value < of.begins.front() || value >= of.begins.back()) return -1;
      // Nearly the right one, as parts are of nearly equal lengths.
      auto q = static_cast<std::size_t>(static_cast<double>(value - of.begins.front()) * of.parts_per_index);
      q = std::min(q, of.begins.size() - 2);
      while (value < of.begins[q]) --q;
      while (value >= of.begins[q + 1]) ++q;
      part += static_cast<std::int64_t>(q) * of.stride;
    }
    return part;
  }

 private:
  struct OfIndex {
    const DeterminedLabel* index = nullptr;
    std::int64_t extent = 0;
    std::int64_t stride = 1;
    std::vector<std::int64_t> begins = {};  // of the parts; at the end, the end of the last one
    double parts_per_index = 0;
  };

  std::vector<OfIndex> indices_;
  std::int64_t count_ = 1;
};

SortedRows RowGather::sort(TilePtr indices, std::vector<GatherAxis> axes) const {
  CHECK(indices->dtype() == DType::Int64, "an index is a whole number");
  const std::span elements(reinterpret_cast<const std::int64_t*>(indices->bytes().data()),
                           static_cast<std::size_t>(indices->shape().element_count()));
  CHECK(elements.size() <= kMostRows, "rows are numbered by 32 bits");
  const Axes parts(*this, axes);
  SortedRows sorted{std::move(indices), std::vector<std::uint32_t>(elements.size()), {}, std::move(axes)};
  CHECK(std::cmp_less(parts.count(), kMostRows), "a part of a gather's source has a number of 32 bits");
  std::vector<std::int64_t> next(static_cast<std::size_t>(parts.count()) + 2);  // first by the part after
  std::vector<std::uint32_t> part_of(elements.size());                          // from 1 on
  for (std::size_t begin = 0; begin < elements.size(); begin += kRowsPerPoll) {
    const auto end = std::min(begin + kRowsPerPoll, elements.size());
    poll_cancellation_after(end - begin);
    for (auto row = begin; row < end; ++row) {
      part_of[row] = static_cast<std::uint32_t>(parts.part_of(elements[row]) + 1);
      ++next[part_of[row] + std::size_t{1}];
    }
  }
  for (std::size_t p = 1; p < next.size(); ++p) next[p] += next[p - 1];
  sorted.begins.assign(next.begin() + 1, next.end());
  for (std::size_t row = 0; row < elements.size(); ++row)
    sorted.rows[static_cast<std::size_t>(next[part_of[row]]++)] = static_cast<std::uint32_t>(row);
  return sorted;
}

std::int64_t RowGather::bytes_of(std::int64_t rows, std::int64_t parts) {
  return checked_add(checked_multiply(rows, std::int64_t{2 * sizeof(std::uint32_t)}),
                     checked_multiply(checked_add(parts, 2), std::int64_t{4 * sizeof(std::int64_t)}));
}

void RowGather::copy(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges, const Tile& source,
                     Tile& result) const {
  CHECK(source.dtype() == result.dtype(), "an access moves elements of one type");
  const auto* begin = &sorted.begins[static_cast<std::size_t>(part)];
  write(sorted, begin[0], begin[1], ranges, &source, result);
}

void RowGather::clear(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges,
                      Tile& result) const {
  const auto* begin = &sorted.begins[static_cast<std::size_t>(part)];
  write(sorted, begin[0], begin[1], ranges, nullptr, result);
}

void RowGather::clear_before(const SortedRows& sorted, std::int64_t part, std::span<const PartRange> ranges,
                             Tile& result) const {
  write(sorted, 0, sorted.begins[static_cast<std::size_t>(part)], ranges, nullptr, result);
}

// Where rows lie in both tiles, and their cells.
class RowGather::Rows {
 public:
  Rows(const RowGather& gather, std::span<const PartRange> ranges, const Tile* source, Tile& result)
      : gather_(gather), ranges_(ranges) {
    const auto& labels = gather.labels_;
    source_ = source == nullptr ? std::vector<std::int64_t>(labels.size(), 0)
                                : view_of(labels, gather.in_source_, *source).strides;
    const auto in_result = view_of(labels, gather.output_, result).strides;
    const auto loop_of = [&](Label label) {
      const auto l = place_of_gathered(labels, label);
      return RowLoop{ranges[l].size, source_[l], in_result[l]};
    };
    for (const auto label : gather.in_indices_) rows_.push_back(loop_of(label));
    for (const auto label : gather.output_)
      if (!contains(gather.in_indices_, label)) cells_.push_back(loop_of(label));
    merge(rows_);
    merge(cells_);
    if (cells_.empty()) cells_.emplace_back();
    for (const auto& loop : cells_) cell_count_ *= loop.size;
    const auto& last = cells_.back();
    streams_ = source != nullptr && last.source == 1 && last.result == 1 &&
               is_streamed(static_cast<std::size_t>(last.size) * size_of(result.dtype()), result.byte_size());
  }

  template <class T>
  void write(const std::uint32_t* row, const std::uint32_t* end, const std::int64_t* elements, const T* source,
             T* result) const {
    const auto steps = static_cast<std::size_t>(cell_count_ / 4 + 1);
    const auto* last = &cells_.back();
    const auto bytes = static_cast<std::int64_t>(sizeof(T)) * last->size;
    const std::ptrdiff_t ahead = bytes < kShortRow ? kShortRowsAhead : 1;
    for (; row != end; ++row) {
      poll_cancellation_after(steps);
      if (source != nullptr && end - row > ahead) fetch(row[ahead], elements, source, result, bytes);
      const auto place = place_of(*row);
      const auto* from = source == nullptr ? nullptr : source + place.source + place_in_source(elements[*row]);
      if (cell_count_ == 1) result[place.result] = from == nullptr ? T{} : *from;
      else write_row(result + place.result, from, cells_.data(), last, streams_);
    }
    if (streams_) end_streams();
  }

 private:
  struct Place {
    std::int64_t source = 0;
    std::int64_t result = 0;
  };

  // Rows lie anywhere, so that the processor does not foresee where the next ones are.
  static constexpr std::int64_t kShortRow = 256;  // bytes
  static constexpr std::ptrdiff_t kShortRowsAhead = 12;

  template <class T>
  void fetch(std::uint32_t row, const std::int64_t* elements, const T* source, T* result, std::int64_t bytes) const {
    constexpr std::int64_t kLine = 64;
    constexpr std::int64_t kMostLines = 8;
    const auto place = place_of(row);
    const auto* from = reinterpret_cast<const std::byte*>(source + place.source + place_in_source(elements[row]));
    const auto lines = std::min((bytes + kLine - 1) / kLine, kMostLines);
    for (std::int64_t line = 0; line < lines; ++line) __builtin_prefetch(from + line * kLine);
    if (bytes < kLine) __builtin_prefetch(result + place.result, 1);
  }

  Place place_of(std::uint32_t row) const {
    if (rows_.size() == 1) return {row * rows_[0].source, row * rows_[0].result};
    Place place;
    for (auto n = rows_.size(); n-- > 0;) {
      const auto size = static_cast<std::uint32_t>(rows_[n].size);
      const auto i = static_cast<std::int64_t>(row % size);
      row /= size;
      place.source += i * rows_[n].source;
      place.result += i * rows_[n].result;
    }
    return place;
  }

  std::int64_t place_in_source(std::int64_t element) const {
    std::int64_t place = 0;
    for (std::size_t n = 0; n < gather_.determined_.size(); ++n) {
      const auto l = gather_.determined_[n];
      place += (gather_.form_.determined[n].index_in(element) - ranges_[l].begin) * source_[l];
    }
    return place;
  }

  const RowGather& gather_;
  std::span<const PartRange> ranges_;
  std::vector<std::int64_t> source_;  // strides by label
  std::vector<RowLoop> rows_;
  std::vector<RowLoop> cells_;
  std::int64_t cell_count_ = 1;
  bool streams_ = false;
};

void RowGather::write(const SortedRows& sorted, std::int64_t begin, std::int64_t end, std::span<const PartRange> ranges,
                      const Tile* source, Tile& result) const {
  if (begin == end) return;
  const Rows rows(*this, ranges, source, result);
  const auto as = [&](auto element) {
    using T = decltype(element);
    const auto* from = source == nullptr ? nullptr : reinterpret_cast<const T*>(source->bytes().data());
    rows.write(sorted.rows.data() + begin, sorted.rows.data() + end,
               reinterpret_cast<const std::int64_t*>(sorted.indices->bytes().data()), from,
               reinterpret_cast<T*>(result.mutable_bytes().data()));
  };
  switch (size_of(result.dtype())) {
    case 4: return as(std::uint32_t{});
    case 8: return as(std::uint64_t{});
    case 16: return as(std::array<std::uint64_t, 2>{});
    default: CHECK(false, "elements have 4, 8 or 16 bytes");
  }
}

}  // namespace eindb
