#include "optimizer/rewrites/placed_extremes.hpp"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(stays(100, 100, DType::Int64)) << "FLOAT64 does not hold all of INT64";
  EXPECT_TRUE(stays(8, 8, DType::Float32)) << "the result would take as much as the values";
}

TEST(PlacedExtremes, LeavesValuesThatAreComputedWhereTheyAreRead) {
  GraphBuilder g;
  const Labels l{g.label("i", 5), g.label("j", 100)};
  const auto x = g.input("X", {5, 100});
  const auto y = g.vertex("Y", {{x, l}}, l, call(ScalarOp::Exp, {op(0)}), Aggregate::None);
  add_search(g, y, l, Aggregate::Max, 100);
  EXPECT_EQ(texts(place_extremes(g.graph)), texts(g.graph));
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
