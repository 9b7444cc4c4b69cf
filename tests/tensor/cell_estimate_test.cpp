// Estimates of cells, held against counts by brute force.

#include "tensor/cell_estimate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace eindb {
namespace {

using Cells = std::set<std::pair<std::int64_t, std::int64_t>>;

CellEstimate counted(const Cells& cells) {
  std::map<std::int64_t, double> rows;
  std::map<std::int64_t, double> columns;
  for (const auto& [i, j] : cells) rows[i] += 1, columns[j] += 1;
  const auto spread = [](const std::map<std::int64_t, double>& counts) {
    DimensionSpread out{.indices = static_cast<double>(counts.size())};
    for (const auto& [index, count] : counts) out.degree = std::max(out.degree, count);
    return out;
  };
  return {static_cast<double>(cells.size()), {spread(rows), spread(columns)}};
}

CellEstimate only_number(const Cells& cells) { return {static_cast<double>(cells.size()), {}}; }

Cells drawn(std::int64_t count, const std::function<std::pair<std::int64_t, std::int64_t>()>& draw) {
  Cells cells;
  while (std::ssize(cells) < count) cells.insert(draw());
  return cells;
}

Cells uniform(std::int64_t extent, std::int64_t count, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> index(0, extent - 1);
  return drawn(count, [&] { return std::pair(index(random), index(random)); });
}

// Both indices by a power law: index n with a density of 1 / n to the `power`.
Cells power_law(std::int64_t extent, std::int64_t count, double power, std::mt19937_64& random) {
  std::vector<double> weights;
  for (std::int64_t n = 1; n <= extent; ++n) weights.push_back(std::pow(static_cast<double>(n), -power));
  std::discrete_distribution<std::int64_t> index(weights.begin(), weights.end());
  return drawn(count, [&] { return std::pair(index(random), index(random)); });
}

Cells banded(std::int64_t extent, std::int64_t width, std::int64_t from = 0) {
  Cells cells;
  for (std::int64_t i = from; i < extent; ++i)
    for (std::int64_t j = std::max(from, i - width); j <= std::min(extent - 1, i + width); ++j) cells.emplace(i, j);
  return cells;
}

// A block at the beginning alone has cells, as where identifiers are given one after the other.
Cells in_corner(std::int64_t corner, std::int64_t count, std::mt19937_64& random) {
  return uniform(corner, count, random);
}

double q_error(double estimate, double truth) {
  const auto a = std::max(1.0, estimate);
  const auto b = std::max(1.0, truth);
  return std::max(a / b, b / a);
}

struct Product {
  explicit Product(std::int64_t extent) {
    const auto i = labels.add("i", extent);
    const auto j = labels.add("j", extent);
    const auto k = labels.add("k", extent);
    einsum = {.inputs = {{i, j}, {j, k}},
              .output = {i, k},
              .aggregated = {j},
              .expression = nullptr,
              .aggregate = Aggregate::Sum};
  }
  LabelTable labels;
  EinSum einsum;
};

struct Truth {
  double steps = 0;
  Cells result = {};
};

Truth multiplied(const Cells& a, const Cells& b) {
  std::map<std::int64_t, std::vector<std::int64_t>> rows;
  for (const auto& [j, k] : b) rows[j].push_back(k);
  Truth truth;
  for (const auto& [i, j] : a) {
    const auto row = rows.find(j);
    if (row == rows.end()) continue;
    truth.steps += static_cast<double>(row->second.size());
    for (const auto k : row->second) truth.result.emplace(i, k);
  }
  return truth;
}

constexpr auto kBoth = CellPattern::Intersection;

TEST(CellEstimate, CountsStepsAndResultsWithoutStatistics) {
  LabelTable labels;
  const auto i = labels.add("i", 100);
  const auto j = labels.add("j", 200);
  const auto k = labels.add("k", 300);
  const EinSum product{.inputs = {{i, j}, {j, k}},
                       .output = {i, k},
                       .aggregated = {j},
                       .expression = nullptr,
                       .aggregate = Aggregate::Sum};
  const CellEstimate x{2000, {}};
  const CellEstimate y{6000, {}};
  EXPECT_DOUBLE_EQ(cell_steps(product, labels, {x, y}, kBoth), 60'000);
  EXPECT_DOUBLE_EQ(cell_steps(product, labels, {x, std::nullopt}, kBoth), 600'000);
  EXPECT_NEAR(cell_results(product, labels, {x, y}, kBoth).cells, 30'000 * (1 - std::exp(-2.0)), 1);
  EXPECT_TRUE(cell_results(product, labels, {x, y}, kBoth).spread.empty());
  EXPECT_LE(cell_results(product, labels, {CellEstimate{1, {}}, std::nullopt}, kBoth).cells, 300);
  const EinSum sum{.inputs = {{i, j}, {i, j}}, .output = {i, j}, .aggregated = {}, .expression = nullptr};
  const CellEstimate half{1000, {}};
  EXPECT_NEAR(cell_results(sum, labels, {x, half}, CellPattern::Union).cells, 2900, 300);
  EXPECT_NEAR(cell_steps(sum, labels, {x, half}, CellPattern::Union), 2900, 1);
}

// The errors of the estimates of A * B, and of A * B * C by way of the derived spread of A * B.
struct Errors {
  double steps = 1;
  double result = 1;
  double steps_of_next = 1;
};

Errors errors_of(const Cells& a, const Cells& b, const Cells& c, std::int64_t extent,
                 const std::function<CellEstimate(const Cells&)>& facts) {
  const Product product(extent);
  const auto truth = multiplied(a, b);
  const auto next = multiplied(truth.result, c);
  const auto steps = cell_steps(product.einsum, product.labels, {facts(a), facts(b)}, kBoth);
  const auto result = cell_results(product.einsum, product.labels, {facts(a), facts(b)}, kBoth);
  const auto further = cell_steps(product.einsum, product.labels, {result, facts(c)}, kBoth);
  return {q_error(steps, truth.steps), q_error(result.cells, static_cast<double>(truth.result.size())),
          q_error(further, next.steps)};
}

TEST(CellEstimate, IsNearerTheTruthWithStatistics) {
  std::mt19937_64 random(7);
  struct Case {
    std::string name;
    Cells a, b, c;
    Errors most;  // with statistics
  };
  const std::int64_t extent = 2000;
  const std::vector<Case> cases{
      {"uniform",
       uniform(extent, 8000, random),
       uniform(extent, 6000, random),
       uniform(extent, 4000, random),
       {1.1, 1.1, 1.1}},
      {"few rows of many",
       uniform(extent, 100, random),
       uniform(extent, 8000, random),
       uniform(extent, 100, random),
       {1.1, 1.1, 6}},
      {"corner",
       in_corner(100, 2000, random),
       in_corner(100, 3000, random),
       in_corner(100, 1000, random),
       {1.1, 1.1, 1.1}},
      {"power law 0.5",
       power_law(extent, 8000, 0.5, random),
       power_law(extent, 8000, 0.5, random),
       power_law(extent, 8000, 0.5, random),
       {2.1, 2, 3.8}},
      {"power law 1",
       power_law(extent, 4000, 1, random),
       power_law(extent, 4000, 1, random),
       power_law(extent, 4000, 1, random),
       {13, 11, 29}},
      {"band", banded(extent, 2), banded(extent, 3), banded(extent, 1), {1.1, 3.3, 3.3}},
      {"band from the middle",
       banded(extent, 2, extent / 2),
       banded(extent, 3, extent / 2),
       banded(extent, 1, extent / 2),
       {1.1, 3.3, 3.3}},
  };
  for (const auto& each : cases) {
    const auto before = errors_of(each.a, each.b, each.c, extent, only_number);
    const auto after = errors_of(each.a, each.b, each.c, extent, counted);
    EXPECT_LE(after.steps, each.most.steps) << each.name;
    EXPECT_LE(after.result, each.most.result) << each.name;
    EXPECT_LE(after.steps_of_next, each.most.steps_of_next) << each.name;
    EXPECT_LE(after.steps, before.steps * 1.3) << each.name;
  }
}

TEST(CellEstimate, KeepsToItsBounds) {
  std::mt19937_64 random(11);
  for (int n = 0; n < 200; ++n) {
    const auto extent = std::uniform_int_distribution<std::int64_t>(2, 40)(random);
    const auto draw = [&] {
      const auto count = std::uniform_int_distribution<std::int64_t>(1, extent * extent / 2)(random);
      return n % 2 == 0 ? uniform(extent, count, random)
                        : power_law(extent, std::max<std::int64_t>(1, count / 4), 1, random);
    };
    const auto a = draw();
    const auto b = draw();
    const auto truth = multiplied(a, b);
    const Product product(extent);
    const OperandCells cells{counted(a), counted(b)};
    const auto most = most_cell_steps(product.einsum, product.labels, cells, kBoth);
    EXPECT_GE(most * (1 + 1e-9), truth.steps);
    EXPECT_LE(cell_steps(product.einsum, product.labels, cells, kBoth), most);
    const auto result = cell_results(product.einsum, product.labels, cells, kBoth);
    EXPECT_LE(result.cells, static_cast<double>(extent * extent));
    ASSERT_EQ(result.spread.size(), 2U);
    const auto found = counted(truth.result);
    for (std::size_t d = 0; d < 2 && !truth.result.empty(); ++d) {
      EXPECT_LE(result.spread[d].indices, static_cast<double>(extent));
      EXPECT_LE(result.spread[d].degree, static_cast<double>(extent));
      EXPECT_GE(result.spread[d].degree * result.spread[d].indices, result.cells * (1 - 1e-9));
      EXPECT_LE(found.spread[d].degree, static_cast<double>(extent));
    }
  }
}

// A graph of 100 nodes that all lead to a hub, and the hub to all: each label of a triangle is in two operands.
TEST(CellEstimate, BoundsTrianglesByTheRootOfAllCells) {
  Cells edges;
  for (std::int64_t n = 1; n <= 100; ++n) edges.emplace(0, n), edges.emplace(n, 0);
  LabelTable labels;
  const auto a = labels.add("a", 1000);
  const auto b = labels.add("b", 1000);
  const auto c = labels.add("c", 1000);
  const EinSum triangles{.inputs = {{a, b}, {b, c}, {a, c}},
                         .output = {},
                         .aggregated = {a, b, c},
                         .expression = nullptr,
                         .aggregate = Aggregate::Sum};
  const auto graph = counted(edges);
  const auto most = most_cell_steps(triangles, labels, {graph, graph, graph}, kBoth);
  EXPECT_DOUBLE_EQ(most, std::pow(200, 1.5));
  EXPECT_LE(cell_steps(triangles, labels, {graph, graph, graph}, kBoth), most);
}

TEST(CellEstimate, JoinsMapsAndScalesWithDenseOperands) {
  LabelTable labels;
  const auto i = labels.add("i", 1000);
  const auto j = labels.add("j", 1000);
  const auto k = labels.add("k", 32);
  const CellEstimate graph{5000, {{500, 40}, {800, 20}}};
  const EinSum product{.inputs = {{i, j}, {j, k}},
                       .output = {i, k},
                       .aggregated = {j},
                       .expression = nullptr,
                       .aggregate = Aggregate::Sum};
  EXPECT_DOUBLE_EQ(cell_steps(product, labels, {graph, std::nullopt}, kBoth), 5000 * 32);
  const auto result = cell_results(product, labels, {graph, std::nullopt}, kBoth);
  EXPECT_LE(result.cells, 500 * 32);
  EXPECT_GE(result.cells, 450 * 32);
  EXPECT_LE(result.spread[0].degree, 32 + 1e-9);
  EXPECT_DOUBLE_EQ(result.spread[1].indices, 32);
  const EinSum masked{.inputs = {{i, j}, {i, j}}, .output = {i, j}, .aggregated = {}, .expression = nullptr};
  const auto kept = cell_results(masked, labels, {graph, std::nullopt}, kBoth);
  EXPECT_DOUBLE_EQ(kept.cells, 5000);
  EXPECT_EQ(kept.spread, graph.spread);
  EXPECT_LE(cell_results(masked, labels, {graph, graph}, kBoth).cells, 5000);
}

}  // namespace
}  // namespace eindb
