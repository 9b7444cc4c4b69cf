#include "optimizer/eindecomp.hpp"

#include <algorithm>

#include "optimizer/decomposition_table.hpp"

namespace eindb {
namespace {

constexpr auto kNone = DecompositionTable::kNone;

// The longest chain of readers among vertices that are not done, in the order of computation; empty if all are done.
std::vector<std::size_t> longest_path(const EinGraph& graph, const std::vector<bool>& done) {
  std::vector<std::size_t> length(graph.size(), 0);
  std::vector<std::size_t> before(graph.size(), kNone);
  std::size_t last = kNone;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (done[v]) continue;
    length[v] = 1;
    for (const auto input : graph.vertex(VertexId(v)).inputs) {
      const auto u = input.index();
      if (done[u] || length[u] + 1 <= length[v]) continue;
      length[v] = length[u] + 1;
      before[v] = u;
    }
    if (last == kNone || length[v] >= length[last]) last = v;
  }
  std::vector<std::size_t> path;
  for (auto v = last; v != kNone; v = before[v]) path.push_back(v);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<bool> inputs_of_computation(const EinGraph& graph) {
  std::vector<bool> out;
  for (const auto& vertex : graph.vertices()) out.push_back(vertex.is_input());
  return out;
}

// Labels `members` (in the order of computation), counting the edges to successors alone.
void label_members(const EinGraph& graph, const DecompositionOptions& options, const std::vector<std::size_t>& members,
                   const std::vector<std::size_t>& successor, std::vector<LabelPartition>& partitions) {
  DecompositionTable table(graph, options, successor);
  for (const auto v : members) table.add(v);
  for (const auto v : members)
    if (successor[v] == kNone) table.label(v, partitions);
}

std::vector<std::size_t> only_readers(const EinGraph& graph) {
  std::vector<std::size_t> successor(graph.size(), kNone);
  for (std::size_t v = 0; v < graph.size(); ++v)
    for (const auto input : graph.vertex(VertexId(v)).inputs) successor[input.index()] = v;
  return successor;
}

void label_tree(const EinGraph& graph, const DecompositionOptions& options, std::vector<LabelPartition>& partitions) {
  std::vector<std::size_t> members;
  for (std::size_t v = 0; v < graph.size(); ++v)
    if (!graph.vertex(VertexId(v)).is_input()) members.push_back(v);
  label_members(graph, options, members, only_readers(graph), partitions);
}

void label_path(const EinGraph& graph, const DecompositionOptions& options, const std::vector<std::size_t>& path,
                std::vector<std::size_t>& successor, std::vector<LabelPartition>& partitions) {
  for (std::size_t n = 0; n + 1 < path.size(); ++n) successor[path[n]] = path[n + 1];
  label_members(graph, options, path, successor, partitions);
}

}  // namespace

bool is_tree(const EinGraph& graph) {
  std::vector<bool> read(graph.size(), false);
  for (const auto& vertex : graph.vertices()) {
    for (const auto input : vertex.inputs) {
      if (graph.vertex(input).is_input()) continue;
      if (read[input.index()]) return false;
      read[input.index()] = true;
    }
  }
  return true;
}

std::vector<std::vector<std::size_t>> linearise(const EinGraph& graph) {
  auto done = inputs_of_computation(graph);
  std::vector<std::vector<std::size_t>> paths;
  for (auto path = longest_path(graph, done); !path.empty(); path = longest_path(graph, done)) {
    for (const auto v : path) done[v] = true;
    paths.push_back(std::move(path));
  }
  return paths;
}

Labelling decompose(const EinGraph& graph, const DecompositionOptions& options) {
  std::vector<LabelPartition> partitions(graph.size());
  if (is_tree(graph)) {
    label_tree(graph, options, partitions);
  } else {
    std::vector<std::size_t> successor(graph.size(), kNone);
    for (const auto& path : linearise(graph)) label_path(graph, options, path, successor, partitions);
  }
  return evaluate(graph, std::move(partitions), options);
}

}  // namespace eindb
