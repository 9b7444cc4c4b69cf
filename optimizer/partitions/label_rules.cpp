#include "optimizer/partitions/label_rules.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/check.hpp"
#include "common/disjoint_sets.hpp"
#include "common/divisors.hpp"
#include "common/error.hpp"
#include "tensor/block_form.hpp"

namespace eindb {
namespace {

// The place of each name in a list. A statement may have as many labels as operands.
using PlacesOfNames = std::unordered_map<std::string_view, std::size_t>;

PlacesOfNames places_of(const std::vector<std::string>& names) {
  PlacesOfNames out;
  for (const auto& name : names) out.emplace(name, out.size());
  return out;
}

// Formats names as "b, s and a".
std::string enumeration(const std::set<std::string>& names) {
  std::string out;
  std::size_t n = 0;
  for (const auto& name : names) {
    const char* separator = n == 0 ? "" : n + 1 == names.size() ? " and " : ", ";
    out += separator + name;
    ++n;
  }
  return out;
}

void check_names(const EinGraph& graph, const std::vector<std::string>& names) {
  std::set<std::string> known;
  for (const auto& vertex : graph.vertices())
    if (!vertex.is_input())
      for (const auto label : vertex.einsum.labels()) known.insert(graph.labels().name(label));
  for (const auto& name : names) {
    if (known.contains(name)) continue;
    throw Error(ErrorKind::Label, "the strategy cuts label " + name + ", which the statement does not have",
                std::nullopt,
                known.empty() ? "use another strategy"
                              : "name a label in parentheses, as in SET strategy = 'data(" + *known.begin() +
                                    ")'; the labels are " + enumeration(known));
  }
}

// The labels of the EinSum in the order of cutting: named labels first, in the order of their names.
Labels in_order_of_cutting(const EinSum& einsum, const LabelTable& table, const PlacesOfNames& places) {
  const auto labels = einsum.labels();
  std::vector<std::pair<std::size_t, Label>> named;
  for (const auto label : labels)
    if (const auto place = places.find(table.name(label)); place != places.end())
      named.emplace_back(place->second, label);
  std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Labels order;
  for (const auto& [place, label] : named) append_distinct(order, {label});
  append_distinct(order, einsum.output);
  append_distinct(order, labels);
  return order;
}

// A label, and the most parts that it has once its turn is over.
struct LabelCut {
  Label label;
  std::int64_t most;
};

// Cuts labels in their order until there are p kernel calls. A label may come again, with more parts.
LabelPartition cut_in_order(const EinSum& einsum, const LabelTable& table, const std::vector<LabelCut>& order,
                            std::int64_t p) {
  LabelPartition out{einsum.labels(), {}};
  out.parts.assign(out.labels.size(), 1);
  for (const auto& [label, most] : order) {
    if (is_whole(einsum, label)) continue;
    const auto place =
        static_cast<std::size_t>(std::find(out.labels.begin(), out.labels.end(), label) - out.labels.begin());
    CHECK(place < out.parts.size(), "labels that are cut are those of the vertex");
    const auto parts = largest_divisor(p, std::min(most, table.extent(label)) / out.parts[place]);
    out.parts[place] *= parts;
    p /= parts;
  }
  return out;
}

std::vector<LabelCut> without_limit(const Labels& labels) {
  std::vector<LabelCut> out;
  for (const auto label : labels) out.push_back({label, std::numeric_limits<std::int64_t>::max()});
  return out;
}

// All labels of the vertex: those of its result, then those that it sums.
Labels results_labels_first(const EinSum& einsum) {
  auto order = einsum.output;
  append_distinct(order, einsum.labels());
  return order;
}

// For each label, the number of its component: of the representative label.
std::vector<std::size_t> component_numbers(const EinGraph& graph) {
  DisjointSets sets(graph.labels().size());
  for (const auto& vertex : graph.vertices()) {
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto& producer = graph.vertex(vertex.inputs[n]);
      if (producer.is_input()) continue;
      const auto& made = producer.einsum.output;
      const auto& read = vertex.einsum.inputs[n];
      CHECK(made.size() == read.size(), "a vertex reads a tensor with a label for each dimension");
      for (std::size_t d = 0; d < made.size(); ++d) sets.unite(made[d].index(), read[d].index());
    }
  }
  std::vector<std::size_t> numbers;
  for (std::size_t label = 0; label < graph.labels().size(); ++label) numbers.push_back(sets.find(label));
  return numbers;
}

// The stored operand of a product in which every label that both operands have is summed; kNoOperand if there is none.
// If both are stored, the second is the weight, since activations stand left.
constexpr std::size_t kNoOperand = 2;
std::size_t weight_operand(const EinGraph& graph, const Vertex& vertex) {
  const auto& einsum = vertex.einsum;
  if (vertex.inputs.size() != 2 || einsum.aggregate != Aggregate::Sum ||
      !einsum.expression->is_call(ScalarOp::Multiply))
    return kNoOperand;
  const auto is_stored = [&](std::size_t n) { return graph.vertex(vertex.inputs[n]).is_input(); };
  for (const auto label : einsum.inputs[0])
    if (contains(einsum.inputs[1], label) && contains(einsum.output, label)) return kNoOperand;
  if (is_stored(1)) return 1;
  return is_stored(0) ? 0 : kNoOperand;
}

}  // namespace

