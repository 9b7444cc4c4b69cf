#include "optimizer/rewrites/placed_extremes.hpp"

#include <gtest/gtest.h>

#include "tensor/placed_value.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using testing::texts;
using Texts = std::vector<std::string>;

// ARGMAX over j as the binder makes it, of a stored tensor; returns the extreme.
VertexId add_search(GraphBuilder& g, VertexId values, const Labels& l, Aggregate extreme, std::int64_t none) {
  const auto m = g.vertex("M", {{values, l}}, {l[0]}, op(0), extreme);
  const auto found =
      call(ScalarOp::Or, {call(ScalarOp::Equal, {op(0), op(1)}), call(ScalarOp::NotEqual, {op(0), op(0)})});
  g.vertex("K", {{values, l}, {m, {l[0]}}}, {l[0]},
           call(ScalarOp::Case, {found, testing::index(l[1]), testing::number(none)}), Aggregate::Min);
  return m;
}

TEST(PlacedExtremes, AnExtremeAndItsIndexComeOfOneReading) {
  for (const auto type : {DType::Float32, DType::Float64}) {
    GraphBuilder g;
    const Labels l{g.label("i", 5), g.label("j", 100)};
    add_search(g, g.input("X", {5, 100}, {}, type), l, Aggregate::Max, 100);
    const auto placed = place_extremes(g.graph);
    const std::string value = type == DType::Float32 ? "CAST(REAL(M.1[i]) AS FLOAT32)" : "REAL(M.1[i])";
    EXPECT_EQ(texts(placed), (Texts{"M.1[i] = FIRST MAX(COMPLEX(CAST(X[i,j] AS FLOAT64), j))", "M[i] = " + value,
                                    "K[i] = IMAG(M.1[i])"}));
  }
}

TEST(PlacedExtremes, LeavesWhatItCannotHold) {
  const auto stays = [](std::int64_t extent, std::int64_t none, DType type) {
    GraphBuilder g;
    const Labels l{g.label("i", 5), g.label("j", extent)};
    add_search(g, g.input("X", {5, extent}, {}, type), l, Aggregate::Min, none);
    return texts(place_extremes(g.graph)) == texts(g.graph);
  };
  EXPECT_FALSE(stays(100, 99, DType::Float64));
  EXPECT_TRUE(stays(100, 98, DType::Float64)) << "the index 99 is not less than what stands where there is none";
  EXPECT_FALSE(stays(100, 99, DType::Int64));
  EXPECT_TRUE(stays(8, 8, DType::Float32)) << "the result would take as much as the values";
}

// FLOAT64 does not hold all of INT64: the lowest bits of the value stand above the index.
TEST(PlacedExtremes, WholeNumbersKeepAllTheirBits) {
  GraphBuilder g;
  const Labels l{g.label("i", 5), g.label("j", 100)};
  add_search(g, g.input("X", {5, 100}, {}, DType::Int64), l, Aggregate::Max, 100);
  const auto placed = place_extremes(g.graph);
  ASSERT_EQ(placed.size(), 4U);
  const auto& pairs = placed.vertices()[1];
  EXPECT_EQ(pairs.einsum.aggregate, Aggregate::FirstGreatest);
  EXPECT_EQ(pairs.dtype, DType::Complex128);
  ASSERT_TRUE(placed_value(pairs.einsum));
  EXPECT_EQ(placed_value(pairs.einsum)->type, DType::Int64);
}

// Values that are computed one by one are those of one vertex, which may take them in.
TEST(PlacedExtremes, ComputedValuesAreReadOnce) {
  GraphBuilder g;
  const Labels l{g.label("i", 5), g.label("j", 100)};
  const auto x = g.input("X", {5, 100});
  const auto y = g.vertex("Y", {{x, l}}, l, call(ScalarOp::Exp, {op(0)}), Aggregate::None);
  add_search(g, y, l, Aggregate::Max, 100);
  EXPECT_EQ(texts(place_extremes(g.graph)),
            (Texts{"Y[i,j] = EXP(X[i,j])", "M.1[i] = FIRST MAX(COMPLEX(CAST(Y[i,j] AS FLOAT64), j))",
                   "M[i] = REAL(M.1[i])", "K[i] = IMAG(M.1[i])"}));
}

// The values of a join are computed for each cell, so that fewer of them are enough.
TEST(PlacedExtremes, JoinsNeedFewValues) {
  for (const std::int64_t extent : {15, 16}) {
    GraphBuilder g;
    const Labels l{g.label("i", 50), g.label("j", extent), g.label("k", 50)};
    const Labels read{l[0], l[1], l[2]};
    const auto x = g.input("X", {50, extent});
    const auto y = g.input("Y", {extent, 50});
    const auto v = g.vertex("V", {{x, {l[0], l[1]}}, {y, {l[1], l[2]}}}, read, call(ScalarOp::Add, {op(0), op(1)}),
                            Aggregate::None);
    const auto m = g.vertex("M", {{v, read}}, {l[0], l[2]}, op(0), Aggregate::Max);
    const auto found =
        call(ScalarOp::Or, {call(ScalarOp::Equal, {op(0), op(1)}), call(ScalarOp::NotEqual, {op(0), op(0)})});
    g.vertex("K", {{v, read}, {m, {l[0], l[2]}}}, {l[0], l[2]},
             call(ScalarOp::Case, {found, testing::index(l[1]), testing::number(static_cast<double>(extent))}),
             Aggregate::Min);
    EXPECT_EQ(texts(place_extremes(g.graph)) == texts(g.graph), extent < 16);
  }
}

TEST(PlacedExtremes, AnExtremeOfOtherValuesIsSoughtByASearch) {
  GraphBuilder g;
  const Labels l{g.label("i", 100), g.label("j", 100)};
  const auto x = g.input("X", {100, 100});
  const auto m = g.vertex("M", {{x, {l[1], l[0]}}}, {l[0]}, op(0), Aggregate::Max);  // of columns
  const auto found =
      call(ScalarOp::Or, {call(ScalarOp::Equal, {op(0), op(1)}), call(ScalarOp::NotEqual, {op(0), op(0)})});
  g.vertex("K", {{x, l}, {m, {l[0]}}}, {l[0]},
           call(ScalarOp::Case, {found, testing::index(l[1]), testing::number(100)}), Aggregate::Min);
  EXPECT_EQ(texts(place_extremes(g.graph)), texts(g.graph));
}

}  // namespace
}  // namespace eindb
