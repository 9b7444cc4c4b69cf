#include "optimizer/partitions/strategy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "common/check.hpp"
#include "common/divisors.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "optimizer/partitions/eindecomp.hpp"
#include "optimizer/partitions/label_rules.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

using Names = std::vector<std::string>;

// Cuts each label of each vertex into parts_of(label, indices of a slice) parts within a slice.
template <class F>
std::vector<LabelPartition> cut_each_label(const EinGraph& graph, F&& parts_of) {
  std::vector<LabelPartition> partitions;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    auto& partition = partitions.emplace_back();
    if (vertex.is_input()) continue;
    partition.labels = vertex.einsum.labels();
    const auto slices = graph.slices_of(VertexId(v));
    const auto extents = cuttable_extents(vertex.einsum, vertex.compute_dtype, graph.labels());
    for (std::size_t n = 0; n < slices.size(); ++n) {
      CHECK(slices[n] > 0 && slices[n] <= std::max<std::int64_t>(1, extents[n]),
            "slices of a label have an index at least");
      partition.parts.push_back(slices[n] * parts_of(partition.labels[n], extents[n] / slices[n]));
    }
  }
  return partitions;
}

std::vector<LabelPartition> choose_sqrt(const EinGraph& graph, const Names&, const DecompositionOptions& options) {
  std::int64_t root = 1;
  for (const auto parts : divisors(options.parallelism))
    if (parts <= options.parallelism / parts) root = parts;
  return cut_each_label(graph, [&](Label, std::int64_t extent) { return largest_divisor(root, extent); });
}

std::vector<LabelPartition> choose_eindecomp(const EinGraph& graph, const Names&, const DecompositionOptions& options) {
  return decomposed_partitions(graph, options);
}

std::vector<LabelPartition> choose_linearised(const EinGraph& graph, const Names&,
                                              const DecompositionOptions& options) {
  std::vector<LabelPartition> partitions;
  for (auto& vertex : decompose_linearised(graph, options).vertices) partitions.push_back(std::move(vertex.partition));
  return partitions;
}

std::vector<LabelPartition> choose_named(const EinGraph& graph, const Names& names,
                                         const DecompositionOptions& options) {
  return cut_named_labels(graph, names, options.parallelism);
}

std::vector<LabelPartition> choose_megatron(const EinGraph& graph, const Names& names,
                                            const DecompositionOptions& options) {
  return cut_named_labels(graph, names.empty() ? weight_labels(graph) : names, options.parallelism);
}

// A label and its number of parts: "i 4".
struct GivenCut {
  std::string label;
  std::int64_t parts = 1;
};

// nullopt if the text has another form.
std::optional<GivenCut> cut_of(const std::string& text) {
  const auto blank = text.find_last_of(" \t\n");
  if (blank == std::string::npos) return std::nullopt;
  GivenCut cut{text.substr(0, text.find_last_not_of(" \t\n", blank) + 1), 0};
  const auto* const begin = text.data() + blank + 1;
  const auto* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(begin, end, cut.parts);
  if (error != std::errc() || last != end || cut.parts < 1 || cut.label.find_first_of(" \t\n") != std::string::npos)
    return std::nullopt;
  return cut;
}

void check_cut(const GivenCut& cut, const EinGraph& graph) {
  const auto& labels = graph.labels();
  bool occurs = false;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    for (const auto label : vertex.einsum.labels()) {
      if (labels.name(label) != cut.label) continue;
      occurs = true;
      if (labels.extent(label) >= cut.parts) continue;
      throw Error(ErrorKind::Label, "label " + cut.label + " has " + std::to_string(labels.extent(label)) +
                                        " indices, which are not cut into " + std::to_string(cut.parts) + " parts");
    }
  }
  if (!occurs)
    throw Error(ErrorKind::Label,
                "the partition that is given cuts label " + cut.label + ", which the statement does not have");
}

// Labels that no call may have a part of stay whole.
std::vector<LabelPartition> choose_given(const EinGraph& graph, const Names& names, const DecompositionOptions&) {
  std::vector<GivenCut> cuts;
  for (const auto& name : names) {
    const auto cut = cut_of(name);
    CHECK(cut.has_value(), "a partition that is given was read before");
    check_cut(*cut, graph);
    cuts.push_back(*cut);
  }
  return cut_each_label(graph, [&](Label label, std::int64_t extent) {
    const auto& name = graph.labels().name(label);
    const auto cut = std::find_if(cuts.begin(), cuts.end(), [&](const auto& given) { return given.label == name; });
    return std::clamp<std::int64_t>(extent, 1, cut == cuts.end() ? 1 : cut->parts);
  });
}

// The properties of a strategy: one row per kind.
struct StrategyRow {
  Strategy::Kind kind;
  std::string_view name;
  std::string_view own_label;  // the default label; empty: the strategy finds its labels, or has none
  std::size_t most_labels;
  std::vector<LabelPartition> (*choose)(const EinGraph&, const Names&, const DecompositionOptions&);
};

constexpr std::array kStrategies = std::to_array<StrategyRow>({
    {Strategy::Kind::EinDecomp, "eindecomp", "", 0, choose_eindecomp},
    {Strategy::Kind::Linearised, "linearised", "", 0, choose_linearised},
    {Strategy::Kind::Sqrt, "sqrt", "", 0, choose_sqrt},
    {Strategy::Kind::Data, "data", "b", 1, choose_named},
    {Strategy::Kind::Sequence, "sequence", "s", 1, choose_named},
    {Strategy::Kind::Attention, "attention", "h", 1, choose_named},
    {Strategy::Kind::Megatron, "megatron", "", 16, choose_megatron},
    {Strategy::Kind::Partition, "partition", "", 64, choose_given},
});

