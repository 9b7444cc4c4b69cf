#include "plan/cell_product.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostFactors = 16;

class Products {
 public:
  Products(const EinGraph& graph, const ComputedProducts& computed)
      : graph_(graph), computed_(computed), next_(graph.labels().size()) {}

  std::optional<CellProduct> of(VertexId id) {
    const auto& vertex = graph_.vertex(id);
    if (vertex.is_input()) return of_input(*vertex.stored);
    const auto& einsum = vertex.einsum;
    const bool sums = einsum.aggregate == Aggregate::Sum || einsum.aggregate == Aggregate::None;
    if (!sums || einsum.epilogue != nullptr || einsum.block) return std::nullopt;
    if (std::set<Label>(einsum.output.begin(), einsum.output.end()).size() < einsum.output.size()) return std::nullopt;
    CellProduct out;
    std::vector<std::vector<std::size_t>> factors;
    add_factors(*einsum.expression, factors);
    for (const auto& operands : factors) {
      if (operands.empty()) continue;
      if (operands.size() != 1) return std::nullopt;
      auto part = of(vertex.inputs[operands.front()]);
      if (!part) return std::nullopt;
      take_in(*std::move(part), einsum.inputs[operands.front()], out);
      if (out.factors.size() > kMostFactors) return std::nullopt;
    }
    for (const auto label : einsum.output) out.kept.push_back(label.index());
    return out;
  }

 private:
  // The operands of each factor.
  static void add_factors(const ScalarExpression& e, std::vector<std::vector<std::size_t>>& factors) {
    if (!e.is_call(ScalarOp::Multiply) && !e.is_call(ScalarOp::Divide)) return factors.push_back(operands_of(e));
    for (const auto& argument : e.arguments()) add_factors(*argument, factors);
  }

  std::optional<CellProduct> of_input(const InputTensor& tensor) {
    if (tensor.is_computed) {
      const auto known = computed_.find(tensor.name);
      return known == computed_.end() ? std::nullopt : std::optional(known->second);
    }
    CellProduct out;
    for (std::size_t d = 0; d < tensor.grid.rank(); ++d) out.kept.push_back(d);
    out.factors.push_back({tensor.name + (tensor.selection ? tensor.selection->to_string() : ""), out.kept});
    return out;
  }

  // The part's kept labels are those that read it; its others get numbers of their own.
  void take_in(CellProduct part, const Labels& labels, CellProduct& out) {
    CHECK(part.kept.size() == labels.size(), "an operand is read with a label for each dimension");
    std::map<std::size_t, std::size_t> now;
    for (std::size_t d = 0; d < labels.size(); ++d) now.emplace(part.kept[d], labels[d].index());
    for (auto& factor : part.factors) {
      for (auto& label : factor.labels) {
        const auto [known, is_new] = now.try_emplace(label, next_);
        if (is_new) ++next_;
        label = known->second;
      }
      out.factors.push_back(std::move(factor));
    }
  }

  const EinGraph& graph_;
  const ComputedProducts& computed_;
  std::size_t next_;
};

}  // namespace

std::optional<CellProduct> product_of(const EinGraph& graph, VertexId id, const ComputedProducts& computed) {
  return Products(graph, computed).of(id);
}

ProductKey key_of(CellProduct product) {
  std::stable_sort(product.factors.begin(), product.factors.end(),
                   [](const auto& a, const auto& b) { return a.tensor < b.tensor; });
  std::map<std::size_t, std::size_t> number;
  ProductKey key;
  const auto append = [&](std::size_t label) {
    const auto [known, is_new] = number.try_emplace(label, number.size());
    key.text += std::to_string(known->second) + ",";
    if (is_new && std::find(product.kept.begin(), product.kept.end(), label) != product.kept.end())
      key.kept.push_back(label);
  };
  for (const auto& factor : product.factors) {
    key.text += std::to_string(factor.tensor.size()) + ":" + factor.tensor + "[";
    for (const auto label : factor.labels) append(label);
    key.text += "]";
  }
  key.text += "->";
  for (const auto label : key.kept) append(label);
  return key;
}

namespace {

// Entry n is that of the dimension with label to[n]; empty if one is missing.
CellSpread in_order(const CellSpread& spread, const std::vector<std::size_t>& from,
                    const std::vector<std::size_t>& to) {
  CellSpread out;
  for (const auto label : to) {
    const auto place = std::find(from.begin(), from.end(), label) - from.begin();
    if (std::cmp_greater_equal(place, spread.size())) return {};
    out.push_back(spread[static_cast<std::size_t>(place)]);
  }
  return out;
}

}  // namespace

std::optional<CellEstimate> observed_of(const ObservedCells& observed, const CellProduct& product) {
  if (observed.empty()) return std::nullopt;
  const auto key = key_of(product);
  const auto* found = key.kept.size() == product.kept.size() ? observed.find(key.text) : nullptr;
  if (found == nullptr) return std::nullopt;
  return CellEstimate{found->cells, in_order(found->spread, key.kept, product.kept)};
}

void observe(ObservedCells& observed, const CellProduct& product, const CellEstimate& cells) {
  const auto key = key_of(product);
  if (key.kept.size() != product.kept.size()) return;  // a dimension that no factor has
  // Values that change from run to run are not worth a plan each.
  constexpr std::uint64_t kMostChanges = 32;
  if (observed.version() >= kMostChanges) return;
  observed.put(key.text, {cells.cells, in_order(cells.spread, product.kept, key.kept)});
}

}  // namespace eindb
