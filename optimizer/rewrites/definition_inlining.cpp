#include "optimizer/rewrites/definition_inlining.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "common/poll_steps.hpp"
#include "optimizer/rewrites/dead_vertices.hpp"
#include "optimizer/rewrites/joined_factors.hpp"
#include "optimizer/rewrites/label_substitution.hpp"
#include "optimizer/rewrites/truth_product.hpp"
#include "optimizer/rewrites/vertex_merger.hpp"
#include "optimizer/rewrites/vertex_splitter.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestExpression = 64;  // of an expression that is written into another
constexpr std::size_t kMostOperands = 256;      // of a contraction that definitions are written into

bool is_plain(const Vertex& vertex) {
  return !vertex.is_input() && vertex.einsum.epilogue == nullptr && vertex.dtype == vertex.compute_dtype;
}

// Whether it has more cells than each of several operands.
bool joins_operands(const LabelTable& table, const Vertex& vertex) {
  if (vertex.inputs.size() < 2) return false;
  const auto cells = cells_of(table, vertex.einsum.labels());
  return std::all_of(vertex.einsum.inputs.begin(), vertex.einsum.inputs.end(),
                     [&](const Labels& labels) { return cells_of(table, labels) < cells; });
}

// Operations that take no longer than loading a value and storing it.
bool is_cheap(const ScalarExpression& e) {
  using enum ScalarOp;
  if (e.kind() == ScalarExpression::Kind::Uniform || e.kind() == ScalarExpression::Kind::Normal) return false;
  const auto& arguments = e.arguments();
  if (!std::all_of(arguments.begin(), arguments.end(), [](const ScalarPtr& argument) { return is_cheap(*argument); }))
    return false;
  if (e.kind() != ScalarExpression::Kind::Call || gives_boolean(e.op()) || converts_to(e.op())) return true;
  switch (e.op()) {
    case Add:
    case Subtract:
    case Multiply:
    case Negate:
    case Abs:
    case Least:
    case Greatest:
    case Relu:
    case Divide:
    case Sqrt:
    case Case: return true;
    default: return false;
  }
}

// Whether all values of a vertex are 0 or 1.
bool is_truth(const Vertex& vertex) {
  if (vertex.is_input() || vertex.einsum.epilogue != nullptr) return false;
  const auto aggregate = vertex.einsum.aggregate;
  return (aggregate == Aggregate::None || is_idempotent(aggregate)) &&
         gives_boolean(*counted_truth(vertex.einsum.expression));
}

