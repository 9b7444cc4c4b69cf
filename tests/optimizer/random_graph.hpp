#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// Random graphs over inputs that the caller supplies.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {}

  VertexId input() {
    std::vector<std::int64_t> extents(1 + pick(2));
    Partition partition;
    for (auto& extent : extents) {
      extent = kExtents[pick(4)];
      partition.push_back(std::int64_t{1} << pick(3));
    }
    return builder.input("X" + std::to_string(builder.graph.size()), extents, partition);
  }

  // A vertex over the given ones, with at most three labels. A dimension gets a new label if none of its extent exists,
  // or by chance.
  VertexId vertex(const std::vector<VertexId>& inputs) {
    Labels known;
    std::vector<GraphBuilder::Read> reads;
    for (const auto input : inputs) {
      GraphBuilder::Read read{input, {}};
      const auto extents = builder.graph.vertex(input).bound.extents();
      for (const auto extent : extents) read.labels.push_back(label(known, extent));
      reads.push_back(read);
    }
    std::shuffle(known.begin(), known.end(), random_);
    known.resize(std::min<std::size_t>(known.size(), pick(3)));
    return builder.contraction("V" + std::to_string(builder.graph.size()), reads, known);
  }

  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  GraphBuilder builder;

 private:
  static constexpr std::int64_t kExtents[] = {4, 6, 8, 16};

  Label label(Labels& known, std::int64_t extent) {
    const auto same = [&](Label l) { return builder.graph.labels().extent(l) == extent; };
    const auto found = std::find_if(known.begin(), known.end(), same);
    if (found != known.end() && (known.size() >= 3 || pick(2) == 0)) return *found;
    known.push_back(builder.label("l" + std::to_string(builder.graph.labels().size()), extent));
    return known.back();
  }

  std::mt19937 random_;
};

/// A tree in prefix form: 'x' is an input, '1' a unary vertex before its child, '2' a binary vertex before its
/// children.
inline std::vector<std::string> tree_shapes(std::size_t vertices) {
  if (vertices == 0) return {"x"};
  std::vector<std::string> out;
  for (const auto& child : tree_shapes(vertices - 1)) out.push_back("1" + child);
  for (std::size_t left = 0; left < vertices; ++left)
    for (const auto& a : tree_shapes(left))
      for (const auto& b : tree_shapes(vertices - 1 - left)) out.push_back("2" + a + b);
  return out;
}

inline VertexId build_tree(RandomGraph& random, const std::string& shape, std::size_t& at) {
  const char kind = shape[at++];
  if (kind == 'x') return random.input();
  std::vector<VertexId> children{build_tree(random, shape, at)};
  if (kind == '2') children.push_back(build_tree(random, shape, at));
  return random.vertex(children);
}

/// Three or more vertices, at most `most`, each over earlier vertices or inputs.
inline EinGraph random_dag(unsigned seed, std::size_t most = 6) {
  RandomGraph random(seed);
  std::vector<VertexId> all{random.input(), random.input()};
  const auto count = 3 + random.pick(most - 2);
  for (std::size_t n = 0; n < count; ++n) {
    std::vector<VertexId> inputs{all[random.pick(all.size())]};
    if (random.pick(4) > 0) inputs.push_back(all[random.pick(all.size())]);
    all.push_back(random.vertex(inputs));
  }
  return random.builder.graph;
}

}  // namespace eindb::testing
