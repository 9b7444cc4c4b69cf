#include "executor/kernels/byte_product.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/scratch.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kDepthOfBytes = 1024;  // contracted indices that are packed and summed at a time
constexpr std::int64_t kColumnsOfBytes = 512;
constexpr std::int64_t kFewestRowsOfBytes = 4;
constexpr std::int64_t kFewestDepthOfBytes = 8;
constexpr std::size_t kUnit = 4;  // bytes of a panel for one row, or column, that lie together
constexpr int kSignBit = 128;

// Where the indices of a group from one on lie in both tensors that have it.
struct Offsets {
  std::vector<std::int64_t> first;
  std::vector<std::int64_t> second;
};

void list_offsets(const IndexGroup& group, std::int64_t begin, std::int64_t count, Offsets& out) {
  out.first.resize(static_cast<std::size_t>(count));
  out.second.resize(static_cast<std::size_t>(count));
  for (std::int64_t n = 0; n < count; ++n) {
    auto rest = begin + n;
    std::int64_t first = 0;
    std::int64_t second = 0;
    for (auto loop = group.rbegin(); loop != group.rend(); ++loop) {
      const auto index = rest % loop->extent;
      rest /= loop->extent;
      first += index * loop->first;
      second += index * loop->second;
    }
    out.first[static_cast<std::size_t>(n)] = first;
    out.second[static_cast<std::size_t>(n)] = second;
  }
}

bool is_contiguous_run(const std::int64_t* offsets, std::int64_t count) {
  return offsets[count - 1] - offsets[0] == count - 1 && count > 1 && offsets[1] - offsets[0] == 1;
}

// Fills a panel of `width` lines from `lines` ones: for each unit of contracted indices those of all lines, one after
// the other. Cell is what a value becomes, which has `offset` added to it; what is missing is 0.
template <class Cell, class Value>
void pack_panel(std::byte* to, std::int64_t width, const Value* from, const std::int64_t* line_offsets,
                std::int64_t lines, const std::int64_t* depth_offsets, std::int64_t depth, int offset) {
  constexpr auto kCells = static_cast<std::int64_t>(kUnit / sizeof(Cell));
  const auto units = (depth + kCells - 1) / kCells;
  if (lines < width || depth % kCells != 0)
    std::fill_n(to, units * width * static_cast<std::int64_t>(kUnit), std::byte{0});
  auto* cells = reinterpret_cast<Cell*>(to);
  const auto packed = [&](Value value) { return static_cast<Cell>(value + offset); };
  if (is_contiguous_run(line_offsets, lines)) {
    for (std::int64_t p = 0; p < depth; ++p) {
      const auto* line = from + depth_offsets[p] + line_offsets[0];
      auto* unit = cells + p / kCells * width * kCells + p % kCells;
      for (std::int64_t n = 0; n < lines; ++n) unit[n * kCells] = packed(line[n]);
    }
    return;
  }
  const bool runs = is_contiguous_run(depth_offsets, depth);
  for (std::int64_t n = 0; n < lines; ++n) {
    const auto* line = from + line_offsets[n];
    auto* unit = cells + n * kCells;
    std::int64_t p = 0;
    if (runs) {
      line += depth_offsets[0];
      for (; p + kCells <= depth; p += kCells)
        for (std::int64_t q = 0; q < kCells; ++q) unit[p * width + q] = packed(line[p + q]);
      for (; p < depth; ++p) unit[p / kCells * width * kCells + p % kCells] = packed(line[p]);
      continue;
    }
    for (; p < depth; ++p) unit[p / kCells * width * kCells + p % kCells] = packed(line[depth_offsets[p]]);
  }
}

// S and V: std::int8_t, or std::int64_t for operands that are not encoded.
template <class S, class V>
class ByteProduct {
 public:
  ByteProduct(const ByteTable& table, double factor, const ProductGroups& groups, bool first)
      : table_(table),
        groups_(groups),
        factor_(static_cast<std::int64_t>(factor)),
        first_(first),
        rows_(count_of(groups.rows)),
        columns_(count_of(groups.columns)),
        contracted_(count_of(groups.contracted)),
        units_((kDepthOfBytes + table.depth - 1) / table.depth),
        column_panels_(static_cast<std::size_t>((kColumnsOfBytes / table.columns) * units_ * table.columns) * kUnit),
        row_panel_(static_cast<std::size_t>(units_ * table.rows) * kUnit),
        sums_(static_cast<std::size_t>(table.rows * table.columns) * sizeof(std::int32_t)) {}

  void run(const S* s, const V* v, std::int64_t* result) {
    for (std::int64_t p = 0; p < contracted_; p += kDepthOfBytes) {
      depth_ = std::min(kDepthOfBytes, contracted_ - p);
      list_offsets(groups_.contracted, p, depth_, depths_);
      for (std::int64_t j = 0; j < columns_; j += kColumnsOfBytes) {
        poll_cancellation();
        block_ = std::min(kColumnsOfBytes, columns_ - j);
        list_offsets(groups_.columns, j, block_, column_offsets_);
        pack_columns(v);
        for (std::int64_t i = 0; i < rows_; i += table_.rows) multiply_rows(i, s, result, first_ && p == 0);
      }
    }
  }

