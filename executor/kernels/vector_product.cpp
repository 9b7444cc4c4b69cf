#include "executor/kernels/vector_product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/workspace.hpp"
#include "tensor/scalar_semantics.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLongestDot = 4096;  // elements of the vector per dot product
constexpr std::int64_t kMostDots = 1024;    // of v, for dot products
constexpr std::int64_t kStrip = 2048;       // columns of v that are summed at a time
constexpr std::int64_t kLongestColumn = 512;
constexpr std::int64_t kShortestRun = 16;

IndexGroup swapped(IndexGroup group) {
  for (auto& loop : group) std::swap(loop.first, loop.second);
  return group;
}

bool runs_along(const IndexGroup& sorted) {
  return !sorted.empty() && sorted.back().first == 1 && sorted.back().extent >= kShortestRun;
}

// Whether rows of v, and the parts of them that are multiplied at a time, begin and end with units of its encoding.
bool has_whole_units(const ProductGroups& groups, const IndexGroup& contracted, std::int64_t unit) {
  const auto is_whole = [&](std::int64_t cells) { return cells % unit == 0; };
  return is_whole(contracted.back().extent) &&
         std::all_of(contracted.begin(), contracted.end() - 1,
                     [&](const auto& loop) { return is_whole(loop.first); }) &&
         std::all_of(groups.columns.begin(), groups.columns.end(),
                     [&](const auto& loop) { return is_whole(loop.first); }) &&
         std::all_of(groups.batch.begin(), groups.batch.end(), [&](const auto& loop) { return is_whole(loop.v); });
}

// One matrix-vector product of the batch: the offsets of the three operands, in elements.
struct Begin {
  std::int64_t s = 0;
  std::int64_t v = 0;
  std::int64_t result = 0;
};

template <class Body>
void for_each_batch(const std::vector<BatchLoop>& batch, std::size_t loop, const Begin& at, const Body& body) {
  if (loop == batch.size()) return body(at);
  const auto& b = batch[loop];
  for (std::int64_t i = 0; i < b.extent; ++i)
    for_each_batch(batch, loop + 1, {at.s + i * b.s, at.v + i * b.v, at.result + i * b.result}, body);
}

// Common to both paths. Groups have the strides of v first.
class VectorProduct {
 public:
  VectorProduct(const LevelTable& level, DType compute, double factor, IndexGroup columns, IndexGroup contracted,
                const ProductOperand& s, const ProductOperand& v, void* result, bool first)
      : level_(level),
        compute_(compute),
        factor_(factor),
        columns_(std::move(columns)),
        contracted_(std::move(contracted)),
        s_(static_cast<const std::byte*>(s.data)),
        v_(static_cast<const std::byte*>(v.data)),
        result_(static_cast<std::byte*>(result)),
        first_(first),
        slot_(encoded_slot(v.encoding)),
        size_(static_cast<std::int64_t>(size_of(compute))),
        v_unit_(slot_ ? unit_of(with_encoding(v.encoding)) : EncodingUnit{1, size_}),
        workspace_(vector_workspace_bytes()) {}

 protected:
  const void* s_at(std::int64_t offset) const { return s_ + offset * size_; }
  const void* v_at(std::int64_t offset) const { return v_ + offset / v_unit_.cells * v_unit_.bytes; }
  // Of rows of v.
  VectorTable::DotRows dot_rows() const {
    const auto& table = level_.of(compute_).vectors;
    return slot_ ? table.dot_encoded[*slot_] : table.dot_rows;
  }
  VectorTable::AddRows add_rows() const {
    const auto& table = level_.of(compute_).vectors;
    return slot_ ? table.add_encoded[*slot_] : table.add_rows;
  }
  std::int64_t* offsets(std::int64_t count) {
    return workspace_.take_array<std::int64_t>(static_cast<std::size_t>(count));
  }
  // Boxes of at most `most` indices that are contiguous in v: the innermost loop, and the loops that it nests in.
  static std::vector<std::int64_t> rows_of(const IndexGroup& group, std::int64_t most) {
    std::vector<std::int64_t> sides(group.size(), 1);
    std::int64_t count = 1;
    for (auto n = group.size(); n-- > 0;) {
      if (group[n].first != count) break;
      sides[n] = std::min(most / count, group[n].extent);
      count *= sides[n];
      if (sides[n] < group[n].extent) break;
    }
    return sides;
  }
  // to[i] = from[from_offsets[i]].
  void gather(void* to, const void* from, const std::int64_t* from_offsets, std::int64_t count) const {
    static constexpr std::int64_t kNoOffset = 0;
    level_.of(compute_).panels.packing[slot_of(compute_)].gather(to, 0, from, from_offsets, &kNoOffset, count, 1);
  }
  // result[to_offsets[i]] (+)= factor * sums[i].
  template <class Sum>
  void write(const Sum* sums, std::int64_t begin, const std::int64_t* to_offsets, std::int64_t count) const {
    dispatch(compute_, [&](auto t) {
      using T = typename decltype(t)::type;
      if constexpr (!is_complex_type<T>) {
        const auto factor = static_cast<Sum>(factor_);
        auto* to = reinterpret_cast<T*>(result_) + begin;
        for (std::int64_t i = 0; i < count; ++i) {
          auto& cell = to[to_offsets[i]];
          const auto value = static_cast<T>(scalar_multiply(sums[i], factor));
          cell = first_ ? value : scalar_add(cell, value);
        }
      }
    });
  }

