#include "optimizer/rewrites/early_summation.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "common/disjoint_sets.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/separable_extreme.hpp"
#include "optimizer/rewrites/separable_sum.hpp"
#include "optimizer/rewrites/truth_product.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {
namespace {

struct FactorGroup {
  std::vector<std::size_t> factors;  // ascending
  Labels labels;
  bool has_operand = false;
};

// Merges each factor of label values with the set of factors that has any of its labels, if there is exactly one.
void attach_label_values(const std::vector<Factor>& factors, const VertexSplitter& splitter, DisjointSets& sets) {
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

std::vector<FactorGroup> group_factors(const std::vector<Factor>& factors, const VertexSplitter& splitter) {
  DisjointSets sets(factors.size());
  std::unordered_map<std::size_t, std::size_t> first_reader;
  for (std::size_t f = 0; f < factors.size(); ++f)
    for (const auto operand : operands_of(*factors[f].expression))
      sets.unite(first_reader.try_emplace(operand, f).first->second, f);
  attach_label_values(factors, splitter, sets);

  std::vector<FactorGroup> groups;
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

// Whether there is a join: more than one group that is no constant.
bool joins(const std::vector<FactorGroup>& groups) {
  std::size_t count = 0;
  for (const auto& group : groups) count += group.has_operand || !group.labels.empty() ? 1 : 0;
  return count > 1;
}

std::vector<Factor> factors_in(const FactorGroup& group, const std::vector<Factor>& factors) {
  std::vector<Factor> out;
  for (const auto f : group.factors) out.push_back(factors[f]);
  return out;
}

// The aggregated labels that exactly one group has and can sum. Label values alone make no vertex.
std::unordered_set<Label> local_labels(const std::vector<FactorGroup>& groups, const Labels& aggregated) {
  std::unordered_map<Label, std::size_t> occurrences;
  for (const auto& group : groups)
    for (const auto label : group.labels) occurrences[label] += group.has_operand ? 1 : 2;
  std::unordered_set<Label> out;
  for (const auto label : aggregated)
    if (occurrences[label] == 1) out.insert(label);
  return out;
}

VertexId aggregate_groups(VertexSplitter& splitter, const JoinedFactors& joint, const std::vector<FactorGroup>& groups,
                          const std::unordered_set<Label>& local) {
  const auto& join = joint.semiring->join;
  std::vector<Factor> kept;
  for (const auto& group : groups) {
    Labels own;
    Labels others;
    for (const auto label : group.labels) (local.contains(label) ? own : others).push_back(label);
    const auto inside = factors_in(group, joint.factors);
    if (own.empty()) kept.insert(kept.end(), inside.begin(), inside.end());
    else kept.push_back({splitter.add_part(joined(inside, join), others, own, joint.semiring->aggregate), false});
  }
  Labels left;
  for (const auto label : splitter.vertex().einsum.aggregated)
    if (!local.contains(label)) left.push_back(label);
  const auto rest = joined(kept, join);
  // Equal values aggregate to themselves, so that a label that nothing has any more can go.
  if (joint.semiring->idempotent) left = difference(left, difference(left, splitter.labels_of(*rest)));
  return splitter.finish(rest, left);
}

// SUM of a product, MAX of a sum, and the other pairs of tensor/algebra.
std::optional<VertexId> aggregate_factors_apart(VertexSplitter& splitter, const std::optional<JoinedFactors>& joint) {
  if (!joint) return std::nullopt;
  const auto groups = group_factors(joint->factors, splitter);
  const auto local = local_labels(groups, splitter.vertex().einsum.aggregated);
  if (local.empty() || !joins(groups)) return std::nullopt;
  return aggregate_groups(splitter, *joint, groups, local);
}

// The number of cells that a vertex aggregates per cell of its head, if its compute type holds all smaller ones
// exactly.
std::optional<std::int64_t> exact_count(const VertexSplitter& splitter) {
  constexpr double kExact = 0x1p53;
  double cells = 1;
  for (const auto label : splitter.vertex().einsum.aggregated)
    cells *= static_cast<double>(splitter.labels().extent(label));
  const auto real = real_of(splitter.vertex().compute_dtype);
  if (cells >= kExact || (real != DType::Float64 && real != DType::Int64)) return std::nullopt;
  return static_cast<std::int64_t>(cells);
}

// The number of cells where a OR b holds is that of all cells minus those with neither.
std::optional<VertexId> count_apart(VertexSplitter& splitter) {
  const auto& einsum = splitter.vertex().einsum;
  const auto truth = counted_truth(einsum.expression);
  if (!gives_boolean(*truth)) return std::nullopt;
  const auto neither = numerators(splitter, truth_factors(truth, false));
  const auto count = exact_count(splitter);
  if (neither.size() < 2 || !count) return std::nullopt;
  const auto groups = group_factors(neither, splitter);
  if (!joins(groups) || local_labels(groups, einsum.aggregated).empty()) return std::nullopt;
  const auto part =
      splitter.add_part(joined(neither), difference(splitter.labels_of(*einsum.expression), einsum.aggregated),
                        einsum.aggregated, Aggregate::Sum);
  return splitter.finish(ScalarExpression::call(ScalarOp::Subtract, {ScalarExpression::integer(*count), part}), {});
}

std::optional<VertexId> take_apart(VertexSplitter& splitter) {
  if (splitter.vertex().einsum.aggregate == Aggregate::None) return std::nullopt;
  if (const auto apart = aggregate_factors_apart(splitter, joined_factors(splitter))) return apart;
  switch (splitter.vertex().einsum.aggregate) {
    case Aggregate::Sum: {
      if (const auto apart = sum_terms_apart(splitter)) return apart;
      return count_apart(splitter);
    }
    case Aggregate::Prod: {
      if (const auto apart = take_powers_last(splitter)) return apart;
      return multiply_factors_apart(splitter);
    }
    case Aggregate::Min:
    case Aggregate::Max: return take_extremes_apart(splitter);
    case Aggregate::LogSumExp:
    case Aggregate::Block:
    case Aggregate::User:
    case Aggregate::FirstLeast:
    case Aggregate::FirstGreatest:
    case Aggregate::None: break;
  }
  return std::nullopt;
}

}  // namespace

EinGraph sum_early(const EinGraph& graph) {
  VertexNames names(graph);
  EinGraph result = graph;
  // Parts may be taken apart again; this ends, as each has fewer operations than its origin.
  for (bool changed = true; changed;) {
    changed = false;
    result = rewrite_each(result, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
      if (vertex.is_input() || vertex.inputs.empty() || vertex.einsum.epilogue != nullptr) return std::nullopt;
      VertexSplitter splitter(out, names, vertex);
      const auto apart = take_apart(splitter);
      changed = changed || apart.has_value();
      return apart;
    });
  }
  return result;
}

}  // namespace eindb
