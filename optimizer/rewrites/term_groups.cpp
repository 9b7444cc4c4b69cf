#include "optimizer/rewrites/term_groups.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

double cells_of_labels(const LabelTable& table, const Labels& labels) {
  double cells = 1;
  for (const auto label : labels) cells *= static_cast<double>(table.extent(label));
  return cells;
}

Labels common(const Labels& labels, const Labels& aggregated) {
  return difference(labels, difference(labels, aggregated));
}

void add_term(TermGroup& group, std::size_t term, const Labels& labels, const Labels& aggregated) {
  group.terms.push_back(term);
  append_distinct(group.labels, labels);
  group.own = common(group.labels, aggregated);
  group.head = difference(group.labels, aggregated);
}

}  // namespace

std::optional<std::vector<TermGroup>> group_terms(const VertexSplitter& splitter, const std::vector<ScalarPtr>& terms,
                                                  GroupBy by) {
  const auto& aggregated = splitter.vertex().einsum.aggregated;
  std::vector<TermGroup> groups;
  // By operands, or by aggregated labels, sorted.
  std::map<std::pair<std::vector<std::size_t>, Labels>, std::size_t> group_of;
  std::vector<std::size_t> without_operand;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (operands_of(*terms[t]).empty()) {
      without_operand.push_back(t);
      continue;
    }
    const auto labels = splitter.labels_of(*terms[t]);
    auto own = common(labels, aggregated);
    std::sort(own.begin(), own.end());
    if (by == GroupBy::Operands) own.clear();
    auto operands = by == GroupBy::Operands ? operands_of(*terms[t]) : std::vector<std::size_t>{};
    const auto [known, is_new] = group_of.try_emplace({std::move(operands), std::move(own)}, groups.size());
    if (is_new) groups.emplace_back();
    add_term(groups[known->second], t, labels, aggregated);
  }
  for (const auto t : without_operand) {
    const auto labels = splitter.labels_of(*terms[t]);
    const auto own = common(labels, aggregated);
    const auto has_all = [&](const TermGroup& group) { return difference(own, group.own).empty(); };
    const auto group = std::find_if(groups.begin(), groups.end(), has_all);
    if (group == groups.end()) return std::nullopt;
    add_term(*group, t, labels, aggregated);
  }
  for (auto& group : groups) std::sort(group.terms.begin(), group.terms.end());
  if (groups.empty()) return std::nullopt;
  DCHECK(std::accumulate(groups.begin(), groups.end(), std::size_t{0},
                         [](std::size_t sum, const auto& group) { return sum + group.terms.size(); }) == terms.size(),
         "every term is in one group");
  return groups;
}

double cells_of_join(const VertexSplitter& splitter) {
  return cells_of_labels(splitter.labels(), splitter.vertex().einsum.labels());
}

double cells_of(const VertexSplitter& splitter, const std::vector<TermGroup>& groups) {
  double cells = 0;
  for (const auto& group : groups) cells += cells_of_labels(splitter.labels(), group.labels);
  return cells;
}

bool aggregates_nothing(const VertexSplitter& splitter) {
  const auto& aggregated = splitter.vertex().einsum.aggregated;
  return std::any_of(aggregated.begin(), aggregated.end(),
                     [&](Label label) { return splitter.labels().extent(label) == 0; });
}

std::optional<std::int64_t> multiplicity(const VertexSplitter& splitter, const TermGroup& group) {
  std::int64_t count = 1;
  for (const auto label : difference(splitter.vertex().einsum.aggregated, group.own)) {
    const auto extent = splitter.labels().extent(label);
    if (extent > 0 && count > std::numeric_limits<std::int64_t>::max() / extent) return std::nullopt;
    count *= extent;
  }
  return count;
}

}  // namespace eindb
