#include "optimizer/passes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "common/cancellation.hpp"
#include "common/error.hpp"
#include "optimizer/optimizer.hpp"
#include "plan/validator.hpp"
#include "tests/optimizer/selected_values.hpp"

namespace eindb {
namespace {

using testing::call;
using testing::evaluate_outputs;
using testing::GraphBuilder;
using testing::index;
using testing::number;
using testing::op;

// Graphs of statements as users write them: products, quotients, sums, CASE, label values, all aggregates, diagonals,
// broadcasts, shared vertices. Values stay near one, so that rounding errors stay small.
class RandomStatement {
 public:
  explicit RandomStatement(unsigned seed, DType type = DType::Float64) : random_(seed), type_(type) {
    for (const char name : std::string("abcde")) labels_.push_back(builder.label(std::string(1, name), 2 + pick(2)));
    for (int n = 0; n < 3; ++n) readable_.push_back(input(n));
    const auto count = 1 + pick(3);
    for (std::size_t n = 0; n < count; ++n) {
      if (n > 0 && pick(3) == 0) readable_.push_back(copy_of(readable_.back(), "C" + std::to_string(n)));
      readable_.push_back(vertex("V" + std::to_string(n)));
      if (!readable_.back().extents.empty() && n + 1 < count && pick(2) == 0)
        readable_.push_back(selection_from(readable_.back(), "S" + std::to_string(n)));
    }
  }

  GraphBuilder builder;

 private:
  struct Readable {
    VertexId vertex;
    std::vector<std::int64_t> extents;
  };

  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  Readable input(int n) {
    std::vector<std::int64_t> extents(pick(3));
    for (auto& extent : extents) extent = 2 + static_cast<std::int64_t>(pick(2));
    return {builder.input("X" + std::to_string(n), extents, {}, type_), extents};
  }

  // A duplicate for common_subexpressions.
  Readable copy_of(const Readable& original, const std::string& name) {
    auto vertex = builder.graph.vertex(original.vertex);
    vertex.name = name;
    return {builder.graph.add(std::move(vertex)), original.extents};
  }

  // The form in which the binder writes V[1,j]: SUM over the held dimension.
  Readable selection_from(const Readable& original, const std::string& name) {
    Labels read;
    for (const auto extent : original.extents) read.push_back(builder.label("at", extent));
    const auto held = read[pick(read.size())];
    const auto here = call(ScalarOp::Equal, {index(held), number(1)});
    const auto id = builder.vertex(name, {{original.vertex, read}}, difference(read, {held}),
                                   call(ScalarOp::Case, {here, op(0), number(0)}));
    return {id, builder.graph.vertex(id).bound.extents()};
  }

  Label label_of(std::int64_t extent) {
    Labels fitting;
    for (const auto label : labels_)
      if (builder.graph.labels().extent(label) == extent) fitting.push_back(label);
    if (fitting.empty()) fitting.push_back(labels_.emplace_back(builder.label("x", extent)));
    return fitting[pick(fitting.size())];
  }

  Readable vertex(const std::string& name) {
    std::vector<GraphBuilder::Read> reads;
    Labels known;
    const auto arity = 1 + pick(4);
    for (std::size_t n = 0; n < arity; ++n) {
      const auto& source = readable_[pick(readable_.size())];
      auto& read = reads.emplace_back(GraphBuilder::Read{source.vertex, {}});
      for (const auto extent : source.extents) read.labels.push_back(label_of(extent));
      append_distinct(known, read.labels);
    }
    auto expression = pick(3) == 0 ? any(arity, 3, known) : product(arity, known);
    Labels output = known;
    std::shuffle(output.begin(), output.end(), random_);
    output.resize(std::min<std::size_t>(output.size(), pick(3)));
    if (pick(6) == 0 && output.size() < 3)
      append_distinct(output, {labels_[pick(labels_.size())]});  // maybe a broadcast
    const Aggregate aggregates[] = {Aggregate::Sum, Aggregate::Sum, Aggregate::Sum, Aggregate::Max, Aggregate::Min};
    const auto id = builder.vertex(name, reads, output, std::move(expression), aggregates[pick(5)]);
    return {id, builder.graph.vertex(id).bound.extents()};
  }

  ScalarPtr product(std::size_t arity, const Labels& known) {
    std::vector<ScalarPtr> factors;
    for (std::size_t n = 0; n < arity; ++n) factors.push_back(pick(4) == 0 ? any(arity, 1, known) : op(n));
    if (pick(3) == 0) factors.push_back(leaf(0, known));
    ScalarPtr result = factors[0];
    for (std::size_t n = 1; n < factors.size(); ++n)
      result = pick(4) == 0 ? call(ScalarOp::Divide, {result, positive(factors[n])})
                            : call(ScalarOp::Multiply, {result, factors[n]});
    return pick(5) == 0 ? call(ScalarOp::Negate, {result}) : result;
  }

