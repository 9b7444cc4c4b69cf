// Aggregates of users in the optimizer: what is declared is used, and nothing else.
#include "tensor/user_aggregate.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "optimizer/contraction_slicer.hpp"
#include "optimizer/partitions/cost_model.hpp"
#include "optimizer/rewrites/common_subexpressions.hpp"
#include "optimizer/rewrites/definition_inlining.hpp"
#include "optimizer/rewrites/early_summation.hpp"
#include "tensor/block_form.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::GraphBuilder;
using testing::op;
using testing::texts;

UserAggregatePtr longest(bool splits, bool distributes) {
  UserAggregate user{.name = "f",
                     .combination = call(ScalarOp::Greatest, {op(0), op(1)}),
                     .initial = ScalarExpression::integer(0),
                     .commutative = splits,
                     .associative = splits};
  if (distributes) user.semirings.push_back(declared_semiring(ScalarOp::Add, false));
  return std::make_shared<const UserAggregate>(std::move(user));
}

// Z[output] = f[aggregated](the sum of all reads).
VertexId add_fold(GraphBuilder& g, const std::string& name, const std::vector<GraphBuilder::Read>& reads,
                  const Labels& output, const Labels& aggregated, const UserAggregatePtr& user) {
  EinSum e;
  std::vector<VertexId> inputs;
  std::vector<ScalarPtr> terms;
  for (const auto& read : reads) {
    terms.push_back(op(inputs.size()));
    inputs.push_back(read.vertex);
    e.inputs.push_back(read.labels);
  }
  e.output = output;
  e.aggregated = aggregated;
  e.aggregate = Aggregate::User;
  e.user = user;
  e.expression = terms.size() == 1 ? terms[0] : call(ScalarOp::Add, terms);
  const auto id = g.graph.add(make_vertex(g.graph, name, inputs, std::move(e)));
  g.graph.set_output(id);
  return id;
}

// The texts without what is said of the aggregate.
std::vector<std::string> plain_texts(const EinGraph& graph) {
  auto all = texts(graph);
  for (auto& text : all) text = text.substr(0, text.find(" with "));
  return all;
}

TEST(UserAggregateRewrites, AggregateEarlyWhatDistributes) {
  GraphBuilder g;
  const auto l = g.labels("ijk", 3);
  const auto a = g.input("A", {3, 3});
  const auto b = g.input("B", {3});
  add_fold(g, "Z", {{a, {l[0], l[1]}}, {b, {l[2]}}}, {l[0]}, {l[1], l[2]}, longest(true, true));
  EXPECT_EQ(plain_texts(sum_early(g.graph)),
            (std::vector<std::string>{"Z.1[i] = f(A[i,j])", "Z.2[] = f(B[k])", "Z[i] = Z.1[i] + Z.2"}));
}

TEST(UserAggregateRewrites, LeaveOthersWhole) {
  for (const auto& user : {longest(true, false), longest(false, false)}) {
    GraphBuilder g;
    const auto l = g.labels("ij", 3);
    const auto a = g.input("A", {3});
    const auto b = g.input("B", {3});
    add_fold(g, "Z", {{a, {l[0]}}, {b, {l[1]}}}, {}, {l[0], l[1]}, user);
    EXPECT_EQ(texts(sum_early(g.graph)).size(), 1U);
  }
}

// A part that one semiring has made is not taken for that of another.
TEST(UserAggregateRewrites, InlineTheSameAggregateAlone) {
  for (const bool same : {true, false}) {
    GraphBuilder g;
    const auto l = g.labels("ijkl", 8);
    const auto a = g.input("A", {8, 8});
    const auto c = g.input("C", {8});
    auto other = *longest(true, true);
    other.name = "g";
    const auto y = add_fold(g, "Y", {{a, {l[0], l[1]}}, {a, {l[1], l[2]}}}, {l[0], l[2]}, {l[1]},
                            same ? longest(true, true) : std::make_shared<const UserAggregate>(other));
    add_fold(g, "Z", {{y, {l[0], l[2]}}, {c, {l[2]}}}, {l[0]}, {l[2]}, longest(true, true));
    EXPECT_EQ(inline_definitions(g.graph).vertex(inline_definitions(g.graph).output()).inputs.size(), same ? 3U : 2U);
  }
}

TEST(UserAggregateRewrites, TellOrdersApart) {
  for (const bool splits : {true, false}) {
    GraphBuilder g;
    const auto l = g.labels("ij", 3);
    const auto a = g.input("A", {3, 3});
    const auto y = add_fold(g, "Y", {{a, {l[0], l[1]}}}, {}, {l[0], l[1]}, longest(splits, false));
    const auto z = add_fold(g, "Z", {{a, {l[0], l[1]}}}, {}, {l[1], l[0]}, longest(splits, false));
    g.vertex("W", {{y, {}}, {z, {}}}, {}, call(ScalarOp::Subtract, {op(0), op(1)}));
    EXPECT_EQ(texts(unite_common_subexpressions(g.graph)).size(), splits ? 2U : 3U);
  }
}

TEST(UserAggregateRewrites, CutNoLabelThatIsTakenInOrder) {
  GraphBuilder g;
  const auto l = g.labels("ij", 64);
  const auto a = g.input("A", {64, 64});
  const auto& ordered =
      g.graph.vertex(add_fold(g, "Y", {{a, {l[0], l[1]}}}, {l[0]}, {l[1]}, longest(false, false))).einsum;
  EXPECT_TRUE(is_whole(ordered, l[1]));
  EXPECT_FALSE(is_whole(ordered, l[0]));
  EXPECT_EQ(cuttable_extents(ordered, DType::Float64, g.graph.labels()), (std::vector<std::int64_t>{64, 1}));
  const auto& split =
      g.graph.vertex(add_fold(g, "Z", {{a, {l[0], l[1]}}}, {l[0]}, {l[1]}, longest(true, false))).einsum;
  EXPECT_FALSE(is_whole(split, l[1]));
}

// Slices of the labels of a fold would be partial results.
TEST(UserAggregateRewrites, SliceTheHeadAlone) {
  constexpr std::int64_t kExtent = 32;
  GraphBuilder g;
  const auto l = g.labels("ikl", kExtent);
  const auto a = g.input("A", {kExtent, kExtent});
  const auto t = g.vertex("T", {{a, {l[0], l[1]}}, {a, {l[0], l[2]}}}, l, testing::product(2));
  add_fold(g, "Z", {{t, l}}, {l[1]}, {l[0], l[2]}, longest(false, false));
  const auto sliced = slice_contractions(g.graph, 12.0 * kExtent * kExtent * 8).graph.sliced();
  ASSERT_FALSE(sliced.empty());
  for (const auto& contraction : sliced)
    for (const auto& label : contraction.labels) EXPECT_EQ(label.label, l[1]);
}

}  // namespace
}  // namespace eindb
