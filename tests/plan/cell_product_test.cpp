// What vertices are products of, however these are taken apart.

#include "plan/cell_product.hpp"

#include <gtest/gtest.h>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;

struct Chain {
  GraphBuilder builder;
  Labels labels = builder.labels("ijkl", 10);
  VertexId a = builder.input("A", {10, 10});
  VertexId b = builder.input("B", {10, 10});
  VertexId c = builder.input("C", {10, 10});

  Labels at(std::initializer_list<std::size_t> numbers) const {
    Labels out;
    for (const auto number : numbers) out.push_back(labels[number]);
    return out;
  }
  std::string key(VertexId vertex) const {
    const auto product = product_of(builder.graph, vertex);
    return product ? key_of(*product).text : "";
  }
};

TEST(CellProduct, IsTheSameInEveryOrder) {
  Chain chain;
  auto& builder = chain.builder;
  const auto at = [&](std::initializer_list<std::size_t> numbers) { return chain.at(numbers); };
  const auto t = builder.vertex("T", {{chain.a, at({0, 1})}, {chain.b, at({1, 2})}}, at({0, 2}), testing::product(2));
  const auto u = builder.vertex("U", {{t, at({0, 2})}, {chain.c, at({2, 3})}}, at({0, 3}), testing::product(2));
  const auto v = builder.vertex("V", {{chain.c, at({2, 3})}, {chain.b, at({1, 2})}}, at({1, 3}), testing::product(2));
  const auto w = builder.vertex("W", {{v, at({1, 3})}, {chain.a, at({0, 1})}}, at({3, 0}), testing::product(2));
  EXPECT_EQ(chain.key(t), "1:A[0,1,]1:B[1,2,]->0,2,");
  EXPECT_EQ(chain.key(u), "1:A[0,1,]1:B[1,2,]1:C[2,3,]->0,3,");
  EXPECT_EQ(chain.key(w), chain.key(u));
  EXPECT_NE(chain.key(v), chain.key(t));
}

TEST(CellProduct, TellsWhatIsKept) {
  Chain chain;
  auto& builder = chain.builder;
  const auto at = [&](std::initializer_list<std::size_t> numbers) { return chain.at(numbers); };
  const auto rows = builder.vertex("R", {{chain.a, at({0, 1})}, {chain.b, at({1, 2})}}, at({0}), testing::product(2));
  const auto columns =
      builder.vertex("S", {{chain.a, at({0, 1})}, {chain.b, at({1, 2})}}, at({2}), testing::product(2));
  EXPECT_NE(chain.key(rows), chain.key(columns));
  const auto sum = builder.vertex("Z", {{chain.a, at({0, 1})}, {chain.b, at({0, 1})}}, at({0, 1}),
                                  testing::call(ScalarOp::Add, {testing::op(0), testing::op(1)}), Aggregate::None);
  EXPECT_EQ(chain.key(sum), "");
}

// The spread is found again for another order of the dimensions.
TEST(CellProduct, IsObservedByDimension) {
  Chain chain;
  auto& builder = chain.builder;
  const auto at = [&](std::initializer_list<std::size_t> numbers) { return chain.at(numbers); };
  const auto t = builder.vertex("T", {{chain.a, at({0, 1})}, {chain.b, at({1, 2})}}, at({0, 2}), testing::product(2));
  const auto turned =
      builder.vertex("W", {{chain.b, at({1, 2})}, {chain.a, at({0, 1})}}, at({2, 0}), testing::product(2));
  ObservedCells observed;
  EXPECT_FALSE(observed_of(observed, *product_of(builder.graph, t)));
  observe(observed, *product_of(builder.graph, t), {30, {{3, 10}, {9, 4}}});
  EXPECT_EQ(observed_of(observed, *product_of(builder.graph, t)), (CellEstimate{30, {{3, 10}, {9, 4}}}));
  EXPECT_EQ(observed_of(observed, *product_of(builder.graph, turned)), (CellEstimate{30, {{9, 4}, {3, 10}}}));
  const auto version = observed.version();
  observe(observed, *product_of(builder.graph, turned), {30, {{9, 4}, {3, 10}}});
  EXPECT_EQ(observed.version(), version) << "what is known already is nothing new";
}

// A tensor that was computed in the same run stands for what it was computed from.
TEST(CellProduct, KnowsWhatWasComputed) {
  Chain chain;
  auto& builder = chain.builder;
  const auto at = [&](std::initializer_list<std::size_t> numbers) { return chain.at(numbers); };
  const auto t = builder.vertex("T", {{chain.a, at({0, 1})}, {chain.b, at({1, 2})}}, at({0, 2}), testing::product(2));
  const auto u = builder.vertex("U", {{t, at({0, 2})}, {chain.c, at({2, 3})}}, at({0, 3}), testing::product(2));
  auto tensor = *builder.graph.vertex(chain.a).stored;
  tensor.name = "T #2";
  tensor.is_computed = true;
  const auto computed = builder.graph.add(make_input(tensor));
  const auto rest =
      builder.vertex("U", {{computed, at({0, 2})}, {chain.c, at({2, 3})}}, at({0, 3}), testing::product(2));
  EXPECT_FALSE(product_of(builder.graph, rest));
  const ComputedProducts products{{"T #2", *product_of(builder.graph, t)}};
  EXPECT_EQ(key_of(*product_of(builder.graph, rest, products)).text, chain.key(u));
}

}  // namespace
}  // namespace eindb
