#include "optimizer/rewrites/dead_vertices.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

TEST(DeadVertices, KeepsWhatTheOutputNeedsInOrder) {
  testing::GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3});
  const auto unread = g.input("Y", {3});
  g.vertex("D", {{unread, {i}}}, {i}, testing::op(0));
  const auto a = g.vertex("A", {{x, {i}}}, {i}, testing::op(0));
  const auto z = g.vertex("Z", {{a, {i}}, {x, {i}}}, {i}, testing::product(2));
  g.vertex("E", {{z, {i}}}, {i}, testing::op(0));
  g.graph.set_output(z);
  const auto graph = drop_dead_vertices(g.graph);
  EXPECT_EQ(testing::texts(graph), (std::vector<std::string>{"A[i] = X[i]", "Z[i] = A[i] * X[i]"}));
  EXPECT_EQ(graph.size(), 3U);
  EXPECT_EQ(graph.vertex(graph.output()).name, "Z");
}

TEST(DeadVertices, KeepsWhatAnyOutputNeeds) {
  testing::GraphBuilder g;
  const auto i = g.label("i", 3);
  const auto x = g.input("X", {3});
  const auto y = g.input("Y", {3});
  const auto a = g.vertex("A", {{x, {i}}}, {i}, testing::op(0));
  const auto b = g.vertex("B", {{y, {i}}}, {i}, testing::op(0));
  g.vertex("D", {{a, {i}}, {b, {i}}}, {i}, testing::product(2));
  g.graph.set_outputs({b, a});
  const auto graph = drop_dead_vertices(g.graph);
  EXPECT_EQ(testing::texts(graph), (std::vector<std::string>{"A[i] = X[i]", "B[i] = Y[i]"}));
  EXPECT_EQ(graph.outputs(), (std::vector<VertexId>{VertexId(3), VertexId(2)}));
}

}  // namespace
}  // namespace eindb
