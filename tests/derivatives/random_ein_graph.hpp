#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "plan/selection.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// Scalar expressions of all functions, with arguments for which the functions are smooth, or have kinks (ABS,
/// comparisons, FLOOR) that a point in general position avoids.
class RandomExpression {
 public:
  RandomExpression(std::mt19937& random, std::size_t operands, Labels labels)
      : random_(random), operands_(operands), labels_(std::move(labels)) {}

  ScalarPtr make(int depth) {
    using enum ScalarOp;
    if (depth == 0 || pick(6) == 0) return leaf();
    const auto u = make(depth - 1);
    switch (pick(38)) {
      case 0: return call(Add, {u, make(depth - 1), leaf()});
      case 1: return call(Multiply, {u, make(depth - 1)});
      case 2: return call(Multiply, {real(0.5), u, leaf()});
      case 3: return call(Subtract, {u, make(depth - 1)});
      case 4: return call(Divide, {u, positive(make(depth - 1))});
      case 5: return call(Modulo, {u, positive(leaf())});
      case 6: return call(Power, {u, number(static_cast<std::int64_t>(pick(4)))});
      case 7: return call(Power, {positive(u), leaf()});
      case 8: return call(Power, {positive(u), real(-1.5)});
      case 9: return call(Negate, {u});
      case 10: return call(Multiply, {call(Abs, {u}), leaf()});
      case 11: return call(Multiply, {call(Sign, {u}), leaf()});
      case 12: return call(Sqrt, {positive(u)});
      case 13: return call(Exp, {call(Multiply, {real(0.3), u})});
      case 14: return call(pick(2) == 0 ? Log : Log2, {positive(u)});
      case 15: return call(Log1p, {call(Power, {u, number(2)})});
      case 16: return call(Expm1, {call(Multiply, {real(0.3), u})});
      case 17: return call(Sin, {u});
      case 18: return call(Cos, {u});
      case 19: return call(Tan, {call(Multiply, {real(0.5), call(Sin, {u})})});
      case 20: return call(Asin, {call(Multiply, {real(0.5), call(Sin, {u})})});
      case 21: return call(Acos, {call(Multiply, {real(0.5), call(Cos, {u})})});
      case 22: return call(Atan, {u});
      case 23: return call(Sinh, {call(Multiply, {real(0.3), u})});
      case 24: return call(Cosh, {call(Multiply, {real(0.3), u})});
      case 25: return call(Tanh, {u});
      case 26: return call(Erf, {u});
      case 27: return call(Sigmoid, {u});
      case 28: return call(Relu, {u});
      case 29: return call(Add, {call(std::vector{Floor, Ceil, Round}[pick(3)], {u}), u});
      case 30: return call(Real, {complex(u)});
      case 31: return call(Imag, {complex(u)});
      case 32: return call(Abs, {call(MakeComplex, {u, positive(leaf())})});
      case 33: return call(Atan2, {u, positive(leaf())});
      case 34: return call(pick(2) == 0 ? Least : Greatest, {u, make(depth - 1), leaf()});
      case 35: return call(Case, {condition(u), make(depth - 1), condition(leaf()), leaf(), make(depth - 1)});
      case 36: return call(Multiply, {condition(u), leaf()});
      default: return call(Case, {here(), u, number(0)});
    }
  }

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  ScalarPtr leaf() {
    const auto kind = pick(10);
    if (kind == 0) return real(0.7);
    if (kind == 1 && !labels_.empty()) return index(labels_[pick(labels_.size())]);
    if (kind == 2) return ScalarExpression::random(ScalarExpression::Kind::Normal, pick(100), labels_);
    return op(pick(operands_));
  }
  static ScalarPtr positive(const ScalarPtr& u) {
    return call(ScalarOp::Add, {call(ScalarOp::Power, {u, number(2)}), real(0.6)});
  }
  ScalarPtr condition(const ScalarPtr& u) {
    using enum ScalarOp;
    constexpr ScalarOp kComparisons[] = {Less, LessEqual, Greater, GreaterEqual, NotEqual, Equal};
    auto comparison = call(kComparisons[pick(6)], {u, leaf()});
    switch (pick(4)) {
      case 0: return call(Not, {comparison});
      case 1: return call(pick(2) == 0 ? And : Or, {comparison, call(Less, {leaf(), u})});
      default: return comparison;
    }
  }
  ScalarPtr here() {
    if (labels_.empty()) return number(1);
    return call(ScalarOp::Equal, {index(labels_[pick(labels_.size())]), index(labels_[pick(labels_.size())])});
  }
  ScalarPtr complex(const ScalarPtr& u) {
    using enum ScalarOp;
    const auto z = call(MakeComplex, {u, leaf()});
    switch (pick(8)) {
      case 0: return call(Multiply, {z, call(Conj, {call(MakeComplex, {leaf(), real(0.5)})})});
      case 1: return call(Exp, {call(Multiply, {real(0.3), z})});
      case 2: return call(Sin, {z});
      case 3: return call(Divide, {leaf(), call(MakeComplex, {positive(u), leaf()})});
      case 4: return call(std::vector{Sqrt, Log}[pick(2)], {call(MakeComplex, {positive(u), leaf()})});
      case 5: return call(Power, {z, number(3)});
      case 6: return call(Multiply, {call(Real, {z}), call(Cosh, {z})});
      default: return call(Conj, {z});
    }
  }

  std::mt19937& random_;
  std::size_t operands_;
  Labels labels_;
};

