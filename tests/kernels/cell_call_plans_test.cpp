// Plans of calls over cells, which a thread keeps from run to run.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "executor/kernels/cell_kernel.hpp"
#include "tests/tensor/scalar_builders.hpp"

namespace eindb {
namespace {

TEST(CellCallPlans, AreMadeAgainForOtherSizesAlone) {
  LabelTable labels;
  const auto i = labels.add("i", 1000);
  const auto j = labels.add("j", 1000);
  const EinSum product{.inputs = {{i, j}, {j}},
                       .output = {i},
                       .aggregated = {j},
                       .expression = call(ScalarOp::Multiply, {x(), y()}),
                       .aggregate = Aggregate::Sum};
  const auto kernel =
      std::make_shared<const CellKernel>(product, labels, std::vector{DType::Float64, DType::Float64}, DType::Float64,
                                         std::vector{true, false}, CellPattern::Intersection);
  const auto other = std::make_shared<const CellKernel>(*kernel);
  const std::vector<PartRange> ranges{{0, 1000}, {0, 1000}};
  const auto vector = Tile::zeros(DType::Float64, Shape({1000}));
  const auto matrix = [](std::vector<std::int64_t> numbers) {
    const auto bytes = numbers.size() * sizeof(double);
    return Tile::of_cells(std::make_shared<const CellBlock>(
        CellBlock::of_numbers(DType::Float64, Shape({1000, 1000}), numbers, std::vector<std::byte>(bytes))));
  };
  const auto one = matrix({0, 1, 5000});
  const auto alike = matrix({7, 9, 9000});
  const auto larger = matrix({0, 1, 2, 3, 5000, 999'999});
  CellCallPlans plans;
  const auto plan_of = [&](const auto& kernel_of_call, const Tile& tile) {
    const std::vector<const Tile*> operands{&tile, &vector};
    const auto& kept = plans.plan(kernel_of_call, operands, ranges, false);
    const auto made = kernel_of_call->plan(operands, ranges, false);
    EXPECT_EQ(kept.order.labels, made.order.labels);
    EXPECT_EQ(kept.workspace_bytes, made.workspace_bytes);
    return &kept;
  };
  const auto* first = plan_of(kernel, one);
  EXPECT_EQ(plan_of(kernel, alike), first);
  plan_of(kernel, larger);
  plan_of(other, one);
  for (std::int64_t n = 1; n < 40; ++n) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t m = 0; m < n; ++m) numbers.push_back(m * 1001);
    plan_of(kernel, matrix(numbers));
  }
  plan_of(kernel, one);
}

}  // namespace
}  // namespace eindb
