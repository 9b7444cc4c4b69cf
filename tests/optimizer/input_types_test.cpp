#include "optimizer/rewrites/input_types.hpp"

#include <gtest/gtest.h>

#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using testing::texts;

// W[i,j] as it is stored.
VertexId add_stored(GraphBuilder& g, Encoding encoding) {
  Vertex v;
  v.name = "W";
  v.dtype = with_encoding(encoding).values;
  v.stored = InputTensor{.name = "W", .dtype = v.dtype, .grid = TileGrid(Shape({3, 4}), {1, 1}), .encoding = encoding};
  v.bound = Shape({3, 4});
  return g.graph.add(std::move(v));
}

// Z[i] = SUM(W[i,j] * x[j]), with the first factor as given, and x of a type.
struct ProductOfTypes {
  GraphBuilder g;
  Labels of_w;
  VertexId w;
  VertexId z;

  ProductOfTypes(Encoding encoding, DType type, ScalarPtr factor) : w(add_stored(g, encoding)) {
    of_w = {g.label("i", 3), g.label("j", 4)};
    const auto x = g.input("x", {4}, {}, type);
    z = g.vertex("Z", {{w, of_w}, {x, {of_w[1]}}}, {of_w[0]}, call(ScalarOp::Multiply, {std::move(factor), op(1)}));
  }
};

ScalarPtr weight() { return ScalarExpression::small_integer_operand(0); }

DType type_of_input(const EinGraph& graph) {
  const auto& input = graph.vertex(VertexId(0));
  EXPECT_EQ(input.dtype, input.stored->dtype);
  validate(graph);
  return input.dtype;
}

TEST(InputTypes, IntegersAreReadInTheTypeThatTheyMeet) {
  for (const auto type : {DType::Float32, DType::Float64}) {
    const ProductOfTypes product(Encoding::Int8, type, weight());
    EXPECT_EQ(type_of_input(product.g.graph), DType::Int64);
    const auto graph = read_in_compute_types(product.g.graph);
    EXPECT_EQ(type_of_input(graph), type);
    EXPECT_EQ(texts(graph), (std::vector<std::string>{"Z[i] = SUM(W[i,j] * x[j])"}));
  }
}

TEST(InputTypes, ReadersMustAgree) {
  ProductOfTypes product(Encoding::Int8, DType::Float32, weight());
  const auto s = product.g.vertex("S", {{product.w, product.of_w}}, {product.of_w[0]}, weight());
  product.g.graph.set_outputs({product.z, s});
  EXPECT_EQ(type_of_input(read_in_compute_types(product.g.graph)), DType::Int64);
}

TEST(InputTypes, WhatATypeDoesNotHoldIsNotReadInIt) {
  const ProductOfTypes product(Encoding::Int32, DType::Float32, call(ScalarOp::ToFloat32, {op(0)}));
  EXPECT_EQ(type_of_input(read_in_compute_types(product.g.graph)), DType::Int64);
}

TEST(InputTypes, FloatsStayAsTheyAre) {
  GraphBuilder g;
  const auto w = add_stored(g, Encoding::BFloat16);
  const auto i = g.label("i", 3);
  const auto j = g.label("j", 4);
  g.vertex("Z", {{w, {i, j}}}, {i}, op(0));
  EXPECT_EQ(type_of_input(read_in_compute_types(g.graph)), DType::Float32);
}

}  // namespace
}  // namespace eindb