  ScalarPtr positive(ScalarPtr e) { return call(ScalarOp::Add, {call(ScalarOp::Abs, {std::move(e)}), number(1)}); }

  ScalarPtr leaf(std::size_t arity, const Labels& known) {
    const auto kind = pick(8);
    if (kind == 0 && !known.empty()) return index(known[pick(known.size())]);
    if (kind == 1 && !known.empty()) return call(ScalarOp::LessEqual, {index(known[pick(known.size())]), number(1)});
    return arity == 0 || kind == 2 ? number(2) : op(pick(arity));
  }

  ScalarPtr any(std::size_t arity, int depth, const Labels& known) {
    if (depth == 0) return leaf(arity, known);
    const auto next = [&] { return any(arity, depth - 1, known); };
    switch (pick(10)) {
      case 7: return call(ScalarOp::Least, {next(), next()});
      case 8:
        return call(ScalarOp::Or, {call(ScalarOp::Less, {next(), number(2)}), call(ScalarOp::Less, {next(), next()})});
      case 0: return call(ScalarOp::Add, {next(), next(), next()});
      case 1: return call(ScalarOp::Subtract, {next(), next()});
      case 2: return call(ScalarOp::Greatest, {next(), next(), next()});
      case 3: return call(ScalarOp::Case, {call(ScalarOp::Less, {next(), next()}), next(), next(), next(), next()});
      case 4: return call(ScalarOp::Case, {next(), next(), next()});
      case 5: return call(ScalarOp::Tanh, {next()});
      case 6: return call(ScalarOp::Multiply, {next(), next()});
      default: return leaf(arity, known);
    }
  }

  std::mt19937 random_;
  DType type_;
  Labels labels_;
  std::vector<Readable> readable_;
};

// Small integers keep every sum and product exact, so that CASE and MAX cannot change by rounding.
DenseTensor small_integers_of(const Vertex& vertex) {
  auto tensor = DenseTensor::uninitialized(vertex.dtype, testing::stored_shape(vertex));
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(vertex.stored->name)));
  dispatch(vertex.dtype, [&](auto t) {
    using T = typename decltype(t)::type;
    auto* values = tensor.template mutable_data<T>();
    for (std::int64_t n = 0; n < tensor.shape().element_count(); ++n) values[n] = static_cast<T>(1 + random() % 3);
  });
  return testing::selected_part(vertex, tensor);
}

// Each element within the rounding of a sum of a few hundred terms, relative to the largest element.
void expect_close(const DenseTensor& expected, const DenseTensor& actual, const std::string& what) {
  ASSERT_EQ(expected.dtype(), actual.dtype()) << what;
  ASSERT_EQ(expected.shape(), actual.shape()) << what;
  dispatch(expected.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    double largest = 1;
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n)
      largest = std::max(largest, static_cast<double>(std::abs(expected.template data<T>()[n])));
    const double tolerance = largest * (std::is_same_v<T, float> ? 1e-4 : 1e-11);
    for (std::int64_t n = 0; n < expected.shape().element_count(); ++n) {
      const double difference =
          static_cast<double>(std::abs(expected.template data<T>()[n] - actual.template data<T>()[n]));
      ASSERT_LE(difference, tolerance) << what;
    }
  });
}

std::string joined(const EinGraph& graph) {
  std::string out;
  for (const auto& text : testing::texts(graph)) out += text + "\n";
  return out;
}

void expect_same_heads(const EinGraph& a, const EinGraph& b) {
  ASSERT_EQ(a.outputs().size(), b.outputs().size());
  for (std::size_t n = 0; n < a.outputs().size(); ++n) {
    const auto& before = a.vertex(a.outputs()[n]);
    const auto& after = b.vertex(b.outputs()[n]);
    EXPECT_EQ(before.name, after.name);
    EXPECT_EQ(a.labels().join_names(before.einsum.output), b.labels().join_names(after.einsum.output));
  }
}

void expect_close(const std::vector<DenseTensor>& expected, const std::vector<DenseTensor>& actual,
                  const std::string& what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (std::size_t n = 0; n < expected.size(); ++n) expect_close(expected[n], actual[n], what);
}

// The output, and some of the intermediate vertices.
EinGraph with_several_outputs(EinGraph graph, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<VertexId> outputs{graph.output()};
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!graph.vertex(VertexId(v)).is_input() && VertexId(v) != graph.output() && random() % 3 == 0)
      outputs.emplace_back(v);
  std::shuffle(outputs.begin(), outputs.end(), random);
  graph.set_outputs(std::move(outputs));
  return graph;
}

class PassesPreserveResults : public ::testing::TestWithParam<DType> {};