  // Counts elements of v read, and polls for cancellation every few tenths of a millisecond.
  void poll(std::int64_t elements) {
    constexpr std::int64_t kElementsPerPoll = std::int64_t{1} << 20U;
    read_ += elements;
    if (read_ < kElementsPerPoll) return;
    read_ = 0;
    poll_cancellation();
  }

  const LevelTable& level_;
  DType compute_;
  double factor_;
  IndexGroup columns_;
  IndexGroup contracted_;
  const std::byte* s_;
  const std::byte* v_;
  std::byte* result_;
  bool first_;
  std::optional<std::size_t> slot_;  // of the encoding of v
  std::int64_t size_;
  EncodingUnit v_unit_;
  Workspace workspace_;
  std::int64_t read_ = 0;
};

class DotProducts : VectorProduct {
 public:
  template <class... Arguments>
  explicit DotProducts(Arguments&&... arguments)
      : VectorProduct(std::forward<Arguments>(arguments)...),
        boxes_(columns_, box_sides(columns_, kMostDots, 1, {})),
        runs_(contracted_, rows_of(contracted_, kLongestDot)),
        v_offsets_(offsets(kMostDots)),
        result_offsets_(offsets(kMostDots)),
        s_offsets_(offsets(kLongestDot)),
        rows_(workspace_.take_array<const void*>(kMostDots)),
        sums_(workspace_.take(kMostDots * 8)),
        vector_(workspace_.take(kLongestDot * 8)) {
    CHECK(boxes_.room() <= kMostDots && runs_.room() <= kLongestDot, "the rows of a box and a run of them have room");
  }

  void run(const Begin& at) {
    for (std::int64_t box = 0; box < boxes_.box_count(); ++box) {
      go_to(box);
      const auto bytes = static_cast<std::size_t>(boxes_.count()) * size_of(wide_of(compute_));
      std::memset(sums_, 0, bytes);
      for (std::int64_t run = 0; run < runs_.box_count(); ++run) add(at, run);
      if (compute_ == DType::Int64)
        write(reinterpret_cast<std::int64_t*>(sums_), at.result, result_offsets_, boxes_.count());
      else write(reinterpret_cast<double*>(sums_), at.result, result_offsets_, boxes_.count());
    }
  }

 private:
  void go_to(std::int64_t box) {
    if (box == box_) return;
    boxes_.go_to(box_ = box);
    boxes_.list_first(v_offsets_);
    boxes_.list_second(result_offsets_);
  }

  void go_to_run(std::int64_t run) {
    runs_.go_to(run_ = run);
    run_begin_ = runs_.begin_in_first();
    vector_begin_ = runs_.begin_in_second();
    in_place_ = contracted_.back().second == 1 && runs_.count() == runs_.extents().back();
    if (!in_place_) runs_.list_second(s_offsets_);
  }

  void add(const Begin& at, std::int64_t run) {
    if (run != run_) go_to_run(run);
    const auto count = runs_.count();
    const void* vector = in_place_ ? s_at(at.s + vector_begin_) : vector_;
    if (!in_place_) gather(vector_, s_at(at.s), s_offsets_, count);
    for (std::int64_t r = 0; r < boxes_.count(); ++r) rows_[r] = v_at(at.v + v_offsets_[r] + run_begin_);
    dot_rows()(sums_, rows_, boxes_.count(), vector, count);
    poll(boxes_.count() * count);
  }

  GroupBoxes boxes_;
  GroupBoxes runs_;
  std::int64_t* v_offsets_;
  std::int64_t* result_offsets_;
  std::int64_t* s_offsets_;
  const void** rows_;
  std::byte* sums_;
  std::byte* vector_;
  std::int64_t run_begin_ = 0;     // in the rows of v
  std::int64_t vector_begin_ = 0;  // in s
  bool in_place_ = false;          // the run of s is contiguous
  std::int64_t box_ = -1;
  std::int64_t run_ = -1;
};

