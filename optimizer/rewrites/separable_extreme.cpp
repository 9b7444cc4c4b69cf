#include "optimizer/rewrites/separable_extreme.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"
#include "optimizer/rewrites/term_groups.hpp"
#include "tensor/algebra.hpp"

namespace eindb {
namespace {

using enum ScalarOp;

ScalarPtr call(ScalarOp op, std::vector<ScalarPtr> arguments) {
  return ScalarExpression::call(op, std::move(arguments));
}

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

// Takes one vertex apart. Lifecycle: peeled -> groups of the inner expression -> parts -> last vertex.
class ExtremeSplitter {
 public:
  explicit ExtremeSplitter(VertexSplitter& splitter) : splitter_(splitter), peeled_(peel(splitter.vertex())) {}

  std::optional<VertexId> run() {
    if (aggregates_nothing(splitter_)) return std::nullopt;
    if (peeled_.inner->is_call(peeled_.extreme == Aggregate::Max ? Greatest : Least)) {
      if (const auto apart = split_sides()) return apart;
    }
    return take_function_last();
  }

 private:
  // Whether the inner expression joins operands over which its extreme may be taken by parts.
  bool joins_operands() const {
    const auto& inner = *peeled_.inner;
    if (inner.kind() != ScalarExpression::Kind::Call || operands_of(inner).size() < 2) return false;
    const auto op = inner.is_call(Subtract) ? Add : inner.is_call(Divide) ? Multiply : inner.op();
    const auto* semiring = find_semiring(peeled_.extreme, op, splitter_.vertex().compute_dtype);
    return semiring != nullptr && !semiring->needs_nonnegative;
  }

  std::optional<VertexId> take_function_last() {
    if (peeled_.functions.empty() || !(peeled_.is_costly() || joins_operands())) return std::nullopt;
    const auto& aggregated = splitter_.vertex().einsum.aggregated;
    const auto labels = splitter_.labels_of(*peeled_.inner);
    const auto own = difference(labels, difference(labels, aggregated));
    if (own.empty()) return std::nullopt;
    const auto part = splitter_.add_part(peeled_.inner, difference(labels, aggregated), own, peeled_.extreme);
    return splitter_.finish(peeled_.around(part), {});
  }

  // MAX of GREATEST splits into its sides, as MIN of LEAST does.
  std::optional<VertexId> split_sides() {
    const auto& terms = peeled_.inner->arguments();
    const auto groups = group_terms(splitter_, terms);
    if (!groups || groups->size() < 2 || cells_of(splitter_, *groups) >= cells_of_join(splitter_)) return std::nullopt;
    std::vector<ScalarPtr> sides;
    for (const auto& group : *groups) {
      std::vector<ScalarPtr> inside;
      for (const auto t : group.terms) inside.push_back(terms[t]);
      const auto side = inside.size() == 1 ? inside[0] : call(peeled_.inner->op(), std::move(inside));
      sides.push_back(group.own.empty() ? side : splitter_.add_part(side, group.head, group.own, peeled_.extreme));
    }
    return splitter_.finish(peeled_.around(call(peeled_.inner->op(), std::move(sides))), {});
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
