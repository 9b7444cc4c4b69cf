#include "executor/kept_operators.hpp"

#include <gtest/gtest.h>

namespace eindb {
namespace {

constexpr KeptOperators::Conditions kOfPlenty{.workspace_bound = 1 << 20, .memory_limit = 1 << 30};
constexpr KeptOperators::Conditions kOfLittle{.workspace_bound = 1 << 20, .memory_limit = 1 << 22};

// Operators are told apart by their addresses: none is made here.
const void* identity(const KeptOperators::Joins& joins) { return joins.data(); }

TEST(KeptOperators, AreLentToOneExecutionAtATime) {
  KeptOperators kept;
  KeptOperators::Joins made(3);
  const auto* const first = identity(made);
  kept.give(kOfPlenty, std::move(made));
  auto lent = kept.take(kOfPlenty, 3);
  EXPECT_EQ(identity(lent), first);
  EXPECT_NE(identity(kept.take(kOfPlenty, 3)), first) << "the second execution makes its own";
  kept.give(kOfPlenty, std::move(lent));
  EXPECT_EQ(identity(kept.take(kOfPlenty, 3)), first);
}

TEST(KeptOperators, ServeOnlyTheConditionsTheyWereMadeUnder) {
  KeptOperators kept;
  KeptOperators::Joins made(2);
  const auto* const first = identity(made);
  kept.give(kOfPlenty, std::move(made));
  const auto others = kept.take(kOfLittle, 2);
  EXPECT_EQ(others.size(), 2U);
  EXPECT_NE(identity(others), first);
  EXPECT_EQ(identity(kept.take(kOfPlenty, 2)), first);
}

TEST(KeptOperators, ACopyIsEmpty) {
  KeptOperators kept;
  KeptOperators::Joins made(2);
  const auto* const first = identity(made);
  kept.give(kOfPlenty, std::move(made));
  KeptOperators copy(kept);
  EXPECT_NE(identity(copy.take(kOfPlenty, 2)), first) << "operators refer to the plan that they were made for";
  EXPECT_EQ(identity(kept.take(kOfPlenty, 2)), first);
}

TEST(KeptOperators, TheGraphOfTasksIsSharedUnderItsLimit) {
  const Fragment plan;
  KeptOperators kept;
  EXPECT_EQ(kept.graph(kOfPlenty.memory_limit), nullptr);
  const auto graph = std::make_shared<const TaskGraph>(plan);
  kept.keep(kOfPlenty.memory_limit, graph);
  EXPECT_EQ(kept.graph(kOfPlenty.memory_limit), graph);
  EXPECT_EQ(kept.graph(kOfPlenty.memory_limit), graph) << "several executions read it at the same time";
  EXPECT_EQ(kept.graph(kOfLittle.memory_limit), nullptr);
  EXPECT_EQ(KeptOperators(kept).graph(kOfPlenty.memory_limit), nullptr);
}

TEST(KeptOperators, CountOnlyWhereTheyAreKept) {
  EXPECT_TRUE(KeptOperators::keeps(1));
  EXPECT_FALSE(KeptOperators::keeps(1000));
  EXPECT_EQ(KeptOperators::approximate_bytes(1000), 0U);
  EXPECT_GT(KeptOperators::approximate_bytes(2), KeptOperators::approximate_bytes(1));
}

}  // namespace
}  // namespace eindb
