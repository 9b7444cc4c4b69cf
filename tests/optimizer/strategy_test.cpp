#include "optimizer/partitions/strategy.hpp"

#include <gtest/gtest.h>

#include "common/error.hpp"
#include "optimizer/partitions/label_rules.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::GraphBuilder;
using Kind = Strategy::Kind;

TEST(Strategy, TextsAreParsedInOnePlace) {
  EXPECT_EQ(parse_strategy("EinDecomp"), Strategy{Kind::EinDecomp});
  EXPECT_EQ(parse_strategy(" sqrt "), Strategy{Kind::Sqrt});
  EXPECT_EQ(parse_strategy("DATA( Batch )"), (Strategy{Kind::Data, {"Batch"}}));
  EXPECT_EQ(parse_strategy("megatron(h,f)"), (Strategy{Kind::Megatron, {"h", "f"}}));
  EXPECT_EQ(parse_strategy("megatron(h,f)").to_string(), "megatron(h, f)");
  EXPECT_EQ(parse_strategy("partition( i 4,j\t2 )"), (Strategy{Kind::Partition, {"i 4", "j\t2"}}));
  EXPECT_EQ(all_strategies().size(), 7U);
  for (const auto& strategy : all_strategies()) EXPECT_EQ(parse_strategy(strategy.to_string()), strategy);
  for (const auto* text : {"", "best", "data(", "data()", "data(a,b)", "data(a", "sqrt(a)", "data(a)b", "megatron(,)",
                           "(a)", "partition", "partition()", "partition(i)", "partition(i 0)", "partition(i -2)",
                           "partition(i 2 3)", "partition(i 99999999999999999999)"})
    EXPECT_THROW(parse_strategy(text), Error) << text;
}

// Two layers of a classifier, Y = (X W1) W2, and the gradient of W2.
struct Classifier : GraphBuilder {
  Label b = label("b", 4);
  Label i = label("i", 64);
  Label h = label("h", 64);
  Label o = label("o", 16);
  VertexId x = input("X", {4, 64});
  VertexId w1 = input("W1", {64, 64});
  VertexId w2 = input("W2", {64, 16});
  VertexId hidden = contraction("H", {{x, {b, i}}, {w1, {i, h}}}, {b, h});
  VertexId y = contraction("Y", {{hidden, {b, h}}, {w2, {h, o}}}, {b, o});
  VertexId g = contraction("G", {{hidden, {b, h}}, {y, {b, o}}}, {h, o});
};

Partition parts(const EinGraph& graph, const Strategy& strategy, VertexId v) {
  return label(graph, strategy, {8, true, {}}).vertices[v.index()].partition.parts;
}

// Labels of the vertices in order: H b i h, Y b h o, G b h o.
TEST(Strategy, DataCutsTheBatchAndWhatIsLeftOfTheResult) {
  Classifier c;
  const Strategy data{Kind::Data};
  EXPECT_EQ(parts(c.graph, data, c.hidden), (Partition{4, 1, 2}));
  EXPECT_EQ(parts(c.graph, data, c.g), (Partition{4, 2, 1}));
  EXPECT_EQ(parts(c.graph, {Kind::Data, {"o"}}, c.y), (Partition{1, 1, 8}));
  EXPECT_EQ(parts(c.graph, {Kind::Data, {"o"}}, c.hidden), (Partition{4, 1, 2}));
}

TEST(Strategy, MegatronAlternatesColumnsAndRows) {
  Classifier c;
  EXPECT_EQ(weight_labels(c.graph), (std::vector<std::string>{"h"}));
  EXPECT_EQ(parts(c.graph, {Kind::Megatron}, c.hidden), (Partition{1, 1, 8}));         // W1 by columns
  EXPECT_EQ(parts(c.graph, {Kind::Megatron}, c.y), (Partition{1, 8, 1}));              // W2 by rows
  EXPECT_EQ(parts(c.graph, {Kind::Megatron, {"h", "o"}}, c.y), (Partition{1, 8, 1}));  // by the first name
  EXPECT_EQ(parts(c.graph, {Kind::Megatron, {"o", "h"}}, c.y), (Partition{1, 1, 8}));
}

TEST(Strategy, ALabelThatNoVertexHasIsAnError) {
  Classifier c;
  for (const auto& strategy :
       {Strategy{Kind::Sequence}, Strategy{Kind::Data, {"B"}}, Strategy{Kind::Megatron, {"q"}}}) {
    try {
      label(c.graph, strategy, {8, true, {}});
      FAIL() << strategy.to_string();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Label);
      EXPECT_NE(e.hint().find("b, h, i and o"), std::string::npos);
    }
  }
  GraphBuilder elementwise;
  const auto i = elementwise.label("i", 8);
  elementwise.vertex("Z", {{elementwise.input("X", {8}), {i}}}, {i}, testing::op(0));
  EXPECT_THROW(label(elementwise.graph, {Kind::Megatron}, {8, true, {}}), Error);
}

TEST(Strategy, EinDecompIsNeverAboveAnyOther) {
  Classifier c;
  for (const std::int64_t p : {1, 4, 16, 64, 4096}) {
    const DecompositionOptions options{p, p > 16, {}};
    const double best = label(c.graph, {}, options).total_cost;
    for (const auto& strategy : {Strategy{Kind::Data}, Strategy{Kind::Attention}, Strategy{Kind::Megatron}})
      EXPECT_LE(best, label(c.graph, strategy, options).total_cost) << strategy.to_string() << " p " << p;
  }
}

}  // namespace
}  // namespace eindb
