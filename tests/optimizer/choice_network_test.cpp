#include "optimizer/partitions/choice_network.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "optimizer/partitions/choice_descent.hpp"
#include "optimizer/partitions/variable_elimination.hpp"

namespace eindb {
namespace {

using States = ChoiceNetwork::States;

// Up to seven variables, with edges between any two of them in either direction, also multiple ones, and classes that
// merge states.
ChoiceNetwork random_network(std::mt19937& random) {
  ChoiceNetwork network;
  const std::size_t variables = 1 + random() % 7;
  for (std::size_t v = 0; v < variables; ++v) {
    std::vector<double> costs(1 + random() % 4);
    for (auto& cost : costs) cost = static_cast<double>(random() % 10);
    network.add_variable(std::move(costs));
  }
  for (std::size_t e = 0; variables > 1 && e < random() % 12; ++e) {
    const auto a = random() % variables;
    const auto b = (a + 1 + random() % (variables - 1)) % variables;
    auto table = std::make_shared<ChoiceNetwork::Table>();
    *table = {1 + random() % 3, 1 + random() % 3, {}};
    for (std::size_t n = 0; n < table->rows * table->columns; ++n)
      table->values.push_back(static_cast<double>(random() % 20));
    const auto classes = [&](std::size_t v, std::size_t count) {
      std::vector<std::uint32_t> out(network.costs(v).size());
      for (auto& c : out) c = static_cast<std::uint32_t>(random() % count);
      return out;
    };
    auto of_a = classes(a, table->rows);
    auto of_b = classes(b, table->columns);
    network.add_edge({a, b, std::move(of_a), std::move(of_b), std::move(table)});
  }
  return network;
}

double least_by_trying_all(const ChoiceNetwork& network, States& states) {
  if (states.size() == network.size()) return network.cost_of(states);
  double least = std::numeric_limits<double>::infinity();
  const auto count = network.costs(states.size()).size();
  states.push_back(0);
  for (std::size_t s = 0; s < count; ++s) {
    states.back() = static_cast<ChoiceNetwork::State>(s);
    least = std::min(least, least_by_trying_all(network, states));
  }
  states.pop_back();
  return least;
}

TEST(ChoiceNetwork, EliminationIsExactAndDescentNeverWorseThanItsStart) {
  std::mt19937 random(1);
  double excess = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto network = random_network(random);
    States states;
    const double least = least_by_trying_all(network, states);
    const auto exact = least_cost_states(network, 1e9);
    ASSERT_TRUE(exact);
    ASSERT_EQ(network.cost_of(*exact), least) << "round " << round;
    const States start(network.size(), 0);
    const double descended = network.cost_of(descend(network, start, 1e6));
    ASSERT_LE(descended, network.cost_of(start));
    excess += descended - least;
  }
  EXPECT_EQ(excess, 0);  // all of so few states are promising
}

TEST(ChoiceNetwork, GivesUpWhereTheWorkIsTooMuch) {
  std::mt19937 random(2);
  ChoiceNetwork network;
  for (int v = 0; v < 10; ++v) network.add_variable(std::vector<double>(10, 1.0));
  for (std::size_t a = 0; a < 10; ++a) {
    for (std::size_t b = a + 1; b < 10; ++b) {
      auto table = std::make_shared<ChoiceNetwork::Table>();
      *table = {10, 10, {}};
      for (int n = 0; n < 100; ++n) table->values.push_back(static_cast<double>(random() % 100));
      std::vector<std::uint32_t> own(10);
      for (std::uint32_t s = 0; s < 10; ++s) own[s] = s;
      network.add_edge({a, b, own, own, std::move(table)});
    }
  }
  EXPECT_FALSE(least_cost_states(network, 1e6));
  const States start(10, 0);
  const auto once = descend(network, start, 1e6);
  EXPECT_LT(network.cost_of(once), network.cost_of(start));
  EXPECT_EQ(once, descend(network, start, 1e6));  // deterministic
  // No single change improves the result any more.
  for (std::size_t v = 0; v < 10; ++v)
    for (ChoiceNetwork::State s = 0; s < 10; ++s)
      EXPECT_GE(network.cost_at(v, s, once), network.cost_at(v, once[v], once) * (1 - 1e-9));
}

// A stored tensor that thousands of vertices read: finding the order takes time in proportion to them, which is
// counted.
TEST(ChoiceNetwork, AHubWithThousandsOfNeighbours) {
  constexpr std::size_t kLeaves = 3000;
  constexpr double kWorkPerLeaf = 10'000;
  ChoiceNetwork network;
  const std::vector<std::uint32_t> own{0, 1};
  const auto hub = network.add_variable({0, 1});
  for (std::size_t n = 0; n < kLeaves; ++n) {
    const auto leaf = network.add_variable({1, 0});
    auto table = std::make_shared<ChoiceNetwork::Table>();
    *table = {2, 2, {0, 3, 3, 0}};  // equal states cost less
    network.add_edge({hub, leaf, own, own, std::move(table)});
  }
  const auto states = least_cost_states(network, kLeaves * kWorkPerLeaf);
  ASSERT_TRUE(states.has_value());
  EXPECT_EQ(network.cost_of(*states), 1) << "all take the second state";
}

// Four stored tensors that the links of a long chain read, none of which can be cut: without their one class the order
// takes no work, and the links stay a chain.
TEST(ChoiceNetwork, HubsOfOneClass) {
  constexpr std::size_t kLinks = 3000;
  ChoiceNetwork network;
  const std::vector<std::uint32_t> own{0, 1};
  std::vector<std::size_t> hubs;
  for (int n = 0; n < 4; ++n) hubs.push_back(network.add_variable({2}));
  for (std::size_t n = 0; n < kLinks; ++n) {
    const auto link = network.add_variable({1, 0});
    auto read = std::make_shared<ChoiceNetwork::Table>();
    *read = {1, 2, {0, 5}};
    network.add_edge({hubs[n % hubs.size()], link, {0}, own, std::move(read)});
    if (n == 0) continue;
    auto next = std::make_shared<ChoiceNetwork::Table>();
    *next = {2, 2, {0, 9, 9, 0}};
    network.add_edge({link - 1, link, own, own, std::move(next)});
  }
  const auto states = least_cost_states(network, kLinks * 1000);
  ASSERT_TRUE(states.has_value());
  EXPECT_EQ(network.cost_of(*states), 8 + static_cast<double>(kLinks)) << "all links take the first state";
}

TEST(ChoiceNetwork, PartsKeepWhatTheRestCosts) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto network = random_network(random);
    const States fixed(network.size(), 0);
    std::vector<std::size_t> some;
    for (std::size_t v = 0; v < network.size(); v += 2) some.push_back(v);
    const auto part = subnetwork(network, some, fixed);
    States states;
    auto whole = fixed;
    for (std::size_t n = 0; n < some.size(); ++n) {
      states.push_back(static_cast<ChoiceNetwork::State>(part.costs(n).size() - 1));
      whole[some[n]] = states.back();
    }
    // Edges outside the part do not change with it.
    EXPECT_EQ(part.cost_of(states) - part.cost_of(States(some.size(), 0)),
              network.cost_of(whole) - network.cost_of(fixed));
  }
}

}  // namespace
}  // namespace eindb
