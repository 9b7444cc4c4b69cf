#include "optimizer/rewrites/definition_inlining.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "common/poll_steps.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/truth_product.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"
#include "tensor/pair_form.hpp"
#include "tensor/scan_form.hpp"
#include "tensor/user_aggregate.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestExpression = 64;     // of an expression that is written into another
constexpr std::size_t kMostOperandsInlined = 256;  // of a contraction that definitions are written into

// Whether it has more cells than each of several operands.
bool joins_operands(const LabelTable& table, const Vertex& vertex) {
  if (vertex.inputs.size() < 2) return false;
  const auto cells = cells_of(table, vertex.einsum.labels());
  return std::all_of(vertex.einsum.inputs.begin(), vertex.einsum.inputs.end(),
                     [&](const Labels& labels) { return cells_of(table, labels) < cells; });
}

// Whether it is an access or a scan, which is slow as a part of something else.
bool has_own_kernel(const Vertex& vertex) { return !skipped_labels(vertex.einsum, vertex.compute_dtype).empty(); }

// Whether all values of a vertex are 0 or 1.
bool is_truth(const Vertex& vertex) {
  if (vertex.is_input() || vertex.einsum.epilogue != nullptr) return false;
  const auto aggregate = vertex.einsum.aggregate;
  return (aggregate == Aggregate::None || is_idempotent(aggregate)) &&
         gives_boolean(*counted_truth(vertex.einsum.expression));
}

class Inlining {
 public:
  explicit Inlining(const EinGraph& graph) : graph_(graph), names_(graph), vertices_(graph) {
    for (const auto& vertex : graph.vertices()) {
      const auto search = vertex.is_input() ? std::nullopt : index_search(vertex.einsum);
      if (search && graph.vertex(vertex.inputs[search->sought]).inputs == std::vector{vertex.inputs[search->values]})
        sought_.insert(vertex.inputs[search->sought].index());
    }
  }

  EinGraph run() {
    for (std::size_t n = 0; n < vertices_.size(); ++n) {
      if (vertices_.vertex(n).is_input() || vertices_.uses(n) == 0) continue;
      for (std::size_t i = 0; i < vertices_.vertex(n).inputs.size(); ++i) read_truth(n, i);
      while (take_in_some_operand(n)) {
        for (std::size_t i = 0; i < vertices_.vertex(n).inputs.size(); ++i) read_truth(n, i);
      }
    }
    return vertices_.result();
  }

 private:
  // Reads M in place of N[i] = M[i] > 0, as ANY and ALL give it, where all values of M are 0 or 1.
  void read_truth(std::size_t n, std::size_t operand) {
    const auto& reader = vertices_.vertex(n);
    const auto& compared = vertices_.vertex(reader.inputs[operand]);
    if (!is_truth(compared) || compared.einsum.aggregate != Aggregate::None || compared.inputs.size() != 1) return;
    const auto& comparison = *counted_truth(compared.einsum.expression);
    const auto zero = comparison.is_call(ScalarOp::Greater) ? comparison.arguments()[1] : nullptr;
    if (zero == nullptr || !zero->is_constant() || zero->real_value() != 0) return;
    if (comparison.arguments()[0]->kind() != ScalarExpression::Kind::Operand) return;
    const auto& truth = vertices_.vertex(compared.inputs[0]);
    const auto& head = compared.einsum.output;
    if (!is_truth(truth) || compared.einsum.inputs[0] != head || compared.dtype != truth.dtype) return;
    auto vertex = reader;
    vertex.inputs[operand] = compared.inputs[0];
    vertices_.replace(n, unite_operands(std::move(vertex)));
  }

  bool take_in_some_operand(std::size_t n) {
    for (std::size_t i = 0; i < vertices_.vertex(n).inputs.size(); ++i) {
      if (!may_take_in(n, i)) continue;
      vertices_.replace(n, unite_operands(vertices_.with_operand_taken_in(n, i)));
      know_new_labels();
      return true;
    }
    return false;
  }

  // Labels over which a definition aggregates have new names where it is taken in.
  void know_new_labels() {
    auto& known = graph_.labels();
    for (auto n = known.size(); n < vertices_.labels().size(); ++n)
      known.add(vertices_.labels().name(Label(n)), vertices_.labels().extent(Label(n)));
  }

  bool may_take_in(std::size_t n, std::size_t operand) {
    const auto& reader = vertices_.vertex(n);
    const auto& part = vertices_.vertex(reader.inputs[operand]);
    if (reader.einsum.aggregate == Aggregate::None || reader.einsum.epilogue != nullptr || reader.keeps_order)
      return false;
    if (!is_plain(part) || part.keeps_order || part.compute_dtype != reader.compute_dtype) return false;
    if (has_own_kernel(reader) || has_own_kernel(part)) return false;
    // More operands may be joined in another order, with other roundings than those of the values that are compared.
    if (reader.is_compared && reader.inputs.size() + part.inputs.size() > 3) return false;
    // It takes the values in when it runs (executor/kernels/fused_kernel), or takes its index with its extreme from
    // them (optimizer/rewrites/placed_extremes).
    if (index_search(reader.einsum) || sought_.contains(n)) return false;
    if (!leads_to_join(part, reader.einsum.aggregate)) return false;
    const bool alone = vertices_.uses(reader.inputs[operand]) == 1;
    if (part.einsum.aggregate == Aggregate::None)
      return (alone || may_repeat(part)) && (alone || reader.inputs.size() == 1 || is_factor(reader, operand)) &&
             is_short(reader, operand);
    return alone && part.inputs.size() + reader.inputs.size() <= kMostOperandsInlined &&
           distributes(reader, operand, part) && may_improve(reader, operand, part);
  }