class Inlining {
 public:
  explicit Inlining(const EinGraph& graph) : graph_(graph), names_(graph), vertices_(graph) {}

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
      return true;
    }
    return false;
  }

  bool may_take_in(std::size_t n, std::size_t operand) const {
    const auto& reader = vertices_.vertex(n);
    const auto& part = vertices_.vertex(reader.inputs[operand]);
    if (reader.einsum.aggregate == Aggregate::None || reader.einsum.epilogue != nullptr || reader.keeps_order)
      return false;
    if (!is_plain(part) || part.keeps_order || part.compute_dtype != reader.compute_dtype) return false;
    if (!leads_to_join(part, reader.einsum.aggregate)) return false;
    const bool alone = vertices_.uses(reader.inputs[operand]) == 1;
    if (part.einsum.aggregate == Aggregate::None)
      return (alone || may_repeat(part)) && (alone || reader.inputs.size() == 1 || is_factor(reader, operand)) &&
             is_short(reader, operand);
    return alone && part.inputs.size() + reader.inputs.size() <= kMostOperands && distributes(reader, operand, part) &&
           may_improve(reader, operand, part);
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
  bool distributes(const Vertex& reader, std::size_t operand, const Vertex& part) const {
    if (part.einsum.aggregate != reader.einsum.aggregate) return false;
    const auto of_reader = factors(reader);
    const auto of_part = factors(part);
    if (!of_reader || !of_part || of_reader->semiring != of_part->semiring || of_part->factors.size() < 2) return false;
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

  bool is_factor(const Vertex& reader, std::size_t operand) const {
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

  std::optional<JoinedFactors> factors(const Vertex& vertex) const {
    return joined_factors(VertexSplitter(graph_, names_, vertex));
  }

  mutable EinGraph graph_;
  mutable VertexNames names_;
  VertexMerger vertices_;
};

// ---- Joins that are computed again ----------------------------------------------------------------------------------

constexpr double kFewestReads = 8;           // of each element of an operand
constexpr double kFewestBytes = 256 * 1024;  // smaller values stay in the caches anyway
constexpr double kMostStripBytes = 256 * 1024;

// Values that are computed from far smaller operands by cheap operations, step by step, and are then aggregated.
class Repetition {
 public:
  explicit Repetition(const EinGraph& graph)
      : graph_(graph), names_(graph), uses_(graph.use_counts()), readers_(graph.size()) {
    for (std::size_t n = 0; n < graph_.size(); ++n)
      for (std::size_t i = 0; i < graph_.vertices()[n].inputs.size(); ++i)
        readers_[graph_.vertices()[n].inputs[i].index()].emplace_back(VertexId(n), i);
    find_values();
  }

  EinGraph run() {
    if (std::none_of(copied_.begin(), copied_.end(), [](bool copied) { return copied; })) return graph_;
    std::size_t n = 0;
    const auto out = rewrite_each(graph_, [&](EinGraph& made, Vertex vertex) {
      const auto& before = graph_.vertices()[n++];
      std::unordered_map<VertexId, VertexId> copies;
      for (std::size_t i = 0; i < vertex.inputs.size(); ++i)
        if (vertex.einsum.aggregate != Aggregate::None && copied_[before.inputs[i].index()])
          vertex.inputs[i] = copy(made, before.inputs[i], copies);
      now_.push_back(made.add(std::move(vertex)));
      return now_.back();
    });
    return drop_dead_vertices(out);
  }

 private:
  VertexId copy(EinGraph& made, VertexId id, std::unordered_map<VertexId, VertexId>& copies) {
    if (const auto known = copies.find(id); known != copies.end()) return known->second;
    auto vertex = graph_.vertex(id);
    for (auto& input : vertex.inputs) input = copied_[input.index()] ? copy(made, input, copies) : now_[input.index()];
    vertex.name = names_.next(vertex.name);
    const auto copy = made.add(std::move(vertex));
    copies.emplace(id, copy);
    return copy;
  }

  // A value is copied if all that reads it aggregates it in strips, or is such a value, and if its own large operands
  // are such values.
  void find_values() {
    copied_.assign(graph_.size(), false);
    for (std::size_t n = 0; n < graph_.size(); ++n) copied_[n] = is_cheap_value(graph_.vertices()[n]);
    // Backwards for what reads a value, forwards for what it reads, until nothing changes.
    for (bool changed = true; changed;) {
      changed = false;
      const auto keep_if = [&](std::size_t n, bool fits) {
        if (copied_[n] && !fits) changed = true;
        copied_[n] = copied_[n] && fits;
      };
      for (std::size_t n = graph_.size(); n-- > 0;) keep_if(n, !copied_[n] || all_readers_take(VertexId(n)));
      for (std::size_t n = 0; n < graph_.size(); ++n)
        keep_if(n, !copied_[n] || has_fitting_operands(graph_.vertices()[n]));
    }
    keep_what_is_read_once();
  }

  // Trees in which every value is read once have nothing to repeat.
  void keep_what_is_read_once() {
    std::vector<bool> repeats(graph_.size(), false);
    for (std::size_t n = 0; n < graph_.size(); ++n) {
      if (!copied_[n]) continue;
      const auto& inputs = graph_.vertices()[n].inputs;
      repeats[n] = uses_[n] > 1 ||
                   std::any_of(inputs.begin(), inputs.end(), [&](VertexId input) { return repeats[input.index()]; });
    }
    for (std::size_t n = graph_.size(); n-- > 0;) {
      if (!copied_[n]) continue;
      for (const auto& [reader, place] : readers_[n])
        if (copied_[reader.index()] && repeats[reader.index()]) repeats[n] = true;
      copied_[n] = repeats[n];
    }
  }

  bool is_cheap_value(const Vertex& vertex) const {
    if (!is_plain(vertex) || vertex.einsum.aggregate != Aggregate::None) return false;
    if (DistinctLabels(vertex.einsum.output).labels().size() != vertex.einsum.output.size()) return false;
    const auto cells = cells_of(graph_.labels(), vertex.einsum.output);
    return cells * static_cast<double>(size_of(vertex.dtype)) >= kFewestBytes && is_cheap(*vertex.einsum.expression);
  }

  bool has_fitting_operands(const Vertex& vertex) const {
    const auto cells = cells_of(graph_.labels(), vertex.einsum.output);
    for (std::size_t i = 0; i < vertex.inputs.size(); ++i) {
      const auto& labels = vertex.einsum.inputs[i];
      const bool is_small = kFewestReads * cells_of(graph_.labels(), labels) <= cells;
      if (!is_small && !(copied_[vertex.inputs[i].index()] && reads_as_it_is(vertex, i))) return false;
    }
    return !vertex.inputs.empty();
  }

  bool all_readers_take(VertexId id) const {
    const auto& readers = readers_[id.index()];
    if (readers.empty() || static_cast<std::size_t>(uses_[id.index()]) != readers.size()) return false;  // a result
    return std::all_of(readers.begin(), readers.end(), [&](const auto& reader) {
      const auto& vertex = graph_.vertex(reader.first);
      return reads_as_it_is(vertex, reader.second) &&
             (copied_[reader.first.index()] || aggregates_in_strips(vertex, reader.second));
    });
  }

  bool reads_as_it_is(const Vertex& reader, std::size_t operand) const {
    return reader.einsum.inputs[operand] == graph_.vertex(reader.inputs[operand]).einsum.output &&
           std::count(reader.inputs.begin(), reader.inputs.end(), reader.inputs[operand]) == 1;
  }

  bool aggregates_in_strips(const Vertex& reader, std::size_t operand) const {
    const auto& value = graph_.vertex(reader.inputs[operand]);
    if (reader.einsum.aggregate == Aggregate::None) return false;
    const auto strip = difference(value.einsum.output, reader.einsum.output);
    return !strip.empty() && strip.size() < value.einsum.output.size() &&
           difference(reader.einsum.aggregated, value.einsum.output).empty() &&
           cells_of(graph_.labels(), strip) * static_cast<double>(size_of(value.dtype)) <= kMostStripBytes;
  }

  const EinGraph& graph_;
  VertexNames names_;
  std::vector<int> uses_;
  std::vector<std::vector<std::pair<VertexId, std::size_t>>> readers_;  // and as which operand
  std::vector<bool> copied_;                                            // by vertex
  std::vector<VertexId> now_;                                           // by vertex: what stands for it
};

}  // namespace

EinGraph inline_definitions(const EinGraph& graph) { return Inlining(graph).run(); }

EinGraph repeat_joins(const EinGraph& graph) { return Repetition(graph).run(); }

}  // namespace eindb