class SumsOfRows : VectorProduct {
 public:
  template <class... Arguments>
  explicit SumsOfRows(Arguments&&... arguments)
      : VectorProduct(std::forward<Arguments>(arguments)...),
        strips_(columns_, rows_of(columns_, kStrip)),
        boxes_(contracted_, box_sides(contracted_, kLongestColumn, 1, {})),
        v_offsets_(offsets(kLongestColumn)),
        s_offsets_(offsets(kLongestColumn)),
        result_offsets_(offsets(kStrip)),
        rows_(workspace_.take_array<const void*>(kLongestColumn)),
        vector_(workspace_.take(kLongestColumn * 8)),
        part_(workspace_.take(kStrip * 8)),
        sums_(workspace_.take(kStrip * 8)) {
    CHECK(strips_.room() <= kStrip && boxes_.room() <= kLongestColumn, "a strip and its part of the vector have room");
  }

  void run(const Begin& at) {
    for (std::int64_t strip = 0; strip < strips_.box_count(); ++strip) {
      if (strip != strip_) {
        strips_.go_to(strip_ = strip);
        strips_.list_second(result_offsets_);
      }
      for (std::int64_t box = 0; box < boxes_.box_count(); ++box) add(at, box);
      dispatch(compute_, [&](auto t) {
        using T = typename decltype(t)::type;
        if constexpr (!is_complex_type<T>)
          write(reinterpret_cast<const T*>(sums_), at.result, result_offsets_, strips_.count());
      });
    }
  }

 private:
  void add(const Begin& at, std::int64_t box) {
    if (box != box_) {
      boxes_.go_to(box_ = box);
      boxes_.list_first(v_offsets_);
      boxes_.list_second(s_offsets_);
    }
    gather(vector_, s_at(at.s), s_offsets_, boxes_.count());
    const auto begin = at.v + strips_.begin_in_first();
    for (std::int64_t r = 0; r < boxes_.count(); ++r) rows_[r] = v_at(begin + v_offsets_[r]);
    add_rows()(box == 0 ? sums_ : part_, rows_, boxes_.count(), vector_, strips_.count(), true);
    poll(boxes_.count() * strips_.count());
    if (box == 0) return;
    alignas(8) std::array<std::byte, 8> one{};
    constexpr double kOne = 1;
    level_.of(compute_).move[slot_of(DType::Float64)]({one.data(), 0, 1}, {&kOne, 0, 1}, 1, 1);
    const void* part = part_;
    level_.of(compute_).vectors.add_rows(sums_, &part, 1, one.data(), strips_.count(), false);
  }

  GroupBoxes strips_;
  GroupBoxes boxes_;
  std::int64_t* v_offsets_;
  std::int64_t* s_offsets_;
  std::int64_t* result_offsets_;
  const void** rows_;
  std::byte* vector_;
  std::byte* part_;
  std::byte* sums_;
  std::int64_t strip_ = -1;
  std::int64_t box_ = -1;
};

}  // namespace

bool is_vector_product(const LevelTable& level, DType compute, const ProductGroups& groups, const ProductOperand& s,
                       const ProductOperand& v) {
  const auto& table = level.of(compute).vectors;
  const auto slot = encoded_slot(v.encoding);
  const bool reads_v = slot ? v.dtype == compute && table.dot_encoded[*slot] != nullptr
                            : v.is_plain(compute) && table.dot_rows != nullptr;
  if (!groups.rows.empty() || !s.is_plain(compute) || !reads_v) return false;
  const auto contracted = sorted_by_first(swapped(groups.contracted));
  if (!has_scales(v.encoding)) return runs_along(contracted) || runs_along(sorted_by_first(groups.columns));
  return runs_along(contracted) && has_whole_units(groups, contracted, unit_of(with_encoding(v.encoding)).cells);
}

void multiply_vector(const LevelTable& level, DType compute, double factor, const ProductGroups& groups,
                     const ProductOperand& s, const ProductOperand& v, void* result, bool first) {
  CHECK(groups.rows.empty(), "a vector is a matrix of one row");
  const auto columns = sorted_by_first(groups.columns);
  const auto contracted = sorted_by_first(swapped(groups.contracted));
  if (runs_along(contracted)) {
    DotProducts product(level, compute, factor, columns, contracted, s, v, result, first);
    for_each_batch(groups.batch, 0, {}, [&](const Begin& at) { product.run(at); });
  } else {
    SumsOfRows product(level, compute, factor, columns, contracted, s, v, result, first);
    for_each_batch(groups.batch, 0, {}, [&](const Begin& at) { product.run(at); });
  }
}

std::size_t vector_workspace_bytes() {
  return static_cast<std::size_t>(4 * kMostDots + 2 * kLongestDot + 4 * kLongestColumn + 3 * kStrip) * 8 + 1024;
}

}  // namespace eindb