  // Whether it joins operands, or is a function of a definition that only it reads and that can be written in after it.
  bool leads_to_join(const Vertex& part, Aggregate aggregate) const {
    if (joins_operands(vertices_.labels(), part)) return true;
    if (part.einsum.aggregate != Aggregate::None || part.inputs.size() < 2) return false;
    if (!is_cheap(*part.einsum.expression)) return false;
    return std::any_of(part.inputs.begin(), part.inputs.end(), [&](VertexId input) {
      const auto& next = vertices_.vertex(input);
      if (!is_plain(next) || next.keeps_order || (vertices_.uses(input) != 1 && !may_repeat(next))) return false;
      if (next.einsum.aggregate != Aggregate::None && next.einsum.aggregate != aggregate) return false;
      poll_cancellation_after(1);
      return leads_to_join(next, aggregate);
    });
  }

  // Whether it takes no longer to compute it again than to read it.
  bool may_repeat(const Vertex& part) const {
    return part.einsum.aggregate == Aggregate::None && joins_operands(vertices_.labels(), part) &&
           is_cheap(*part.einsum.expression);
  }

  bool is_short(const Vertex& reader, std::size_t operand) const {
    const auto& part = vertices_.vertex(reader.inputs[operand]);
    const auto times = occurrences(*reader.einsum.expression, operand);
    return nodes_of(*reader.einsum.expression) + times * nodes_of(*part.einsum.expression) <= kLongestExpression;
  }

  // Whether the definition's aggregate may be taken together with the reader's, and both join several factors.
  bool distributes(const Vertex& reader, std::size_t operand, const Vertex& part) {
    if (part.einsum.aggregate != reader.einsum.aggregate) return false;
    if (!same_aggregate(part.einsum.user.get(), reader.einsum.user.get())) return false;
    const auto of_reader = factors(reader);
    const auto of_part = factors(part);
    if (!of_reader || !of_part || of_part->factors.size() < 2) return false;
    if (of_reader->semiring->aggregate != of_part->semiring->aggregate ||
        !(of_reader->semiring->join == of_part->semiring->join))
      return false;
    return !of_reader->semiring->needs_nonnegative && of_reader->factors.size() >= 2 && has_factor(*of_reader, operand);
  }

  // Three operands are left in two steps where no other order takes fewer operations: the steps may be cut, and placed
  // on workers, each in its own way.
  bool may_improve(const Vertex& reader, std::size_t operand, const Vertex& part) const {
    if (part.inputs.size() != 2 || reader.inputs.size() != 2) return true;
    const auto now = labels_as_read(part.einsum.output, reader.einsum.inputs[operand]);
    const auto a = rename_labels(part.einsum.inputs[0], renaming(now));
    const auto b = rename_labels(part.einsum.inputs[1], renaming(now));
    const auto& c = reader.einsum.inputs[1 - operand];
    const auto& table = vertices_.labels();
    const auto operations = [&](const Labels& first, const Labels& second, const Labels& last) {
      auto pair = first;
      append_distinct(pair, second);
      Labels then = last;
      for (const auto label : pair)
        if (contains(last, label) || contains(reader.einsum.output, label)) append_distinct(then, {label});
      return cells_of(table, DistinctLabels(pair).labels()) + cells_of(table, DistinctLabels(then).labels());
    };
    constexpr double kGain = 0.99;
    return std::min(operations(a, c, b), operations(b, c, a)) < kGain * operations(a, b, c);
  }

  bool is_factor(const Vertex& reader, std::size_t operand) {
    const auto of_reader = factors(reader);
    return of_reader && has_factor(*of_reader, operand);
  }

  // Whether the operand alone is one of the factors, and in no other.
  static bool has_factor(const JoinedFactors& joint, std::size_t operand) {
    std::size_t found = 0;
    for (const auto& factor : joint.factors) {
      const auto times = occurrences(*factor.expression, operand);
      if (times == 0) continue;
      if (factor.inverted || factor.expression->kind() != ScalarExpression::Kind::Operand) return false;
      found += times;
    }
    return found == 1;
  }

  std::optional<JoinedFactors> factors(const Vertex& vertex) {
    return joined_factors(VertexSplitter(graph_, names_, vertex));
  }

  EinGraph graph_;  // of the vertices as they were, and all labels; only joined_factors() reads it
  VertexNames names_;
  VertexMerger vertices_;
  std::unordered_set<std::size_t> sought_;  // extremes whose index in the same values is looked for, by number
};

}  // namespace

EinGraph inline_definitions(const EinGraph& graph) { return Inlining(graph).run(); }

}  // namespace eindb