 private:
  bool is_of_bytes() const { return table_.depth == 4; }
  std::int64_t panel_bytes() const { return units_ * table_.columns * static_cast<std::int64_t>(kUnit); }

  template <class Value>
  void pack(std::byte* to, std::int64_t width, const Value* from, const std::int64_t* lines, std::int64_t count,
            const std::vector<std::int64_t>& depths, int offset) const {
    if (is_of_bytes()) pack_panel<std::uint8_t>(to, width, from, lines, count, depths.data(), depth_, offset);
    else pack_panel<std::int16_t>(to, width, from, lines, count, depths.data(), depth_, 0);
  }

  // Bytes of columns are without sign: 128 more than they are.
  void pack_columns(const V* v) {
    for (std::int64_t j = 0; j < block_; j += table_.columns)
      pack(column_panels_.data() + j / table_.columns * panel_bytes(), table_.columns, v,
           column_offsets_.first.data() + j, std::min(table_.columns, block_ - j), depths_.second, kSignBit);
  }

  void multiply_rows(std::int64_t begin, const S* s, std::int64_t* result, bool first) {
    const auto count = std::min(table_.rows, rows_ - begin);
    list_offsets(groups_.rows, begin, count, row_offsets_);
    pack(row_panel_.data(), table_.rows, s, row_offsets_.first.data(), count, depths_.first, 0);
    // The surplus of a row, whose factors were raised by 128.
    std::vector<std::int64_t> more(static_cast<std::size_t>(count), 0);
    if (is_of_bytes())
      for (std::int64_t i = 0; i < count; ++i) {
        const auto* row = s + row_offsets_.first[static_cast<std::size_t>(i)];
        for (std::int64_t p = 0; p < depth_; ++p)
          more[static_cast<std::size_t>(i)] += kSignBit * row[depths_.first[static_cast<std::size_t>(p)]];
      }
    const auto units = (depth_ + table_.depth - 1) / table_.depth;
    auto* sums = reinterpret_cast<std::int32_t*>(sums_.data());
    for (std::int64_t j = 0; j < block_; j += table_.columns) {
      table_.multiply(units, row_panel_.data(), column_panels_.data() + j / table_.columns * panel_bytes(), sums);
      const auto wide = std::min(table_.columns, block_ - j);
      for (std::int64_t i = 0; i < count; ++i)
        put(sums + i * table_.columns, more[static_cast<std::size_t>(i)],
            result + row_offsets_.second[static_cast<std::size_t>(i)], column_offsets_.second.data() + j, wide, first);
    }
  }

  // Wraps as INT64 does.
  void put(const std::int32_t* sums, std::int64_t more, std::int64_t* to, const std::int64_t* columns,
           std::int64_t count, bool first) const {
    const auto value = [&](std::int64_t n) {
      return static_cast<std::uint64_t>(sums[n] - more) * static_cast<std::uint64_t>(factor_);
    };
    const auto write = [&](std::int64_t& cell, std::int64_t n) {
      cell = static_cast<std::int64_t>(first ? value(n) : static_cast<std::uint64_t>(cell) + value(n));
    };
    if (is_contiguous_run(columns, count))
      for (std::int64_t n = 0; n < count; ++n) write(to[columns[0] + n], n);
    else
      for (std::int64_t n = 0; n < count; ++n) write(to[columns[n]], n);
  }

  const ByteTable& table_;
  const ProductGroups& groups_;
  std::int64_t factor_;
  bool first_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t contracted_;
  std::int64_t units_;  // of a panel's room
  std::int64_t depth_ = 0;
  std::int64_t block_ = 0;
  Offsets row_offsets_, column_offsets_, depths_;
  Scratch column_panels_, row_panel_, sums_;
};

template <class S, class V>
void multiply_batch(ByteProduct<S, V>& product, const std::vector<BatchLoop>& batch, std::size_t loop, const S* s,
                    const V* v, std::int64_t* result) {
  if (loop == batch.size()) return product.run(s, v, result);
  const auto& along = batch[loop];
  for (std::int64_t n = 0; n < along.extent; ++n)
    multiply_batch(product, batch, loop + 1, s + n * along.s, v + n * along.v, result + n * along.result);
}

// Calls f with the operand's values, of whichever type they are.
template <class F>
void with_values(const ProductOperand& operand, F&& f) {
  if (operand.encoding == Encoding::Int8) f(static_cast<const std::int8_t*>(operand.data));
  else f(static_cast<const std::int64_t*>(operand.data));
}

}  // namespace

bool is_byte_product(const ProductGroups& groups) {
  return count_of(groups.rows) >= kFewestRowsOfBytes && count_of(groups.columns) >= kFewestRowsOfBytes &&
         count_of(groups.contracted) >= kFewestDepthOfBytes;
}

void multiply_bytes(const LevelTable& level, double factor, const ProductGroups& groups, const ProductOperand& s,
                    const ProductOperand& v, std::int64_t* result, bool first) {
  const bool quads = level.byte_quads.multiply != nullptr && multiplies_bytes();
  const auto& table = quads ? level.byte_quads : level.byte_pairs;
  with_values(s, [&]<class S>(const S* of_s) {
    with_values(v, [&]<class V>(const V* of_v) {
      ByteProduct<S, V> product(table, factor, groups, first);
      multiply_batch(product, groups.batch, 0, of_s, of_v, result);
    });
  });
}

}  // namespace eindb
