#include "optimizer/partitions/worker_count.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

// A product of two square matrices.
EinGraph product(std::int64_t extent) {
  GraphBuilder b;
  const auto l = b.labels("ijk", extent);
  const auto x = b.input("X", {extent, extent}, {1, 1});
  b.contraction("Z", {{x, {l[0], l[1]}}, {x, {l[1], l[2]}}}, {l[0], l[2]});
  return b.graph;
}

TEST(WorkerCount, AllComputeWhereExtentsAllowIt) {
  for (std::int64_t up = 1; up <= 64; ++up)
    EXPECT_EQ(count_workers(product(64), up, std::nullopt), (WorkerCount{up, up}));
}

TEST(WorkerCount, WantedCallsAreAMultiple) {
  EXPECT_EQ(count_workers(product(64), 6, 16), (WorkerCount{6, 18}));
  EXPECT_EQ(count_workers(product(64), 4, 16), (WorkerCount{4, 16}));
  EXPECT_EQ(count_workers(product(64), 3, 3), (WorkerCount{3, 3}));
  // Fewer calls than workers are shared by groups of them.
  EXPECT_EQ(count_workers(product(64), 6, 4), (WorkerCount{4, 4}));
  EXPECT_EQ(count_workers(product(64), 6, 2), (WorkerCount{6, 2}));
  EXPECT_EQ(count_workers(product(64), 7, 1), (WorkerCount{7, 1}));
}

TEST(WorkerCount, SmallExtentsLeaveWorkersIdle) {
  EXPECT_EQ(count_workers(product(2), 7, std::nullopt), (WorkerCount{4, 4}));
  EXPECT_EQ(count_workers(product(2), 3, std::nullopt), (WorkerCount{2, 2}));
  EXPECT_EQ(count_workers(product(6), 7, std::nullopt), (WorkerCount{6, 6}));
  EXPECT_EQ(count_workers(product(10), 997, std::nullopt), (WorkerCount{900, 900})) << "10 x 10 x 9";
  EXPECT_EQ(count_workers(product(2), 8, std::nullopt), (WorkerCount{8, 8}));
  // As many as a power of two are asked for all that there is.
  EXPECT_EQ(count_workers(product(3), 4, std::nullopt), (WorkerCount{4, 4}));
}

// A vertex that takes next to no time leaves no worker idle.
TEST(WorkerCount, TheWorkDecides) {
  GraphBuilder b;
  const auto i = b.label("i", 100);
  const auto j = b.label("j", 2);
  const auto x = b.input("X", {100, 2}, {1, 1});
  const auto sums = b.contraction("S", {{x, {i, j}}, {x, {i, j}}}, {j});
  b.vertex("R", {{sums, {j}}}, {j}, testing::call(ScalarOp::Exp, {testing::op(0)}));
  EXPECT_EQ(count_workers(b.graph, 7, std::nullopt), (WorkerCount{7, 7}));
}

}  // namespace
}  // namespace eindb