std::vector<LabelPartition> cut_named_labels(const EinGraph& graph, const std::vector<std::string>& names,
                                             std::int64_t p) {
  check_names(graph, names);
  const auto places = places_of(names);
  std::vector<LabelPartition> out;
  for (const auto& vertex : graph.vertices()) {
    auto& partition = out.emplace_back();
    if (vertex.is_input()) continue;
    const auto order = in_order_of_cutting(vertex.einsum, graph.labels(), places);
    partition = cut_in_order(vertex.einsum, graph.labels(), without_limit(order), p);
  }
  return out;
}

std::vector<LabelPartition> cut_first(const EinGraph& graph, const FirstCuts& first, std::int64_t p) {
  std::vector<LabelPartition> out;
  for (const auto& vertex : graph.vertices()) {
    auto& partition = out.emplace_back();
    if (vertex.is_input()) continue;
    const auto all = results_labels_first(vertex.einsum);
    std::vector<LabelCut> order;
    for (const auto label : all)
      if (first.at(label.index()) > 1) order.push_back({label, first[label.index()]});
    for (const auto& cut : without_limit(all)) order.push_back(cut);
    partition = cut_in_order(vertex.einsum, graph.labels(), order, p);
  }
  return out;
}

std::vector<LabelPartition> cut_differently(const EinGraph& graph, std::vector<LabelPartition> partitions,
                                            const Labels& labels, std::int64_t parts, std::int64_t p) {
  CHECK(partitions.size() == graph.size(), "every vertex has a vector before it gets another");
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto& vertex = graph.vertex(VertexId(v));
    if (vertex.is_input()) continue;
    const auto all = results_labels_first(vertex.einsum);
    std::vector<LabelCut> order;
    for (const auto label : all)
      if (contains(labels, label)) order.push_back({label, parts});
    if (order.empty()) continue;
    Labels others;
    for (const auto label : all)
      if (!contains(labels, label)) others.push_back(label);
    for (const auto label : others) order.push_back({label, partitions[v].of(label)});
    for (const auto& cut : without_limit(others)) order.push_back(cut);
    for (const auto& cut : without_limit(all)) order.push_back(cut);
    partitions[v] = cut_in_order(vertex.einsum, graph.labels(), order, p);
  }
  return partitions;
}

std::vector<Labels> components_of_labels(const EinGraph& graph) {
  const auto numbers = component_numbers(graph);
  struct Component {
    Labels labels;
    std::size_t uses = 0;  // by vertices
  };
  std::map<std::size_t, Component> found;
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    for (const auto label : vertex.einsum.labels()) {
      if (graph.labels().extent(label) <= 1 || is_whole(vertex.einsum, label)) continue;
      auto& component = found[numbers[label.index()]];
      append_distinct(component.labels, {label});
      ++component.uses;
    }
  }
  std::vector<Component> often;
  for (auto& [number, component] : found) often.push_back(std::move(component));
  std::stable_sort(often.begin(), often.end(), [](const auto& a, const auto& b) { return a.uses > b.uses; });
  std::vector<Labels> out;
  for (auto& component : often) out.push_back(std::move(component.labels));
  return out;
}

std::vector<FirstCuts> stored_cuts_of_labels(const EinGraph& graph, std::int64_t p) {
  const auto numbers = component_numbers(graph);
  std::vector<FirstCuts> out;
  std::set<FirstCuts> known;
  for (const auto& vertex : graph.vertices()) {
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      const auto& stored = graph.vertex(vertex.inputs[n]).stored;
      if (!stored) continue;
      FirstCuts of_components(numbers.size(), 1);
      const auto& read = vertex.einsum.inputs[n];
      for (std::size_t d = 0; d < read.size(); ++d) {
        auto& parts = of_components[numbers[read[d].index()]];
        parts = std::max(parts, largest_divisor(p, stored->grid.partition()[d]));
      }
      FirstCuts cuts;
      for (const auto number : numbers) cuts.push_back(of_components[number]);
      const bool is_cut = std::any_of(cuts.begin(), cuts.end(), [](std::int64_t parts) { return parts > 1; });
      if (is_cut && known.insert(cuts).second) out.push_back(std::move(cuts));
    }
  }
  return out;
}

std::vector<std::string> weight_labels(const EinGraph& graph) {
  std::vector<std::string> found;
  std::unordered_set<std::string_view> known;  // views of the names in the table
  for (const auto& vertex : graph.vertices()) {
    if (vertex.is_input()) continue;
    const auto weight = weight_operand(graph, vertex);
    const auto by_rows = std::any_of(vertex.einsum.aggregated.begin(), vertex.einsum.aggregated.end(),
                                     [&](Label l) { return known.contains(graph.labels().name(l)); });
    if (weight == kNoOperand || by_rows) continue;
    const auto columns = difference(vertex.einsum.inputs[weight], vertex.einsum.inputs[1 - weight]);
    if (columns.empty()) continue;
    const auto& name = graph.labels().name(columns.front());
    if (known.insert(name).second) found.push_back(name);
  }
  if (!found.empty()) return found;
  throw Error(ErrorKind::Label, "the strategy megatron finds no product with a stored weight to cut", std::nullopt,
              "name the labels to be cut, as in SET strategy = 'megatron(h, f)', or use another strategy");
}

}  // namespace eindb
