#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <span>

#include "derivatives/forward_mode.hpp"
#include "derivatives/reverse_mode.hpp"
#include "optimizer/passes.hpp"
#include "optimizer/paths/path_optimizer.hpp"
#include "plan/validator.hpp"
#include "tests/derivatives/finite_differences.hpp"
#include "tests/derivatives/random_ein_graph.hpp"

namespace eindb {
namespace {

using testing::directional_derivative;
using testing::evaluate_all;
using testing::KinkProbes;
using testing::RandomEinGraph;
using testing::Values;

DenseTensor random_values(std::mt19937& random, const Shape& shape) {
  auto tensor = Tile::zeros(DType::Float64, shape);
  for (std::int64_t n = 0; n < shape.element_count(); ++n)
    tensor.mutable_data<double>()[n] = std::uniform_real_distribution<>(-1.3, 1.3)(random);
  return tensor;
}

double dot(const DenseTensor& a, const DenseTensor& b) {
  double sum = 0;
  for (std::int64_t n = 0; n < a.shape().element_count(); ++n) sum += a.data<double>()[n] * b.data<double>()[n];
  return sum;
}

double norm(const DenseTensor& a) { return std::sqrt(dot(a, a)); }

Values random_inputs(const EinGraph& graph, std::mt19937& random) {
  Values values;
  for (std::size_t n = 0; n < graph.size(); ++n) {
    const auto& vertex = graph.vertex(VertexId(n));
    if (vertex.is_input() && !vertex.stored->selection)
      values.emplace(VertexId(n), std::make_shared<DenseTensor>(random_values(random, vertex.bound)));
  }
  return values;
}

// Beyond about 1e3 the comparison is meaningless, since sums lose small terms to rounding.
bool is_moderate(std::span<const TilePtr> results) {
  return std::all_of(results.begin(), results.end(), [](const TilePtr& tensor) {
    const auto* values = tensor->data<double>();
    return std::all_of(values, values + tensor->shape().element_count(), [](double v) { return std::abs(v) < 1e3; });
  });
}

DenseTensor unit_vector(std::mt19937& random, const Shape& shape) {
  auto direction = Tile::zeros(DType::Float64, shape);
  const auto cells = static_cast<std::size_t>(shape.element_count());
  direction.mutable_data<double>()[std::uniform_int_distribution<std::size_t>(0, cells - 1)(random)] = 1;
  return direction;
}

std::string text_of(const EinGraph& graph) {
  std::string out;
  for (const auto& line : testing::texts(graph)) out += line + "\n";
  return out;
}

// A graph with the gradients of its output, at a point in general position.
struct Sample {
  RandomEinGraph random_graph;
  EinGraph graph;  // includes the gradients
  std::vector<VertexId> gradients;
  Values values;
  std::vector<TilePtr> results;

  explicit Sample(unsigned seed) : random_graph(seed), graph(random_graph.builder.graph) {
    gradients = add_gradients(graph, graph.output(), random_graph.variables);
    graph.set_outputs(gradients);
    validate(graph);
    std::mt19937 random(seed);
    values = random_inputs(graph, random);
    results = evaluate_all(graph, values);
  }

  const EinGraph& primal() const { return random_graph.builder.graph; }
  const DenseTensor& gradient(std::size_t n) const { return *results[gradients[n].index()]; }
};

constexpr unsigned kGraphs = 500;
// Rounding of values about 1, divided by steps as small as 1e-5.
constexpr double kRoundingOfDifferences = 1e-10;

template <class Check>
void for_each_sample(const Check& check, unsigned count = kGraphs) {
  unsigned checked = 0;
  for (unsigned seed = 1; checked < count; ++seed) {
    ASSERT_LT(seed, 3 * count) << "too many graphs are left out";
    Sample sample(seed);
    if (!is_moderate(std::span(sample.results).first(sample.primal().size()))) continue;
    ++checked;
    check(seed, sample);
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << "\n" << text_of(sample.graph);
  }
}

// Constructs that occur in the graphs and on which the loss depends.
struct Coverage {
  std::set<ScalarOp> functions;
  std::set<Aggregate> aggregates;
  std::set<std::size_t> ranks;
  int diagonals = 0;
  int selections = 0;

  void add(const EinGraph& graph) {
    for (const auto& vertex : graph.vertices()) {
      ranks.insert(vertex.bound.rank());
      if (vertex.is_input()) {
        selections += vertex.stored->selection.has_value() ? 1 : 0;
        continue;
      }
      aggregates.insert(vertex.einsum.aggregate);
      for (const auto& labels : vertex.einsum.inputs)
        diagonals += DistinctLabels(labels).labels().size() < labels.size() ? 1 : 0;
      add(*vertex.einsum.expression);
    }
  }

