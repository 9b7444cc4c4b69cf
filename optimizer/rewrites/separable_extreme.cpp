#include "optimizer/rewrites/separable_extreme.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "optimizer/rewrites/sum_terms.hpp"
#include "optimizer/rewrites/term_groups.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}

Aggregate opposite(Aggregate extreme) { return extreme == Aggregate::Max ? Aggregate::Min : Aggregate::Max; }

// One step into a monotone function: the argument that is not constant, and whether the function is decreasing in it.
struct Step {
  std::size_t argument;
  bool reverses;
};

// A bound that is finite in FLOAT32 too.
constexpr double kLargest = 1e30;
bool is_finite(const ScalarExpression& e) { return e.is_constant() && std::abs(e.real_value()) < kLargest; }

std::optional<Step> step_with_constant(const ScalarExpression& e) {
  const auto& a = e.arguments();
  if (a.size() != 2 || a[0]->is_constant() == a[1]->is_constant()) return std::nullopt;
  const std::size_t constant = a[0]->is_constant() ? 0 : 1;
  if (!is_finite(*a[constant])) return std::nullopt;
  const double value = a[constant]->real_value();
  // Neither 0 nor a number that FLOAT32 rounds to 0.
  const bool is_scale = std::abs(value) > 1 / kLargest;
  switch (e.op()) {
    case Add: return Step{1 - constant, false};
    case Subtract: return Step{1 - constant, constant == 0};
    case Multiply: return is_scale ? std::optional(Step{1 - constant, value < 0}) : std::nullopt;
    case Divide: return is_scale && constant == 1 ? std::optional(Step{0, value < 0}) : std::nullopt;
    default: return std::nullopt;
  }
}

std::optional<Step> monotone_step(const ScalarExpression& e, Aggregate extreme, DType compute) {
  if (e.kind() != ScalarExpression::Kind::Call) return std::nullopt;
  switch (e.op()) {
    case Relu:
    case Sign: return Step{0, false};
    default: break;
  }
  if (compute == DType::Int64) return std::nullopt;
  switch (e.op()) {
    case Negate: return Step{0, true};
    case Exp:
    case Expm1:
    case Tanh:
    case Atan:
    case Sinh:
    case Erf:
    case Sigmoid:
    case Floor:
    case Ceil:
    case Round: return Step{0, false};
    case Sqrt:
    case Log:
    case Log2: return extreme == Aggregate::Min ? std::optional(Step{0, false}) : std::nullopt;
    default: return step_with_constant(e);
  }
}

// An expression split into outer functions of one value and an inner expression; `extreme` of the inner one gives the
// extreme of the whole.
struct Peeled {
  std::vector<ScalarPtr> functions;  // outermost first
  std::vector<Step> steps;
  ScalarPtr inner;
  Aggregate extreme;

  ScalarPtr around(ScalarPtr value) const {
    CHECK(functions.size() == steps.size(), "every function that is peeled off is a step");
    for (std::size_t n = functions.size(); n-- > 0;) {
      auto arguments = functions[n]->arguments();
      arguments[steps[n].argument] = std::move(value);
      value = call(functions[n]->op(), std::move(arguments));
    }
    return value;
  }

  bool is_costly() const {
    return std::any_of(functions.begin(), functions.end(),
                       [](const auto& e) { return info_of(e->op()).floating && e->op() != Divide; });
  }
};

Peeled peel(const Vertex& vertex) {
  Peeled out{{}, {}, vertex.einsum.expression, vertex.einsum.aggregate};
  while (const auto step = monotone_step(*out.inner, out.extreme, vertex.compute_dtype)) {
    const auto inner = out.inner->arguments()[step->argument];
    if (operands_of(*inner).empty()) break;
    out.functions.push_back(out.inner);
    out.steps.push_back(*step);
    if (step->reverses) out.extreme = opposite(out.extreme);
    out.inner = inner;
  }
  return out;
}

ScalarPtr joined(ScalarOp op, const std::vector<ScalarPtr>& terms) {
  return terms.size() == 1 ? terms[0] : call(op, terms);
}

// The aggregated labels that only group n has.
Labels local_labels(const std::vector<TermGroup>& groups, std::size_t n) {
  auto local = groups[n].own;
  for (std::size_t other = 0; other < groups.size(); ++other)
    if (other != n) local = difference(local, groups[other].own);
  return local;
}

TermGroup united(const std::vector<TermGroup>& groups, std::size_t without) {
  TermGroup out;
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (n == without) continue;
    out.terms.insert(out.terms.end(), groups[n].terms.begin(), groups[n].terms.end());
    append_distinct(out.labels, groups[n].labels);
    append_distinct(out.own, groups[n].own);
    append_distinct(out.head, groups[n].head);
  }
  std::sort(out.terms.begin(), out.terms.end());
  DCHECK(std::adjacent_find(out.terms.begin(), out.terms.end()) == out.terms.end(), "a term is in one group");
  return out;
}

// Takes one vertex apart. Lifecycle: peeled -> groups of the inner expression -> parts -> last vertex.
class ExtremeSplitter {
 public:
  explicit ExtremeSplitter(VertexSplitter& splitter) : splitter_(splitter), peeled_(peel(splitter.vertex())) {}

