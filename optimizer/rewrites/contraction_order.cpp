#include "optimizer/rewrites/contraction_order.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "optimizer/paths/cell_path.hpp"
#include "optimizer/paths/contraction_path.hpp"
#include "optimizer/rewrites/expression_split.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "plan/cell_product.hpp"
#include "tensor/cell_form.hpp"

namespace eindb {
namespace {

// Tensors with a larger share of cells are read as dense ones (optimizer/cell_choice).
constexpr double kMostDenseLeaf = 0.5;

// A unit that the path joins: factors over at most two operands, treated as one; after settle() over at most one
// operand.
struct Leaf {
  std::vector<Factor> factors;
  Labels labels;
  std::size_t place = 0;  // of its first factor in the statement, to keep that order

  Factor factor(const JoinFunction& join) const {
    if (!std::all_of(factors.begin(), factors.end(), [](const Factor& f) { return f.inverted; }))
      return {joined(factors, join), false};
    auto denominators = factors;
    for (auto& denominator : denominators) denominator.inverted = false;
    return {joined(denominators, join), true};
  }
};

std::vector<Factor> appended(std::vector<Factor> a, const std::vector<Factor>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Refuses an order that nothing could run: results are counted in 64 bits. An operand without elements leaves nothing
// to compute, whatever the order.
void check_countable(const ContractionProblem& problem, const ContractionPath& path) {
  constexpr double kMostElements = 0x1p63;
  if (path.largest_intermediate < kMostElements) return;
  if (std::any_of(problem.extents.begin(), problem.extents.end(), [](auto extent) { return extent == 0; })) return;
  const auto power = [](double value) { return "2^" + std::to_string(std::lround(std::log2(value))); };
  throw Error(ErrorKind::MemoryLimit,
              "no feasible order was found for the contraction of " + std::to_string(problem.operands.size()) +
                  " operands: the best one makes a result of " + power(path.largest_intermediate) + " elements in " +
                  power(path.flops) + " operations",
              std::nullopt, "SET path_budget = 60 and SET path_objective = 'size' search for smaller results");
}

// Takes one contraction apart: an aggregate of factors over which it distributes. Lifecycle: factors -> leaves ->
// binary vertices along the path -> last vertex.
class ContractionSplitter {
 public:
  ContractionSplitter(VertexSplitter& splitter, PathSearch& paths, JoinedFactors factors)
      : splitter_(splitter), paths_(paths), semiring_(*factors.semiring), factors_(std::move(factors.factors)) {}

  VertexId run() {
    collect_leaves();
    place_label_values();
    count_holders();
    if (leaves_.size() > 1)
      for (auto& leaf : leaves_) settle(leaf);
    contract();
    return finish();
  }

 private:
  struct PlacedFactor {
    Factor factor;
    std::vector<std::size_t> operands;
    std::size_t place = 0;
  };

  void collect_leaves() {
    std::vector<PlacedFactor> pairs;
    std::vector<PlacedFactor> singles;
    std::size_t place = 0;
    for (auto& factor : factors_) {
      factor.expression = split_to_two_operands(splitter_, factor.expression);
      auto operands = operands_of(*factor.expression);
      if (operands.empty()) rest_.push_back(factor);
      else (operands.size() == 1 ? singles : pairs).push_back({factor, std::move(operands), place});
      ++place;
    }
    // Factors over pairs come first, so that a factor over one operand of a pair joins that pair.
    for (const auto& pair : pairs)
      add_to_leaf(pair, leaf_of_pair_.try_emplace(pair.operands, leaves_.size()).first->second);
    for (const auto& single : singles)
      add_to_leaf(single, leaf_of_operand_.try_emplace(single.operands[0], leaves_.size()).first->second);
  }

  void add_to_leaf(const PlacedFactor& placed, std::size_t number) {
    if (number == leaves_.size()) leaves_.push_back({{}, {}, placed.place});
    CHECK(number < leaves_.size(), "a factor goes to a leaf that is there or to the next one");
    auto& leaf = leaves_[number];
    for (const auto operand : placed.operands) leaf_of_operand_.try_emplace(operand, number);
    leaf.factors.push_back(placed.factor);
    leaf.place = std::min(leaf.place, placed.place);
    append_distinct(leaf.labels, splitter_.labels_of(*placed.factor.expression));
  }

  // Moves factors of label values from rest_ to the first leaf that has all their labels.
  void place_label_values() {
    std::vector<Factor> left;
    for (const auto& factor : rest_) {
      const auto labels = index_labels_of(*factor.expression);
      const auto has_all = [&](const Leaf& leaf) { return difference(labels, leaf.labels).empty(); };
      const auto leaf = labels.empty() ? leaves_.end() : std::find_if(leaves_.begin(), leaves_.end(), has_all);
      (leaf == leaves_.end() ? left : leaf->factors).push_back(factor);
    }
    rest_ = std::move(left);
  }

  // A label must be kept while other leaves have it: while its count, without the current leaves, is positive.
  void count_holders() {
    for (const auto& leaf : leaves_)
      for (const auto label : leaf.labels) ++holders_[label];
    for (const auto label : kept_to_the_end()) ++holders_[label];
  }

  Labels kept_to_the_end() const {
    Labels kept = splitter_.vertex().einsum.output;
    for (const auto& factor : rest_) append_distinct(kept, index_labels_of(*factor.expression));
    return kept;
  }

  // Makes `expression` a part that aggregates the labels that nothing else has; holders_ no longer counts `labels`.
  ScalarPtr add_part(const ScalarPtr& expression, const Labels& labels, Labels& output) {
    Labels aggregated;
    for (const auto label : labels) (holders_[label] > 0 ? output : aggregated).push_back(label);
    aggregated_.insert(aggregated.begin(), aggregated.end());
    return splitter_.add_part(expression, output, aggregated, semiring_.aggregate);
  }

  bool aggregates_any(const Labels& labels) {
    return std::any_of(labels.begin(), labels.end(), [&](Label label) { return holders_[label] == 0; });
  }

  void change_holders(const Labels& labels, int by) {
    for (const auto label : labels) {
      holders_[label] += by;
      CHECK(holders_[label] >= 0, "a label is given up by those that hold it");
    }
  }

  // Replaces the leaf's factors by one part. What is inverted stays so unless a label is aggregated over it.
  void make_part(Leaf& leaf) {
    change_holders(leaf.labels, -1);
    auto factor = leaf.factor(semiring_.join);
    if (factor.inverted && aggregates_any(leaf.labels)) factor = {joined({factor}, semiring_.join), false};
    Labels output;
    const auto part = add_part(factor.expression, leaf.labels, output);
    leaf = {{{part, factor.inverted}}, std::move(output), leaf.place};
    change_holders(leaf.labels, 1);
  }

  // Makes a leaf over two operands a vertex of its own.
  void settle(Leaf& leaf) {
    if (operands_of(*joined(leaf.factors, semiring_.join)).size() == 2) make_part(leaf);
  }

  static Leaf join(const Leaf& a, const Leaf& b) {
    if (b.place < a.place) return join(b, a);
    Leaf both{appended(a.factors, b.factors), a.labels, a.place};
    append_distinct(both.labels, b.labels);
    return both;
  }

  // The cells of a leaf that is a stored tensor, where all else leaves zeros; nullopt if it counts as dense.
  std::optional<CellEstimate> cells_of(const Leaf& leaf) const {
    const auto operands = operands_of(*joined(leaf.factors, semiring_.join));
    const auto& vertex = splitter_.vertex();
    if (operands.size() != 1 || operands.front() >= vertex.inputs.size()) return std::nullopt;
    const auto n = operands.front();
    const auto& stored = splitter_.graph().vertex(vertex.inputs[n]).stored;
    const auto& labels = vertex.einsum.inputs[n];
    if (!stored || !stored->cells || leaf.labels.size() != labels.size()) return std::nullopt;
    std::vector<bool> of_cells(vertex.inputs.size(), false);
    of_cells[n] = true;
    const auto types = input_types(splitter_.graph(), vertex.inputs);
    if (cell_pattern(vertex.einsum, types, of_cells, harmless_facts(of_cells.size()), Zero::EitherSign) !=
        CellPattern::Intersection)
      return std::nullopt;
    CellEstimate out{.cells = stored->cells->cells, .spread = {}};
    if (out.cells > kMostDenseLeaf * static_cast<double>(stored->grid.shape().element_count())) return std::nullopt;
    if (stored->cells->spread.empty()) return out;
    for (const auto label : leaf.labels) {
      const auto place = std::find(labels.begin(), labels.end(), label);
      if (place == labels.end()) return std::nullopt;
      out.spread.push_back(stored->cells->spread[static_cast<std::size_t>(place - labels.begin())]);
    }
    return out;
  }

  ContractionProblem problem() const {
    ContractionProblem out;
    std::unordered_map<Label, std::size_t> number;
    const auto number_of = [&](Label label) {
      const auto [entry, is_new] = number.try_emplace(label, out.extents.size());
      if (is_new) out.extents.push_back(splitter_.labels().extent(label));
      return entry->second;
    };
    for (const auto& leaf : leaves_) {
      auto& operand = out.operands.emplace_back();
      for (const auto label : leaf.labels) operand.push_back(number_of(label));
    }
    for (const auto label : kept_to_the_end()) out.output.push_back(number_of(label));
    if (!paths_.is_by_cells()) return out;
    for (const auto& leaf : leaves_) out.cells.push_back(cells_of(leaf));
    if (std::none_of(out.cells.begin(), out.cells.end(), [](const auto& cells) { return cells.has_value(); }))
      out.cells.clear();
    if (!out.cells.empty() && paths_.observed() != nullptr && leaves_.size() <= kMostForCells)
      add_observed(*paths_.observed(), out);
    return out;
  }

  // What a leaf is the product of, by the numbers of labels in the problem, and others that nothing else has.
  std::optional<CellProduct> product_of_leaf(const Leaf& leaf, const std::vector<std::size_t>& labels,
                                             std::size_t& next) const {
    const auto operands = operands_of(*joined(leaf.factors, semiring_.join));
    const auto& vertex = splitter_.vertex();
    if (operands.size() != 1 || operands.front() >= vertex.inputs.size()) return std::nullopt;
    auto product = product_of(splitter_.graph(), vertex.inputs[operands.front()]);
    const auto& read = vertex.einsum.inputs[operands.front()];
    if (!product || read.size() != labels.size()) return std::nullopt;
    std::map<std::size_t, std::size_t> now;
    for (std::size_t d = 0; d < read.size(); ++d) {
      const auto place = std::find(leaf.labels.begin(), leaf.labels.end(), read[d]) - leaf.labels.begin();
      if (std::cmp_greater_equal(place, labels.size())) return std::nullopt;
      now.emplace(product->kept[d], labels[static_cast<std::size_t>(place)]);
    }
    for (auto& factor : product->factors)
      for (auto& label : factor.labels) {
        const auto [known, is_new] = now.try_emplace(label, next);
        if (is_new) ++next;
        label = known->second;
      }
    return product;
  }

  // Of all sets of leaves, those whose product was observed.
  void add_observed(const ObservedCells& observed, ContractionProblem& problem) const {
    std::vector<std::optional<CellProduct>> products;
    auto next = problem.extents.size();
    for (std::size_t n = 0; n < leaves_.size(); ++n)
      products.push_back(product_of_leaf(leaves_[n], problem.operands[n], next));
    for (std::uint32_t set = 1; set < std::uint32_t{1} << leaves_.size(); ++set) {
      if (std::has_single_bit(set)) continue;
      CellProduct product;
      std::set<std::size_t> inside;
      std::set<std::size_t> outside(problem.output.begin(), problem.output.end());
      bool is_known = true;
      for (std::size_t n = 0; n < leaves_.size(); ++n) {
        const bool is_in = (set >> n & 1U) != 0;
        (is_in ? inside : outside).insert(problem.operands[n].begin(), problem.operands[n].end());
        if (!is_in) continue;
        is_known = is_known && products[n].has_value();
        if (is_known)
          product.factors.insert(product.factors.end(), products[n]->factors.begin(), products[n]->factors.end());
      }
      if (!is_known) continue;
      std::set_intersection(inside.begin(), inside.end(), outside.begin(), outside.end(),
                            std::back_inserter(product.kept));
      const auto found = observed_of(observed, product);
      if (!found) continue;
      auto& known = problem.known[set];
      known.cells = found->cells;
      for (std::size_t d = 0; d < found->spread.size(); ++d) known.spread.emplace(product.kept[d], found->spread[d]);
    }
  }

  // Joins leaves along the path, all but the last pair, which finish() joins.
  void contract() {
    if (leaves_.size() < 3) return;
    const auto contraction = problem();
    const auto path = paths_.find(contraction);
    check_countable(contraction, path);
    auto pairs = results_of_path(leaves_.size(), path.steps);
    CHECK(pairs.size() + 1 == leaves_.size(), "a path joins all leaves");
    const auto last = pairs.back();
    pairs.pop_back();
    for (const auto& [a, b] : pairs) {
      Leaf result = join(leaves_[a], leaves_[b]);
      // The pair counts a common label twice, its result once.
      change_holders(leaves_[a].labels, -1);
      change_holders(leaves_[b].labels, -1);
      change_holders(result.labels, 1);
      make_part(result);
      leaves_.push_back(std::move(result));
    }
    CHECK(last.first < leaves_.size() && last.second < leaves_.size(), "the last step joins leaves that are there");
    leaves_ = {leaves_[last.first], leaves_[last.second]};
  }

  VertexId finish() {
    CHECK(leaves_.size() <= 2, "the last vertex joins two leaves at most");
    auto factors = rest_;
    std::sort(leaves_.begin(), leaves_.end(), [](const Leaf& a, const Leaf& b) { return a.place < b.place; });
    for (const auto& leaf : leaves_) factors = appended(std::move(factors), leaf.factors);
    Labels left;
    for (const auto label : splitter_.vertex().einsum.aggregated)
      if (!aggregated_.contains(label)) left.push_back(label);
    return splitter_.finish(joined(factors, semiring_.join), left);
  }

  VertexSplitter& splitter_;
  PathSearch& paths_;
  const Semiring& semiring_;
  std::vector<Factor> factors_;
  std::vector<Leaf> leaves_;
  std::map<std::vector<std::size_t>, std::size_t> leaf_of_pair_;
  std::unordered_map<std::size_t, std::size_t> leaf_of_operand_;  // the first leaf, if several read it
  std::vector<Factor> rest_;                                      // constants, and label values that no leaf takes
  std::unordered_map<Label, int> holders_;
  std::unordered_set<Label> aggregated_;
};

VertexId split(VertexSplitter splitter, PathSearch& paths) {
  if (auto factors = joined_factors(splitter)) return ContractionSplitter(splitter, paths, *std::move(factors)).run();
  const auto& einsum = splitter.vertex().einsum;
  return splitter.finish(split_to_two_operands(splitter, einsum.expression), einsum.aggregated);
}

}  // namespace

EinGraph order_contractions(const EinGraph& graph, PathSearch& paths) {
  VertexNames names(graph);
  return rewrite_each(graph, [&](EinGraph& out, const Vertex& vertex) -> std::optional<VertexId> {
    if (vertex.inputs.size() <= 2) return std::nullopt;
    auto united = unite_operands(vertex);
    if (united.inputs.size() <= 2) return out.add(std::move(united));
    return split(VertexSplitter(out, names, std::move(united)), paths);
  });
}

}  // namespace eindb