 private:
  void add(const ScalarExpression& e) {
    if (e.kind() == ScalarExpression::Kind::Call && !converts_to(e.op())) functions.insert(e.op());
    for (const auto& argument : e.arguments()) add(*argument);
  }
};

TEST(RandomGradient, AgreesWithCentralDifferences) {
  int compared = 0;
  int near_kinks = 0;
  Coverage coverage;
  for_each_sample([&](unsigned seed, const Sample& sample) {
    coverage.add(sample.primal());
    std::mt19937 random(seed);
    const KinkProbes probes(sample.primal());
    for (std::size_t n = 0; n < sample.gradients.size(); ++n) {
      const auto variable = sample.random_graph.variables[n];
      const auto& shape = sample.graph.vertex(variable).bound;
      for (int trial = 0; trial < 3; ++trial) {
        const auto direction = trial == 0 ? random_values(random, shape) : unit_vector(random, shape);
        const auto expected = directional_derivative(probes, sample.values, variable, direction);
        ++(expected ? compared : near_kinks);
        if (!expected) continue;
        const auto& gradient = sample.gradient(n);
        const auto scale = std::max(std::abs(*expected), 1e-2 * norm(gradient) * norm(direction));
        EXPECT_NEAR(dot(gradient, direction), *expected, 1e-6 * scale + kRoundingOfDifferences)
            << sample.graph.vertex(variable).name;
      }
    }
  });
  EXPECT_LT(near_kinks, compared / 10) << compared;
  std::size_t functions = 0;
  for (std::size_t op = 0; op <= static_cast<std::size_t>(ScalarOp::Case); ++op)
    functions += works_on_bits(static_cast<ScalarOp>(op)) ? 0 : 1;  // those have no derivative
  EXPECT_EQ(coverage.functions.size(), functions);
  EXPECT_EQ(coverage.aggregates.size(), 5U);
  for (std::size_t rank = 0; rank <= 5; ++rank) EXPECT_TRUE(coverage.ranks.contains(rank)) << rank;
  EXPECT_GT(coverage.diagonals, 50);
  EXPECT_GT(coverage.selections, 50);
}

// <gradient, direction> is the derivative along the direction, which forward mode computes independently.
TEST(RandomGradient, ForwardAndReverseModeAgree) {
  for_each_sample([&](unsigned seed, const Sample& sample) {
    std::mt19937 random(seed + 1);
    auto graph = sample.graph;
    auto values = sample.values;
    std::vector<Tangent> tangents;
    double expected = 0;
    double size = 0;
    for (std::size_t n = 0; n < sample.gradients.size(); ++n) {
      const auto variable = sample.random_graph.variables[n];
      const auto shape = graph.vertex(variable).bound;
      const auto grid = TileGrid(shape, Partition(shape.rank(), 1));
      const auto direction = graph.add(
          make_input({.name = "D" + std::to_string(n), .dtype = DType::Float64, .grid = grid, .selection = {}}));
      tangents.push_back({variable, direction});
      auto along = random_values(random, shape);
      expected += dot(sample.gradient(n), along);
      size += norm(sample.gradient(n)) * norm(along);
      values.emplace(direction, std::make_shared<DenseTensor>(std::move(along)));
    }
    const auto jvp = add_jvp(graph, sample.primal().output(), tangents);
    graph.set_output(jvp);
    validate(graph);
    EXPECT_NEAR(evaluate_all(graph, values)[jvp.index()]->data<double>()[0], expected, 1e-11 * size + 1e-12);
  });
}

// The optimizer handles gradients like any other graph.
TEST(RandomGradient, PassesKeepThem) {
  for_each_sample(
      [&](unsigned seed, const Sample& sample) {
        auto graph = sample.graph;
        const auto n = seed % sample.gradients.size();
        graph.set_output(sample.gradients[n]);
        PathSearch paths;
        std::vector<StageTiming> timings;
        const auto rewritten = run_passes(graph, {}, timings, paths);
        const auto by_name = [&](const Vertex& vertex) {
          return testing::selected_value(graph, vertex, sample.values);
        };
        const auto result = testing::evaluate_graph(rewritten, by_name);
        const auto& expected = sample.gradient(n);
        const auto scale = std::max(1.0, norm(expected));
        for (std::int64_t c = 0; c < expected.shape().element_count(); ++c)
          ASSERT_NEAR(result.data<double>()[c], expected.data<double>()[c], 1e-10 * scale) << text_of(rewritten);
      },
      150);
}

}  // namespace
}  // namespace eindb