  std::optional<VertexId> run() {
    if (aggregates_nothing(splitter_)) return std::nullopt;
    if (peeled_.inner->is_call(Greatest) || peeled_.inner->is_call(Least)) {
      if (const auto apart = split_lattice()) return apart;
    } else if ((peeled_.inner->is_call(Add) || peeled_.inner->is_call(Subtract)) &&
               splitter_.vertex().compute_dtype != DType::Int64) {
      if (const auto apart = split_sum()) return apart;
    }
    return take_function_last();
  }

 private:
  std::optional<VertexId> take_function_last() {
    if (!peeled_.is_costly()) return std::nullopt;
    const auto& aggregated = splitter_.vertex().einsum.aggregated;
    const auto labels = splitter_.labels_of(*peeled_.inner);
    const auto own = difference(labels, difference(labels, aggregated));
    if (own.empty()) return std::nullopt;
    const auto part = splitter_.add_part(peeled_.inner, difference(labels, aggregated), own, peeled_.extreme);
    return splitter_.finish(peeled_.around(part), {});
  }

  std::optional<VertexId> split_lattice() {
    const auto op = peeled_.inner->op();
    const auto& terms = peeled_.inner->arguments();
    const auto groups = group_terms(splitter_, terms);
    if (!groups || groups->size() < 2 || cells_of(splitter_, *groups) >= cells_of_join(splitter_)) return std::nullopt;
    // MAX of GREATEST splits into its sides. MAX of LEAST does so if a label is on one side only.
    const bool same = (op == Greatest) == (peeled_.extreme == Aggregate::Max);
    if (!same && !any_local(*groups)) return std::nullopt;
    std::vector<ScalarPtr> sides;
    Labels left;
    for (std::size_t n = 0; n < groups->size(); ++n) {
      const auto& group = (*groups)[n];
      const auto own = same ? group.own : local_labels(*groups, n);
      const auto kept = difference(group.labels, own);
      append_distinct(left, difference(group.own, own));
      auto side = joined(op, terms_in(group, terms));
      sides.push_back(own.empty() ? side : splitter_.add_part(side, kept, own, peeled_.extreme));
    }
    return finish(call(op, std::move(sides)), left);
  }

  std::optional<VertexId> split_sum() {
    const auto terms = sum_terms(peeled_.inner);
    const auto groups = group_terms(splitter_, terms);
    // Both the least and the largest value of each group are computed.
    if (!groups || groups->size() < 2 || 2 * cells_of(splitter_, *groups) >= cells_of_join(splitter_))
      return std::nullopt;
    std::size_t first = 0;
    while (first < groups->size() && local_labels(*groups, first).empty()) ++first;
    if (first == groups->size()) return std::nullopt;
    const std::vector<TermGroup> sides{(*groups)[first], united(*groups, first)};

    const auto a = extremes(sides, 0, terms);
    const auto b = extremes(sides, 1, terms);
    std::vector<ScalarPtr> corners{call(Add, {a.wanted, b.wanted})};
    if (b.other != b.wanted) corners.push_back(call(Add, {a.wanted, b.other}));
    corners.push_back(call(Add, {a.other, b.wanted}));
    const auto left = difference(sides[0].own, local_labels(sides, 0));
    return finish(call(peeled_.extreme == Aggregate::Max ? Greatest : Least, std::move(corners)), left);
  }

  struct Extremes {
    ScalarPtr wanted;
    ScalarPtr other;  // equal to the first if the side has no label of its own
  };

  Extremes extremes(const std::vector<TermGroup>& sides, std::size_t n, const std::vector<ScalarPtr>& terms) {
    const auto value = joined(Add, terms_in(sides[n], terms));
    const auto own = local_labels(sides, n);
    if (own.empty()) return {value, value};
    const auto kept = difference(sides[n].labels, own);
    return {splitter_.add_part(value, kept, own, peeled_.extreme),
            splitter_.add_part(value, kept, own, opposite(peeled_.extreme))};
  }

  // Applies the outer functions to the rest of the aggregation; `value` is monotone in them.
  VertexId finish(const ScalarPtr& value, const Labels& left) {
    if (left.empty()) return splitter_.finish(peeled_.around(value), {});
    const auto labels = splitter_.labels_of(*value);
    if (peeled_.functions.empty()) return splitter_.finish(value, left);
    const auto part = splitter_.add_part(value, difference(labels, left), left, peeled_.extreme);
    return splitter_.finish(peeled_.around(part), {});
  }

  static bool any_local(const std::vector<TermGroup>& groups) {
    for (std::size_t n = 0; n < groups.size(); ++n)
      if (!local_labels(groups, n).empty()) return true;
    return false;
  }

  static std::vector<ScalarPtr> terms_in(const TermGroup& group, const std::vector<ScalarPtr>& terms) {
    std::vector<ScalarPtr> out;
    for (const auto t : group.terms) out.push_back(terms[t]);
    return out;
  }

  VertexSplitter& splitter_;
  Peeled peeled_;
};

}  // namespace

std::optional<VertexId> take_extremes_apart(VertexSplitter& splitter) {
  if (is_complex(splitter.vertex().compute_dtype)) return std::nullopt;
  return ExtremeSplitter(splitter).run();
}

}  // namespace eindb