/// A graph of stored tensors of rank 0 to 5 and up to `most` vertices over them with all aggregates: contractions and
/// other functions, diagonals, selections, broadcasts, several readers. Its output is a scalar that depends on all
/// vertices.
class RandomEinGraph {
 public:
  explicit RandomEinGraph(unsigned seed, std::size_t most = 4) : random_(seed) {
    for (std::int64_t extent = 1; extent <= 3; ++extent)
      for (const char* name : {"i", "j", "k"}) pool_.push_back(builder.label(name + std::to_string(extent), extent));
    const auto stored = 1 + pick(3);
    for (std::size_t n = 0; n < stored; ++n) add_input();
    const auto count = 1 + pick(most);
    for (std::size_t n = 0; n < count; ++n) add_vertex();
    add_loss();
  }

  GraphBuilder builder;
  std::vector<VertexId> variables;  ///< stored tensors, and possibly a vertex

  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

 private:
  static constexpr double kMostCells = 200;

  void add_input() {
    std::vector<std::int64_t> extents;
    const auto rank = pick(6);
    double cells = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      extents.push_back(1 + static_cast<std::int64_t>(pick(cells < 12 ? 3 : 1)));
      cells *= static_cast<double>(extents.back());
    }
    const auto id = builder.input("X" + std::to_string(variables.size()), extents);
    variables.push_back(id);
    readable_.push_back(id);
    unread_.push_back(id);
  }

  // A random operand, sometimes with a dimension held at an index.
  VertexId source() {
    const auto id = readable_[pick(readable_.size())];
    const auto bound = builder.graph.vertex(id).bound;
    if (bound.rank() == 0 || pick(6) > 0) return id;
    std::vector<std::optional<std::int64_t>> at(bound.rank());
    const auto d = pick(bound.rank());
    at[d] = static_cast<std::int64_t>(pick(static_cast<std::size_t>(bound[d])));
    return select(builder.graph, id, at);
  }

  // Limits the number of cells: if there would be too many, existing labels are reused.
  GraphBuilder::Read read(VertexId id, Labels& domain) {
    GraphBuilder::Read read{id, {}};
    const auto extents = builder.graph.vertex(id).bound.extents();
    for (const auto extent : extents) {
      Labels fitting;
      const auto& from = cells_of(domain) > kMostCells / 6 ? domain : pool_;
      for (const auto label : from)
        if (builder.graph.labels().extent(label) == extent) fitting.push_back(label);
      if (fitting.empty()) fitting.push_back(pool_[static_cast<std::size_t>(extent - 1) * 3]);
      read.labels.push_back(fitting[pick(fitting.size())]);
      append_distinct(domain, {read.labels.back()});
    }
    std::erase(unread_, id);
    return read;
  }

  double cells_of(const Labels& labels) const {
    double cells = 1;
    for (const auto label : labels) cells *= static_cast<double>(builder.graph.labels().extent(label));
    return cells;
  }

  void add_vertex() {
    Labels domain;
    std::vector<GraphBuilder::Read> reads;
    const auto count = 1 + pick(3);
    for (std::size_t n = 0; n < count; ++n) reads.push_back(read(source(), domain));
    if (pick(5) == 0) append_distinct(domain, {pool_[pick(pool_.size())]});
    const bool contraction = pick(3) == 0;
    RandomExpression expressions(random_, reads.size(), domain);
    ScalarPtr e = contraction ? product(reads.size()) : expressions.make(3);
    constexpr Aggregate kAggregates[] = {Aggregate::Sum, Aggregate::Sum, Aggregate::Prod, Aggregate::Min,
                                         Aggregate::Max};
    const auto aggregate = contraction ? Aggregate::Sum : kAggregates[pick(5)];
    if (aggregate == Aggregate::Prod && pick(3) > 0) e = call(ScalarOp::Add, {real(1.2), call(ScalarOp::Sin, {e})});
    else if (aggregate == Aggregate::Prod || aggregate == Aggregate::Max) e = pick(2) == 0 ? op(0) : e;
    std::shuffle(domain.begin(), domain.end(), random_);
    auto output = domain;
    output.resize(std::min<std::size_t>(pick(domain.size() + 1), 5));
    const auto name = "V" + std::to_string(builder.graph.size());
    readable_.push_back(add(name, reads, output, difference(domain, output), e, aggregate));
    unread_.push_back(readable_.back());
    if (pick(4) == 0) variables.push_back(readable_.back());
  }

  VertexId add(const std::string& name, const std::vector<GraphBuilder::Read>& reads, const Labels& output,
               const Labels& aggregated, ScalarPtr e, Aggregate aggregate) {
    EinSum einsum{.inputs = {},
                  .output = output,
                  .aggregated = aggregated,
                  .expression = std::move(e),
                  .aggregate = aggregated.empty() ? Aggregate::None : aggregate};
    std::vector<VertexId> inputs;
    for (const auto& read : reads) {
      inputs.push_back(read.vertex);
      einsum.inputs.push_back(read.labels);
    }
    return builder.graph.add(make_vertex(builder.graph, name, inputs, std::move(einsum)));
  }

  // L = SUM(w * V) + ... over all vertices without readers, with random weights.
  void add_loss() {
    std::vector<GraphBuilder::Read> sums;
    ScalarPtr total = number(0);
    const auto unread = unread_;
    for (const auto id : unread) {
      Labels domain;
      const auto one = read(id, domain);
      const auto weight = ScalarExpression::random(ScalarExpression::Kind::Uniform, pick(100), domain);
      const auto body = call(ScalarOp::Multiply, {weight, op(0)});
      sums.push_back({add("S" + std::to_string(sums.size()), {one}, {}, domain, body, Aggregate::Sum), {}});
      total = call(ScalarOp::Add, {total, op(sums.size() - 1)});
    }
    builder.graph.set_output(add("L", sums, {}, {}, total, Aggregate::None));
  }

  std::mt19937 random_;
  Labels pool_;
  std::vector<VertexId> readable_;
  std::vector<VertexId> unread_;
};

}  // namespace eindb::testing
