#include "optimizer/early_summation.hpp"

#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "optimizer/product.hpp"
#include "optimizer/vertex_splitter.hpp"

namespace eindb {
namespace {

struct Group {
  std::vector<std::size_t> factors;  // ascending
  Labels labels;
  bool has_operand = false;
};

// Disjoint sets of factor numbers.
class FactorSets {
 public:
  explicit FactorSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  void unite(std::size_t a, std::size_t b) { parent_[find(b)] = find(a); }

 private:
  std::vector<std::size_t> parent_;
};

// Joins each factor of label values to the one set of factors with operands that has any of its labels, if it is one.
void attach_label_values(const std::vector<Factor>& factors, const VertexSplitter& splitter, FactorSets& sets) {
  std::unordered_map<Label, std::unordered_set<std::size_t>> holders;
  std::vector<std::size_t> without_operand;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (operands_of(*factors[f].expression).empty()) without_operand.push_back(f);
    else
      for (const auto label : splitter.labels_of(*factors[f].expression)) holders[label].insert(sets.find(f));
  }
  for (const auto f : without_operand) {
    std::unordered_set<std::size_t> candidates;
    for (const auto label : splitter.labels_of(*factors[f].expression))
      candidates.insert(holders[label].begin(), holders[label].end());
    if (candidates.size() == 1) sets.unite(*candidates.begin(), f);
  }
}

std::vector<Group> group_factors(const std::vector<Factor>& factors, const VertexSplitter& splitter) {
  FactorSets sets(factors.size());
  std::unordered_map<std::size_t, std::size_t> first_reader;
  for (std::size_t f = 0; f < factors.size(); ++f)
    for (const auto operand : operands_of(*factors[f].expression))
      sets.unite(first_reader.try_emplace(operand, f).first->second, f);
  attach_label_values(factors, splitter, sets);

  std::vector<Group> groups;
  std::unordered_map<std::size_t, std::size_t> group_of;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const auto [entry, is_new] = group_of.try_emplace(sets.find(f), groups.size());
    if (is_new) groups.emplace_back();
    auto& group = groups[entry->second];
    group.factors.push_back(f);
    append_distinct(group.labels, splitter.labels_of(*factors[f].expression));
    group.has_operand = group.has_operand || !operands_of(*factors[f].expression).empty();
  }
  return groups;
}

// Whether there is a join at all: more than one group that is not a mere constant.
bool joins(const std::vector<Group>& groups) {
  std::size_t count = 0;
  for (const auto& group : groups) count += group.has_operand || !group.labels.empty() ? 1 : 0;
  return count > 1;
}

std::vector<Factor> factors_in(const Group& group, const std::vector<Factor>& factors) {
  std::vector<Factor> out;
  for (const auto f : group.factors) out.push_back(factors[f]);
  return out;
}

// The aggregated labels that only one group has, and that group can sum: label values alone make no vertex.
std::unordered_set<Label> local_labels(const std::vector<Group>& groups, const Labels& aggregated) {
  std::unordered_map<Label, std::size_t> occurrences;
  for (const auto& group : groups)
    for (const auto label : group.labels) occurrences[label] += group.has_operand ? 1 : 2;
  std::unordered_set<Label> out;
  for (const auto label : aggregated)
    if (occurrences[label] == 1) out.insert(label);
  return out;
}

VertexId sum_groups(VertexSplitter splitter, const std::vector<Factor>& factors, const std::vector<Group>& groups,
                    const std::unordered_set<Label>& local) {
  std::vector<Factor> kept;
  for (const auto& group : groups) {
    Labels own;
    Labels others;
    for (const auto label : group.labels) (local.contains(label) ? own : others).push_back(label);
    const auto inside = factors_in(group, factors);
    if (own.empty()) kept.insert(kept.end(), inside.begin(), inside.end());
    else kept.push_back({splitter.add_part(product_of(inside), others, own), false});
  }
  Labels left;
  for (const auto label : splitter.vertex().einsum.aggregated)
    if (!local.contains(label)) left.push_back(label);
  return splitter.finish(product_of(kept), left);
}

}  // namespace

EinGraph sum_early(const EinGraph& graph) {
  VertexNames names(graph);
  return rewrite_each(graph, [&](EinGraph& out, Vertex vertex) {
    if (vertex.is_input() || vertex.einsum.aggregate != Aggregate::Sum) return out.add(std::move(vertex));
    VertexSplitter splitter(out, names, vertex);
    const auto factors = factors_of(vertex.einsum.expression);
    const auto groups = group_factors(factors, splitter);
    const auto local = local_labels(groups, vertex.einsum.aggregated);
    if (local.empty() || !joins(groups)) return out.add(std::move(vertex));
    return sum_groups(std::move(splitter), factors, groups, local);
  });
}

}  // namespace eindb