const StrategyRow& row_of(Strategy::Kind kind) {
  const auto row = std::find_if(kStrategies.begin(), kStrategies.end(), [&](const auto& r) { return r.kind == kind; });
  CHECK(row != kStrategies.end(), "every kind of strategy has a row");
  return *row;
}

const StrategyRow& row_named(const std::string& name) {
  std::string known;
  for (const auto& row : kStrategies) {
    if (equal_ignoring_case(row.name, name)) return row;
    known += (known.empty() ? "'" : ", '") + std::string(row.name) + "'";
  }
  throw Error(ErrorKind::Value, "there is no strategy '" + name + "'", std::nullopt, "use one of " + known);
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// Splits a list of labels: "h, f" gives "h" and "f". nullopt if a label is empty.
std::optional<Names> split(std::string_view list) {
  Names names;
  for (;;) {
    const auto comma = list.find(',');
    names.push_back(trimmed(list.substr(0, comma)));
    if (names.back().empty()) return std::nullopt;
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

// The common vector of a chain is chosen after the vertices' vectors, which may then no longer be the cheapest; a rule
// that cuts the chain's rows to begin with may cost less. Sqrt is no candidate, since it makes another number of calls.
Labelling cheapest_beside_rules(const EinGraph& graph, Labelling best, const DecompositionOptions& options) {
  for (const auto& rule : rules_of_labels(graph)) {
    try {
      auto by_rule = label(graph, rule, options);
      if (by_rule.total_cost < best.total_cost) best = std::move(by_rule);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Label) throw;  // the rule does not apply to this graph
    }
  }
  return best;
}

}  // namespace

std::string Strategy::to_string() const {
  std::string list;
  for (const auto& label : labels) list += (list.empty() ? "(" : ", ") + label;
  return std::string(row_of(kind).name) + (list.empty() ? "" : list + ")");
}

Strategy parse_strategy(std::string_view text) {
  const auto open = text.find('(');
  const auto& row = row_named(trimmed(text.substr(0, open)));
  const bool gives_parts = row.kind == Strategy::Kind::Partition;
  if (open == std::string_view::npos && !gives_parts) return {row.kind, {}};
  const auto close = text.find_last_not_of(" \t\n");
  const auto names = text[close] == ')' ? split(text.substr(open + 1, close - open - 1)) : std::nullopt;
  const auto is_cut = [](const std::string& name) { return cut_of(name).has_value(); };
  if (names && names->size() <= row.most_labels && (!gives_parts || std::all_of(names->begin(), names->end(), is_cut)))
    return {row.kind, *names};
  const std::string name(row.name);
  if (gives_parts)
    throw Error(ErrorKind::Value, "the strategy '" + std::string(text) + "' cannot be read", std::nullopt,
                "write partition(i 4, j 2), each label with its number of parts");
  throw Error(ErrorKind::Value, "the strategy '" + std::string(text) + "' cannot be read", std::nullopt,
              row.most_labels == 0   ? name + " takes no labels"
              : row.most_labels == 1 ? "write " + name + "(label), with the label that is to be cut"
                                     : "write " + name + "(label, label), with the labels that are to be cut");
}

std::vector<Strategy> rules_of_labels(const EinGraph& graph) {
  constexpr std::size_t kMostRules = 12;
  std::map<Label, std::size_t> uses;  // by vertices
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    for (const auto label : vertex.einsum.labels())
      if (graph.labels().extent(label) > 1 && !is_whole(vertex.einsum, label)) ++uses[label];
  }
  std::vector<std::pair<Label, std::size_t>> often(uses.begin(), uses.end());
  std::stable_sort(often.begin(), often.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  if (often.size() > kMostRules) often.resize(kMostRules);
  std::vector<Strategy> rules;
  for (const auto& [label, count] : often)
    rules.push_back({Strategy::Kind::Data, {std::string(graph.labels().name(label))}});
  rules.push_back({Strategy::Kind::Megatron, {}});
  return rules;
}

std::vector<Strategy> all_strategies() {
  std::vector<Strategy> out;
  for (const auto& row : kStrategies)
    if (row.kind != Strategy::Kind::Partition) out.push_back({row.kind, {}});
  return out;
}

std::vector<LabelPartition> partitions_by(const EinGraph& graph, const Strategy& strategy,
                                          const DecompositionOptions& options) {
  if (options.parallelism < 1) {
    throw Error(ErrorKind::Value, "parallelism is " + std::to_string(options.parallelism), std::nullopt,
                "use a number from 1");
  }
  const auto& row = row_of(strategy.kind);
  auto names = strategy.labels;
  if (names.empty() && !row.own_label.empty()) names.emplace_back(row.own_label);
  auto partitions = row.choose(graph, names, options);
  // Chains get no other cuts than those that are given.
  if (strategy.kind == Strategy::Kind::Partition)
    return fitted_to_slices(graph, fitted_to_cells(graph, std::move(partitions)));
  return fitted(graph, std::move(partitions), options);
}

Labelling label(const EinGraph& graph, const Strategy& strategy, const DecompositionOptions& options) {
  if (options.shapes == nullptr) {
    const GraphShapes shapes(graph);
    auto with_shapes = options;
    with_shapes.shapes = &shapes;
    return label(graph, strategy, with_shapes);
  }
  auto labelling = evaluate(graph, partitions_by(graph, strategy, options), options);
  if (strategy.kind != Strategy::Kind::EinDecomp || graph.chains().empty()) return labelling;
  if (options.parallelism == 1) return labelling;  // all rules cut nothing
  return cheapest_beside_rules(graph, std::move(labelling), options);
}

}  // namespace eindb
