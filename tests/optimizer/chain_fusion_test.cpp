#include "optimizer/rewrites/chain_fusion.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/fragment_planner.hpp"
#include "optimizer/partitions/calibrated_model.hpp"
#include "optimizer/partitions/strategy.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;

// One text per chain, such as "Z: M E T Z, rows i".
std::vector<std::string> chains(const EinGraph& graph) {
  const auto fused = fuse_chains(graph);
  EXPECT_NO_THROW(validate(fused));
  EXPECT_EQ(fused.size(), graph.size());
  std::vector<std::string> texts;
  for (const auto& chain : fused.chains()) {
    auto text = fused.vertex(chain.result).name + ":";
    for (const auto id : chain.body) text += " " + fused.vertex(id).name;
    text += ", rows";
    for (const auto row : chain.rows) text += " " + fused.labels().name(row);
    texts.push_back(text);
  }
  return texts;
}
using Texts = std::vector<std::string>;

// Scores of attention: large enough that a product reads K again for every strip.
struct Attention : GraphBuilder {
  explicit Attention(std::int64_t positions) {
    const auto s = label("s", positions);
    const auto t = label("t", positions);
    const auto h = label("h", 8);
    const auto d = label("d", 64);
    const auto q = input("Q", {positions, 8, 64});
    const auto k = input("K", {positions, 8, 64});
    const auto v = input("V", {positions, 8, 64});
    const auto scores = contraction("S", {{q, {s, h, d}}, {k, {t, h, d}}}, {s, h, t});
    const auto e = vertex("E", {{scores, {s, h, t}}}, {s, h, t}, call(ScalarOp::Exp, {op(0)}));
    contraction("Z", {{e, {s, h, t}}, {v, {t, h, d}}}, {s, h, d});
  }
};

TEST(ChainFusion, SoftmaxHasItsRowsInCommon) {
  GraphBuilder g;
  const auto l = g.labels("ij", 100);
  const auto i = Labels{l[0]};
  const auto x = g.input("X", {100, 100});
  const auto m = g.vertex("M", {{x, l}}, i, op(0), Aggregate::Max);
  const auto e = g.vertex("E", {{x, l}, {m, i}}, l, call(ScalarOp::Exp, {call(ScalarOp::Subtract, {op(0), op(1)})}));
  const auto t = g.vertex("T", {{e, l}}, i, op(0), Aggregate::Sum);
  g.vertex("Z", {{e, l}, {t, i}}, l, call(ScalarOp::Divide, {op(0), op(1)}));
  EXPECT_EQ(chains(g.graph), (Texts{"Z: M E T Z, rows i"}));
}

// Heads, which all operands have, are cut before the positions of Q.
TEST(ChainFusion, AttentionCutsHeadsFirst) { EXPECT_EQ(chains(Attention(256).graph), (Texts{"Z: S E Z, rows h s"})); }

// K of one head would be read from memory for every strip.
TEST(ChainFusion, NothingThatIsReadAgainIsLarge) { EXPECT_EQ(chains(Attention(100'000).graph), Texts{}); }

// The patches of a convolution: neither they nor the image, which no cache holds, keep its reader from reading it in
// place. The result's rows are those of the chain, o too, which patches lack.
TEST(ChainFusion, WindowsNeedNoCache) {
  const auto convolution = [](std::int64_t step) {
    GraphBuilder g;
    const auto c = g.label("c", 64);
    const auto o = g.label("o", 64);
    const auto y = g.label("y", 5000);
    const auto p = g.label("p", 3);
    const auto at = g.label("X.2", 5002);
    const auto x = g.input("X", {64, 5002});
    const auto w = g.input("W", {64, 64, 3});
    const auto place =
        call(ScalarOp::Add, {call(ScalarOp::Multiply, {testing::index(y), testing::number(step)}), testing::index(p)});
    const auto patches =
        g.vertex("A", {{x, {c, at}}}, {c, p, y},
                 call(ScalarOp::Case, {call(ScalarOp::Equal, {testing::index(at), place}), op(0), testing::number(0)}));
    g.contraction("Z", {{patches, {c, p, y}}, {w, {o, c, p}}}, {o, y});
    return chains(g.graph);
  };
  EXPECT_EQ(convolution(1), (Texts{"Z: A Z, rows y o"}));
  EXPECT_EQ(convolution(-1), Texts{}) << "indices that fall";
}

TEST(ChainFusion, WhatOthersReadStays) {
  GraphBuilder g;
  const auto l = g.labels("ij", 10);
  const auto x = g.input("X", {10, 10});
  const auto e = g.vertex("E", {{x, l}}, l, call(ScalarOp::Exp, {op(0)}));
  const auto t = g.vertex("T", {{e, {l[1], l[0]}}}, {l[1]}, op(0), Aggregate::Sum);
  g.vertex("Z", {{e, l}, {t, {l[0]}}}, l, call(ScalarOp::Divide, {op(0), op(1)}));
  // E is read with other labels than those of its head, and T with those of the sum.
  EXPECT_EQ(chains(g.graph), Texts{});
}

TEST(ChainFusion, SumsOverRowsStayOutside) {
  GraphBuilder g;
  const auto l = g.labels("ij", 10);
  const auto x = g.input("X", {10, 10});
  const auto e = g.vertex("E", {{x, l}}, l, call(ScalarOp::Exp, {op(0)}));
  g.vertex("Z", {{e, l}}, {}, op(0), Aggregate::Sum);
  EXPECT_EQ(chains(g.graph), Texts{});
}

// Row sums of X times a matrix.
struct SumsTimesMatrix : GraphBuilder {
  explicit SumsTimesMatrix(Partition partition) {
    const auto a = label("a", 1024);
    const auto b = label("b", 64);
    const auto c = label("c", 1024);
    const auto x = input("X", {1024, 64, 1024}, std::move(partition));
    const auto y = input("Y", {64, 64});
    const auto sums = vertex("S", {{x, {a, b, c}}}, {a, b}, op(0));
    const auto d = label("d", 64);
    contraction("Z", {{sums, {a, b}}, {y, {b, d}}}, {a, d});
  }
  // The number of joins with several vertices, for two threads.
  std::int64_t fused() const {
    const CalibratedModel model(built_in_figures(), 2);
    DecompositionOptions options;
    options.parallelism = 64;
    options.model = &model;
    const auto chained = fuse_chains(graph);
    const auto plan = plan_fragment(chained, eindb::label(chained, {}, options), {});
    return std::count_if(plan.nodes.begin(), plan.nodes.end(), [](const auto& node) {
      const auto* join = std::get_if<JoinNode>(&node.op);
      return join != nullptr && !join->steps.empty();
    });
  }
};

// Rows spread over many tiles would have to be assembled first, which reads X three times.
TEST(ChainFusion, HappensWhereRowsLieTogether) {
  EXPECT_EQ(SumsTimesMatrix({64, 1, 1}).fused(), 1);
  EXPECT_EQ(SumsTimesMatrix({4, 1, 16}).fused(), 0);
}

}  // namespace
}  // namespace eindb
