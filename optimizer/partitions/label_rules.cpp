#include "optimizer/partitions/label_rules.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/partitions/viable.hpp"
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

LabelPartition cut_in_order(const EinSum& einsum, const LabelTable& table, const Labels& order, std::int64_t p) {
  LabelPartition out{einsum.labels(), {}};
  out.parts.assign(out.labels.size(), 1);
  for (const auto label : order) {
    if (is_whole(einsum, label)) continue;
    const auto parts = std::min(p, floor_power_of_two(table.extent(label)));
    const auto place =
        static_cast<std::size_t>(std::find(out.labels.begin(), out.labels.end(), label) - out.labels.begin());
    CHECK(place < out.parts.size(), "labels that are cut are those of the vertex");
    out.parts[place] = parts;
    CHECK(p % parts == 0, "kernel calls that are wanted are a multiple of those that a label gives");
    p /= parts;
  }
  return out;
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
    partition = cut_in_order(vertex.einsum, graph.labels(), order, p);
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