TEST_P(PassesPreserveResults, EachPassAloneAndAllTogether) {
  std::map<std::string_view, int> changed;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const RandomStatement statement(seed, GetParam());
    const auto graph = seed % 3 == 0 ? with_several_outputs(statement.builder.graph, seed) : statement.builder.graph;
    ASSERT_NO_THROW(validate(graph));
    const auto expected = evaluate_outputs(graph, small_integers_of);
    for (const auto& pass : all_passes()) {
      PathSearch paths;
      const auto rewritten = pass.run(graph, {}, paths);
      ASSERT_NO_THROW(validate(rewritten)) << joined(graph) << pass.name << "\n" << joined(rewritten);
      expect_same_heads(graph, rewritten);
      expect_close(expected, evaluate_outputs(rewritten, small_integers_of),
                   joined(graph) + std::string(pass.name) + "\n" + joined(rewritten));
      const bool same = joined(rewritten) == joined(graph) && rewritten.chains().empty();
      changed[pass.name] += same ? 0 : 1;
    }
    for (const auto& disabled : {std::set<std::string>{},
                                 {"early_summation"},
                                 {"common_subexpressions", "common_parts"},
                                 {"selection_pushdown", "elementwise_fusion"}}) {
      std::vector<StageTiming> timings;
      PathSearch paths;
      const auto rewritten = run_passes(graph, disabled, timings, paths);
      expect_close(expected, evaluate_outputs(rewritten, small_integers_of),
                   joined(graph) + "all\n" + joined(rewritten));
      expect_same_heads(graph, rewritten);
      EXPECT_EQ(timings.size(), all_passes().size() - disabled.size());
    }
  }
  // The statements exercise every pass.
  for (const auto& pass : all_passes()) {
    // These need larger joins, an aggregate that random statements lack, stored tensors of narrow types, matrices or
    // long lines, or searches (plain_operands_test, definition_inlining_test, input_types_test, placed_extremes_test,
    // tests/sql/tall_matrices.test and long_lines.test).
    if (pass.name == "placed_extremes" || pass.name == "plain_operands" || pass.name == "log_sum_exp" ||
        pass.name == "repeated_joins" || pass.name == "input_types" || pass.name == "tall_factors" ||
        pass.name == "needed_factors" || pass.name == "long_lines")
      continue;
    // Other passes leave them few opportunities (chain_fusion_test, definition_inlining_test).
    const auto least = pass.name == "chain_fusion" || pass.name == "inlining" ? 1 : 10;
    EXPECT_GT(changed[pass.name], least) << pass.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PassesPreserveResults, ::testing::Values(DType::Float64, DType::Float32, DType::Int64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST(Passes, WhatCanBeDisabled) {
  GraphBuilder g;
  g.vertex("Z", {{g.input("X", {}), {}}}, {}, op(0));
  std::vector<StageTiming> timings;
  const auto kind = [&](const std::string& name) {
    try {
      PathSearch paths;
      run_passes(g.graph, {name}, timings, paths);
    } catch (const Error& e) {
      return e.kind();
    }
    return ErrorKind::Internal;
  };
  EXPECT_EQ(kind("no_such_pass"), ErrorKind::UnknownName);
  EXPECT_EQ(kind("contraction_order"), ErrorKind::Value);
}

TEST(Passes, NamesAreUniqueAndReasonsGiven) {
  std::set<std::string_view> names;
  for (const auto& pass : all_passes()) {
    EXPECT_TRUE(names.insert(pass.name).second);
    EXPECT_FALSE(pass.reason.empty());
  }
}

// A chain of matrices, each of its own.
EinGraph long_contraction(std::size_t n) {
  GraphBuilder g;
  std::vector<GraphBuilder::Read> reads;
  Labels bonds;
  for (std::size_t b = 0; b <= n; ++b) bonds.push_back(g.label("b" + std::to_string(b), 2));
  for (std::size_t b = 0; b < n; ++b)
    reads.push_back({g.input("M" + std::to_string(b), {2, 2}), {bonds[b], bonds[b + 1]}});
  g.contraction("Z", reads, {bonds.front(), bonds.back()});
  return g.graph;
}

// A statement is cancelled wherever it is: no stage goes through a large graph without looking. A pass ends in
// validation.
TEST(Passes, EveryStageLooksForCancellation) {
  Cancellation cancelled;
  cancelled.request();
  const auto stops = [&](const auto& stage) {
    const CancellationScope scope(cancelled);
    try {
      stage();
    } catch (const Error& e) {
      return e.kind() == ErrorKind::Cancelled;
    }
    return false;
  };
  auto graph = long_contraction(4000);
  PathSearch paths({PathOptimizer::Greedy, {}});
  for (const auto& pass : all_passes()) {
    EXPECT_TRUE(stops([&] { validate(pass.run(graph, {}, paths)); })) << pass.name;
    graph = pass.run(graph, {}, paths);
  }
  OptimizerOptions options;
  options.machine = MachineOptions{};
  Optimization optimization(graph, options);
  optimization.rewrite();
  optimization.order();
  EXPECT_TRUE(stops([&] { optimization.label(); })) << "decomposition";
  optimization.label();
  EXPECT_TRUE(stops([&] { optimization.lower(); })) << "physical_plan";
}

}  // namespace
}  // namespace eindb
