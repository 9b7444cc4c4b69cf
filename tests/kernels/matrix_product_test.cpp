#include "executor/kernels/matrix_product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "common/checked_math.hpp"
#include "executor/kernels/index_group.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "executor/kernels/panel_packer.hpp"
#include "executor/kernels/tile_operations.hpp"
#include "executor/kernels/workspace.hpp"
#include "tensor/scalar_semantics.hpp"
#include "tests/kernels/instruction_levels.hpp"
#include "tests/kernels/random_einsum.hpp"

namespace eindb {
namespace {

using Index = std::vector<std::int64_t>;

// A view over some of the labels with its memory: labels in a random order, a gap behind some.
struct Operand {
  Tile memory = Tile::zeros(DType::Float64, Shape({0}));
  Index strides;
};

std::int64_t lay_out(Random& random, const std::vector<std::size_t>& places, const Index& sizes, Index& strides,
                     bool gaps) {
  auto order = places;
  std::shuffle(order.begin(), order.end(), random);
  strides.assign(sizes.size(), 0);
  std::int64_t span = gaps && draw(random, 0, 9) == 0 ? 2 : 1;
  for (const auto p : order) {
    strides[p] = span;
    span *= sizes[p] + (gaps && draw(random, 0, 5) == 0 ? 1 : 0);
  }
  return std::max<std::int64_t>(span, 1);
}

std::vector<std::size_t> joined(std::initializer_list<std::vector<std::size_t>> lists) {
  std::vector<std::size_t> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

struct Sample {
  MatrixLabels labels;
  Index sizes;
  Operand a;
  Operand b;
  Operand c;
  DType compute = DType::Float64;
  double factor = 1;
  bool first = true;

  std::string describe() const {
    std::string text = std::string(name_of(a.memory.dtype())) + " x " + std::string(name_of(b.memory.dtype())) +
                       " in " + std::string(name_of(compute)) + (first ? ", first" : ", added");
    for (std::size_t n = 0; n < sizes.size(); ++n) {
      const auto in = [&](const auto& places) { return std::find(places.begin(), places.end(), n) != places.end(); };
      text += std::string("\n  ") +
              (in(labels.batch) ? "batch"
               : in(labels.m)   ? "m"
               : in(labels.n)   ? "n"
                                : "k") +
              " size " + std::to_string(sizes[n]) + " strides " + std::to_string(a.strides[n]) + " " +
              std::to_string(b.strides[n]) + " " + std::to_string(c.strides[n]);
    }
    return text;
  }
};

// Sizes whose product stays below a few million; those of single labels lie around vectors and tiles.
Sample random_sample(Random& random, DType compute, DType a, DType b) {
  Sample sample;
  sample.compute = compute;
  double cells = 1;
  const auto add = [&](std::vector<std::size_t>& role, std::int64_t most_labels, std::int64_t most) {
    const auto count = draw(random, 0, most_labels);
    for (std::int64_t n = 0; n < count; ++n) {
      static constexpr std::array<std::int64_t, 8> kEdges{2, 6, 14, 16, 17, 32, 33, 64};
      auto size = draw(random, 0, 2) == 0 ? kEdges[static_cast<std::size_t>(draw(random, 0, 7))]
                                          : draw(random, 1, count == 1 ? most : 24);
      size = std::min(size, most);
      if (cells * static_cast<double>(size) > 3e5) size = 1;
      cells *= static_cast<double>(size);
      role.push_back(sample.sizes.size());
      sample.sizes.push_back(size);
    }
  };
  const auto shape = draw(random, 0, 3);
  add(sample.labels.k, 3, shape == 0 ? 1500 : 100);
  add(sample.labels.m, 3, shape == 1 ? 700 : 80);
  add(sample.labels.n, 3, shape == 2 ? 700 : 80);
  add(sample.labels.batch, 2, shape == 3 ? 100 : 5);
  const auto& l = sample.labels;
  const auto tile = [&](Operand& operand, const std::vector<std::size_t>& places, DType type, bool gaps) {
    const auto span = lay_out(random, places, sample.sizes, operand.strides, gaps);
    operand.memory = random_tile(random, type, Shape({span}));
  };
  tile(sample.a, joined({l.batch, l.m, l.k}), a, true);
  tile(sample.b, joined({l.batch, l.k, l.n}), b, true);
  tile(sample.c, joined({l.batch, l.m, l.n}), compute, true);
  sample.first = draw(random, 0, 1) == 0;
  sample.factor = static_cast<double>(draw(random, -2, 2));
  return sample;
}

// The plain loops, in the operands' own order.
template <class T>
std::vector<T> expected(const Sample& sample, const Tile& a, const Tile& b) {
  std::vector<T> out(sample.c.memory.data<T>(), sample.c.memory.data<T>() + sample.c.memory.shape().element_count());
  const auto& l = sample.labels;
  const auto outer = joined({l.batch, l.m, l.n});
  Index outer_index(outer.size(), 0);
  Index outer_sizes;
  Index inner_sizes;
  for (const auto p : outer) outer_sizes.push_back(sample.sizes[p]);
  for (const auto p : l.k) inner_sizes.push_back(sample.sizes[p]);
  do {
    std::array<std::int64_t, 3> at{};
    for (std::size_t d = 0; d < outer.size(); ++d) {
      at[0] += outer_index[d] * sample.a.strides[outer[d]];
      at[1] += outer_index[d] * sample.b.strides[outer[d]];
      at[2] += outer_index[d] * sample.c.strides[outer[d]];
    }
    T sum{};
    Index inner_index(l.k.size(), 0);
    do {
      auto i = at[0];
      auto j = at[1];
      for (std::size_t d = 0; d < l.k.size(); ++d) {
        i += inner_index[d] * sample.a.strides[l.k[d]];
        j += inner_index[d] * sample.b.strides[l.k[d]];
      }
      sum = scalar_add(sum, scalar_multiply(a.data<T>()[i], b.data<T>()[j]));
    } while (next_index(inner_index, inner_sizes));
    sum = scalar_multiply(sum, static_cast<T>(sample.factor));
    auto& cell = out[static_cast<std::size_t>(at[2])];
    cell = sample.first ? sum : scalar_add(cell, sum);
  } while (next_index(outer_index, outer_sizes));
  return out;
}

// Every element, those in the gaps too: nothing else may be written, and no more workspace taken than was said. Values
// are small multiples of 1/16 and sums of them exact in any order, so that results are equal.
void expect_product(const LevelTable& level, Sample sample) {
  Workspace::release_this_thread();
  const auto most = product_workspace_bytes(level, sample.compute, sample.labels, sample.sizes);
  Tile a = convert(sample.a.memory, sample.compute);
  Tile b = convert(sample.b.memory, sample.compute);
  dispatch(sample.compute, [&](auto t) {
    using T = typename decltype(t)::type;
    const auto wanted = expected<T>(sample, a, b);
    multiply_matrices(level, sample.compute, sample.factor, sample.labels, sample.sizes,
                      {sample.a.memory.dtype(), sample.a.memory.bytes().data(), sample.a.strides},
                      {sample.b.memory.dtype(), sample.b.memory.bytes().data(), sample.b.strides},
                      {sample.compute, sample.c.memory.mutable_bytes().data(), sample.c.strides}, sample.first);
    ASSERT_LE(Workspace::held_by_this_thread(), most) << sample.describe();
    for (std::size_t n = 0; n < wanted.size(); ++n) {
      const auto actual = sample.c.memory.data<T>()[n];
      ASSERT_TRUE(actual == wanted[n]) << sample.describe() << "\n element " << n << ": " << actual << " instead of "
                                       << wanted[n];
    }
  });
}

class MatrixProductTest : public testing::TestWithParam<InstructionSet> {};

INSTANTIATE_TEST_SUITE_P(AllLevels, MatrixProductTest,
                         testing::ValuesIn(available_instruction_sets().begin(), available_instruction_sets().end()),
                         name_of_level);

constexpr std::array kTypes{DType::Float32, DType::Float64, DType::Complex64, DType::Complex128, DType::Int64};

TEST_P(MatrixProductTest, MultipliesViewsOfAnyLayout) {
  Random random(1);
  for (const auto type : kTypes)
    for (int n = 0; n < 120 && !HasFatalFailure(); ++n)
      expect_product(level_table(GetParam()), random_sample(random, type, type, type));
}

TEST_P(MatrixProductTest, ConvertsOperandsWhilePacking) {
  Random random(2);
  for (int n = 0; n < 100 && !HasFatalFailure(); ++n) {
    const auto pick = [&] { return kTypes[static_cast<std::size_t>(draw(random, 0, 4))]; };
    const auto compute = draw(random, 0, 1) == 0 ? DType::Float64 : DType::Complex64;
    expect_product(level_table(GetParam()), random_sample(random, compute, pick(), pick()));
  }
}

// Plain matrices of all sizes around a tile, in all eight orders.
TEST_P(MatrixProductTest, MultipliesMatricesAroundATile) {
  Random random(3);
  const auto& level = level_table(GetParam());
  for (const auto type : kTypes) {
    const auto& panels = level.of(type).panels;
    for (int n = 0; n < 60 && !HasFatalFailure(); ++n) {
      Sample sample;
      sample.compute = type;
      sample.sizes = {draw(random, 1, 2 * panels.rows + 1), draw(random, 1, 2 * panels.columns + 1),
                      draw(random, 1, 40)};
      sample.labels = {.batch = {}, .m = {0}, .n = {1}, .k = {2}};
      const auto tile = [&](Operand& operand, std::vector<std::size_t> places) {
        const auto span = lay_out(random, places, sample.sizes, operand.strides, false);
        operand.memory = random_tile(random, type, Shape({span}));
      };
      tile(sample.a, {0, 2});
      tile(sample.b, {1, 2});
      tile(sample.c, {0, 1});
      sample.first = n % 2 == 0;
      expect_product(level, std::move(sample));
    }
  }
}

// Batches of small matrices, each dense in some order, with or without a gap before the next one: more than are packed
// at a time, in one label or two.
TEST_P(MatrixProductTest, MultipliesBatchesOfSmallMatrices) {
  Random random(5);
  for (const auto type : kTypes) {
    for (int n = 0; n < 80 && !HasFatalFailure(); ++n) {
      Sample sample;
      sample.compute = type;
      const auto most = n % 4 == 0 ? 40 : 9;
      sample.sizes = {draw(random, 1, n % 4 == 0 ? 20 : 400), draw(random, 1, 3), draw(random, 1, most),
                      draw(random, 1, most), draw(random, 1, most)};
      sample.labels = {.batch = {0, 1}, .m = {2}, .n = {3}, .k = {4}};
      const auto tile = [&](Operand& operand, std::vector<std::size_t> places) {
        std::shuffle(places.begin(), places.end(), random);
        operand.strides.assign(sample.sizes.size(), 0);
        std::int64_t span = 1;
        const auto nest = [&](std::size_t p) {
          operand.strides[p] = span;
          span *= sample.sizes[p];
        };
        for (const auto p : places) nest(p);
        span += draw(random, 0, 2);
        nest(1);
        nest(0);
        operand.memory = random_tile(random, type, Shape({span}));
      };
      tile(sample.a, {2, 4});
      tile(sample.b, {3, 4});
      tile(sample.c, {2, 3});
      sample.first = draw(random, 0, 1) == 0;
      sample.factor = static_cast<double>(draw(random, -2, 2));
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Matrices that are read where they lie, deeper and of more rows than are worked on at a time.
TEST_P(MatrixProductTest, CutsMatricesThatAreReadInPlace) {
  Random random(6);
  for (const auto& sizes : {Index{30, 5, 1500}, Index{20001, 3, 70}, Index{15, 90, 300}, Index{40, 64, 601}}) {
    for (int n = 0; n < 8 && !HasFatalFailure(); ++n) {
      Sample sample;
      sample.compute = n < 4 ? DType::Float32 : DType::Float64;
      sample.sizes = sizes;
      sample.labels = {.batch = {}, .m = {0}, .n = {1}, .k = {2}};
      sample.a.strides = n / 2 % 2 == 0 ? Index{sizes[2], 0, 1} : Index{1, 0, sizes[0]};
      sample.b.strides = n % 2 == 0 ? Index{0, 1, sizes[1]} : Index{0, sizes[2], 1};
      sample.c.strides = {sizes[1], 1, 0};
      sample.a.memory = random_tile(random, sample.compute, Shape({sizes[0] * sizes[2]}));
      sample.b.memory = random_tile(random, sample.compute, Shape({sizes[1] * sizes[2]}));
      sample.c.memory = random_tile(random, sample.compute, Shape({sizes[0] * sizes[1]}));
      sample.first = n % 3 == 0;
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Products side by side in memory: more columns and contracted indices than are copied at a time, and no whole number
// of vectors.
TEST_P(MatrixProductTest, CutsMatricesThatLieSideBySide) {
  Random random(7);
  for (const auto& sizes : {Index{37, 7, 140, 150}, Index{33, 13, 9, 20}, Index{50, 6, 3, 200}}) {
    for (const auto type : {DType::Float32, DType::Float64, DType::Int64}) {
      Sample sample;
      sample.compute = type;
      sample.sizes = sizes;
      sample.labels = {.batch = {0}, .m = {1}, .n = {2}, .k = {3}};
      const auto [batch, rows, columns, depth] = std::array{sizes[0], sizes[1], sizes[2], sizes[3]};
      sample.a.strides = {1, batch * depth, 0, batch};
      sample.b.strides = {1, 0, batch, batch * columns};
      sample.c.strides = {1, batch * columns, batch, 0};
      sample.a.memory = random_tile(random, type, Shape({batch * rows * depth}));
      sample.b.memory = random_tile(random, type, Shape({batch * depth * columns}));
      sample.c.memory = random_tile(random, type, Shape({batch * rows * columns}));
      sample.first = type == DType::Float64;
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Blocks: more rows, columns and contracted indices than the caches hold at a time, in two labels each that lie the
// other way round in the other tensor.
TEST_P(MatrixProductTest, CutsLargeGroupsIntoBoxes) {
  Random random(4);
  for (const auto& sizes : {Index{1, 1, 3, 1, 90, 110}, Index{1, 1, 70, 60, 5, 3}, Index{150, 130, 2, 2, 2, 2}}) {
    for (int n = 0; n < 4 && !HasFatalFailure(); ++n) {
      Sample sample;
      sample.compute = DType::Float32;
      sample.sizes = sizes;
      sample.labels = {.batch = {}, .m = {0, 1}, .n = {2, 3}, .k = {4, 5}};
      const auto tile = [&](Operand& operand, const std::vector<std::size_t>& places) {
        const auto span = lay_out(random, places, sample.sizes, operand.strides, false);
        operand.memory = random_tile(random, DType::Float32, Shape({span}));
      };
      tile(sample.a, {0, 1, 4, 5});
      tile(sample.b, {2, 3, 4, 5});
      tile(sample.c, {0, 1, 2, 3});
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Columns of which only short runs lie side by side in the result, rows of it between them: of all lengths around a
// vector.
TEST_P(MatrixProductTest, WritesColumnsInRuns) {
  Random random(5);
  for (const auto type : kTypes) {
    for (std::int64_t run = 1; run <= 20 && !HasFatalFailure(); ++run) {
      Sample sample;
      sample.compute = type;
      sample.sizes = {5, run, 17, 12};  // columns, columns, rows, contracted
      sample.labels = {.batch = {}, .m = {2}, .n = {0, 1}, .k = {3}};
      sample.a.strides = {0, 0, 12, 1};
      sample.b.strides = {12, 60, 0, 1};
      sample.c.strides = {17 * run, 1, run, 0};
      const auto memory = [&](std::int64_t count) { return random_tile(random, type, Shape({count})); };
      sample.a.memory = memory(17 * 12);
      sample.b.memory = memory(60 * run);
      sample.c.memory = memory(5 * 17 * run);
      sample.first = run % 2 == 0;
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Few rows, and columns that are read where they lie, in several boxes, the last one smaller.
TEST_P(MatrixProductTest, ReadsWideMatricesInPlace) {
  Random random(6);
  for (const auto type : {DType::Float32, DType::Complex128, DType::Int64}) {
    for (const std::int64_t columns : {5000, 4099, 31}) {
      Sample sample;
      sample.compute = type;
      sample.sizes = {3, columns, 5, 9};
      sample.labels = {.batch = {}, .m = {2}, .n = {0, 1}, .k = {3}};
      sample.a.strides = {0, 0, 9, 1};
      sample.b.strides = {columns * 9, 1, 0, columns};
      sample.c.strides = {columns * 5, 1, columns, 0};
      const auto memory = [&](std::int64_t count) { return random_tile(random, type, Shape({count})); };
      sample.a.memory = memory(5 * 9);
      sample.b.memory = memory(3 * 9 * columns);
      sample.c.memory = memory(3 * 5 * columns);
      sample.first = columns % 2 == 0;
      expect_product(level_table(GetParam()), std::move(sample));
    }
  }
}

// Of (a, c, d, e), which lie as e, c, a, d in the other tensor and apart from each other, a makes the run along d
// longer.
TEST(BoxSides, GrowAlongTheShorterRun) {
  const IndexGroup group{{12, 12, 1728 * 2}, {12, 144, 144}, {12, 1, 12}, {12, 20736, 1}};
  EXPECT_EQ(box_sides(group, 2048, 1, std::array{3, 2}), (Index{12, 1, 12, 12}));
  EXPECT_EQ(box_sides(group, 500, 1, std::array{3, 2}), (Index{3, 1, 12, 12}));
}

TEST(BoxSides, GiveEachImportantLoopARun) {
  const IndexGroup two{{100, 1, 100}, {100, 100, 1}};
  const std::array both{0, 1};
  EXPECT_EQ(box_sides(two, 256, 1, both), (Index{15, 17}));
  EXPECT_EQ(box_sides({{1000, 1, 1}}, 384, 1, std::array{0}), (Index{334}));
  EXPECT_EQ(box_sides({{1000, 1, 1}}, 384, 32, std::array{0}), (Index{352}));
  EXPECT_EQ(box_sides({{3, 50, 5}, {5, 1, 1}}, 384, 1, std::array{1}), (Index{3, 5}));
  EXPECT_TRUE(box_sides({}, 384, 1, {}).empty());
}

TEST(GroupBoxes, ListOffsetsBoxByBox) {
  const IndexGroup group{{2, 10, 1}, {3, 1, 2}};
  GroupBoxes boxes(group, {2, 2});
  ASSERT_EQ(boxes.box_count(), 2);
  Index offsets(static_cast<std::size_t>(boxes.room()));
  boxes.list_first(offsets.data());
  EXPECT_EQ(offsets, (Index{0, 1, 10, 11}));
  boxes.go_to(1);
  EXPECT_EQ(boxes.count(), 2);
  boxes.list_second(offsets.data());
  EXPECT_EQ(offsets[0], 4);
  EXPECT_EQ(offsets[1], 5);
}

// Memory that was used for something else often reads as denormals, which are slow to multiply.
TEST_P(MatrixProductTest, LanesBesideTheLastColumnsAreZero) {
  constexpr std::int64_t kDepth = 5;
  const auto& table = level_table(GetParam()).of(DType::Float64).panels;
  const auto width = 2 * table.columns + 1;
  std::vector<double> values(static_cast<std::size_t>(width * kDepth), 1.0);
  Index columns(static_cast<std::size_t>(width));
  Index steps(kDepth);
  Index order;
  for (const auto contiguity : {Contiguity::InnerWidth, Contiguity::OuterWidth, Contiguity::Depth, Contiguity::None}) {
    const bool deep = contiguity == Contiguity::Depth;
    for (std::int64_t j = 0; j < width; ++j) columns[static_cast<std::size_t>(j)] = deep ? j * kDepth : j;
    for (std::int64_t p = 0; p < kDepth; ++p) steps[static_cast<std::size_t>(p)] = deep ? p : p * width;
    order.resize(contiguity == Contiguity::OuterWidth ? 1 : kDepth);
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> panels(static_cast<std::size_t>(PanelPacker::room(width, kDepth, table.columns, contiguity)),
                               1e-310);
    PanelPacker packer(table.packing[slot_of(DType::Float64)], 8, 8, contiguity, table.columns, false);
    packer.pack({.data = values.data(), .width = columns, .depth = steps, .order = order, .inner = width},
                reinterpret_cast<std::byte*>(panels.data()));
    for (std::int64_t p = 0; p < kDepth; ++p) {
      const auto* last = panels.data() + 2 * table.columns * kDepth + p * table.columns;
      EXPECT_EQ(last[0], 1.0);
      EXPECT_TRUE(std::all_of(last + 1, last + table.columns, [](double x) { return x == 0; }));
    }
  }
}

// Panels of which the innermost loop is not the contiguous one: columns that panels' ends cut, strips, edges and tight
// panels, for widths around those of panels.
template <class T>
void check_outer_width(const LevelTable& level, DType type, std::int64_t inner, std::int64_t outer, std::int64_t depth,
                       std::int64_t panel_width, bool tight) {
  SCOPED_TRACE("inner " + std::to_string(inner) + " outer " + std::to_string(outer) + " depth " +
               std::to_string(depth) + " panels of " + std::to_string(panel_width) + (tight ? ", tight" : ""));
  constexpr std::int64_t kRun = 3;  // outer indices that are contiguous, before a gap
  const auto step = ceil_divide(outer, kRun) * (kRun + 2);
  const auto width = inner * outer;
  Index columns;
  Index steps;
  Index order;
  for (std::int64_t c = 0; c < outer; ++c) {
    order.push_back(c * inner);
    for (std::int64_t r = 0; r < inner; ++r) columns.push_back(c / kRun * (kRun + 2) + c % kRun + r * depth * step);
  }
  for (std::int64_t p = 0; p < depth; ++p) steps.push_back((depth - 1 - p) * step);
  std::vector<T> values(static_cast<std::size_t>(inner * depth * step));
  std::iota(values.begin(), values.end(), T(1));
  const auto room = static_cast<std::size_t>(PanelPacker::room(width, depth, panel_width, Contiguity::OuterWidth));
  constexpr std::size_t kGuard = 64;
  std::vector<T> panels(room + kGuard, T(-1));
  PanelPacker packer(level.of(type).panels.packing[slot_of(type)], sizeof(T), sizeof(T), Contiguity::OuterWidth,
                     panel_width, tight);
  packer.pack({.data = values.data(), .width = columns, .depth = steps, .order = order, .inner = inner},
              reinterpret_cast<std::byte*>(panels.data()));
  for (std::int64_t begin = 0; begin < width; begin += panel_width) {
    const auto here = std::min(panel_width, width - begin);
    const auto row = tight ? here : panel_width;
    for (std::int64_t p = 0; p < depth; ++p)
      for (std::int64_t i = 0; i < row; ++i) {
        const auto from = i < here ? values[static_cast<std::size_t>(columns[static_cast<std::size_t>(begin + i)] +
                                                                     steps[static_cast<std::size_t>(p)])]
                                   : T(0);
        ASSERT_EQ(panels[static_cast<std::size_t>(begin * depth + p * row + i)], from)
            << "column " << begin + i << ", depth " << p;
      }
  }
  EXPECT_TRUE(std::all_of(panels.end() - kGuard, panels.end(), [](T x) { return x == T(-1); }));
}

TEST_P(MatrixProductTest, PacksColumnsThatPanelsShare) {
  for (const std::int64_t inner : {2, 3, 5, 6, 12, 16, 20, 24, 31, 32, 33, 36, 48, 96})
    for (const std::int64_t outer : {1, 2, 7, 18})
      for (const std::int64_t depth : {1, 2, 9})
        for (const bool tight : {false, true}) {
          const auto& level = level_table(GetParam());
          const auto single = level.of(DType::Float32).panels;
          const auto twice = level.of(DType::Float64).panels;
          check_outer_width<float>(level, DType::Float32, inner, outer, depth, tight ? single.rows : single.columns,
                                   tight);
          check_outer_width<double>(level, DType::Float64, inner, outer, depth, tight ? twice.rows : twice.columns,
                                    tight);
        }
}

}  // namespace
}  // namespace eindb
