#include "derivatives/shift_invariance.hpp"

#include <algorithm>
#include <cmath>

#include "common/check.hpp"

namespace eindb {
namespace {

using enum ScalarOp;
using Kind = ScalarExpression::Kind;

// The change of a value if the extreme at the labels `at` grows by h.
struct Change {
  enum class Form : std::uint8_t {
    None,      // no change
    Factor,    // multiplied by EXP(degree * h)
    Increase,  // increased by degree * h
    Other,
  };
  Form form = Form::None;
  double degree = 0;
  Labels at = {};
  bool zero = false;  // the number 0, which any factor leaves unchanged

  static Change factor(double degree, Labels at) { return made(Form::Factor, degree, std::move(at)); }
  static Change increase(double degree, Labels at) { return made(Form::Increase, degree, std::move(at)); }
  static Change other() { return {.form = Form::Other}; }

  bool is(Form f) const { return form == f; }
  friend bool operator==(const Change&, const Change&) = default;

 private:
  static Change made(Form form, double degree, Labels at) {
    if (degree == 0) return {};
    return {.form = form, .degree = degree, .at = std::move(at)};
  }
};

using Form = Change::Form;

bool is_infinity(const ScalarExpression& e) { return e.is_constant() && std::isinf(e.real_value()); }
bool is_zero(const ScalarExpression& e) { return e.is_constant() && e.real_value() == 0; }

// CASE WHEN ABS(m) = INFINITY THEN 0 ELSE m, the shift in LOGSUMEXP. While m is infinite it does not change.
const ScalarExpression* finite_part_of(const ScalarExpression& e) {
  if (!e.is_call(Case) || e.arguments().size() != 3) return nullptr;
  const auto& condition = *e.arguments()[0];
  const auto& m = *e.arguments()[2];
  const bool is_guard = condition.is_call(Equal) && condition.arguments()[0]->is_call(Abs) &&
                        is_infinity(*condition.arguments()[1]) && is_zero(*e.arguments()[1]);
  return is_guard && equal(*condition.arguments()[0]->arguments()[0], m) && m.kind() == Kind::Operand ? &m : nullptr;
}

bool is_extreme(const Vertex& vertex) {
  return vertex.einsum.aggregate == Aggregate::Min || vertex.einsum.aggregate == Aggregate::Max;
}

bool same_value(const Vertex& a, const Vertex& b) {
  return a.inputs == b.inputs && a.dtype == b.dtype && a.einsum.inputs == b.einsum.inputs &&
         a.einsum.output == b.einsum.output && a.einsum.aggregated == b.einsum.aggregated &&
         a.einsum.aggregate == b.einsum.aggregate && equal(*a.einsum.expression, *b.einsum.expression);
}

// The change of one vertex's expression, given those of its operands.
class ExpressionChange {
 public:
  /// `raw` marks the extremes themselves, which change by h; with `guarded`, they must be inside LOGSUMEXP's guard.
  ExpressionChange(const std::vector<Change>& operands, const std::vector<bool>& raw, bool guarded)
      : operands_(operands), raw_(raw), guarded_(guarded) {}

  Change of(const ScalarExpression& e) const {
    if (e.kind() == Kind::Operand) return raw_[e.operand()] && guarded_ ? Change::other() : operands_[e.operand()];
    if (e.kind() != Kind::Call) return {.zero = is_zero(e)};
    if (const auto* m = finite_part_of(e); m != nullptr && raw_[m->operand()])
      return guarded_ ? operands_[m->operand()] : Change::other();
    switch (e.op()) {
      case Add: return sum(e, 1);
      case Subtract: return sum(e, -1);
      case Negate: return scaled(of(*e.arguments()[0]), -1);
      case ToFloat32:
      case ToFloat64:
      case ToComplex64:
      case ToComplex128: return of(*e.arguments()[0]);
      case Multiply: return product(e);
      case Divide: return quotient(e);
      case Case: return branches(e);
      case Exp: return exponential(of(*e.arguments()[0]));
      case Log: return logarithm(of(*e.arguments()[0]));
      case Sqrt: return power(of(*e.arguments()[0]), 0.5);
      case Power:
        if (e.arguments()[1]->is_constant()) return power(of(*e.arguments()[0]), e.arguments()[1]->real_value());
        break;
      case Sign:
      case Floor:
      case Ceil:
      case Round: return {};
      default:
        if (gives_boolean(e.op())) return {};  // piecewise constant
    }
    const auto& a = e.arguments();
    const bool same = std::all_of(a.begin(), a.end(), [&](const auto& u) { return of(*u).is(Form::None); });
    return same ? Change{} : Change::other();
  }

 private:
  static Change scaled(Change change, double by) {
    if (change.is(Form::Increase)) return Change::increase(change.degree * by, change.at);
    return change;
  }
  static Change exponential(const Change& u) {
    if (u.is(Form::Increase)) return Change::factor(u.degree, u.at);
    return u.is(Form::None) ? Change{} : Change::other();
  }
  static Change logarithm(const Change& u) {
    if (u.is(Form::Factor)) return Change::increase(u.degree, u.at);
    return u.is(Form::None) ? Change{} : Change::other();
  }
  static Change power(const Change& u, double exponent) {
    if (u.is(Form::Factor)) return Change::factor(u.degree * exponent, u.at);
    return u.is(Form::None) ? Change{} : Change::other();
  }

  // The change of a + b or a - b.
  static Change added(const Change& a, const Change& b) {
    if (a.zero) return b;
    if (b.zero || a == b) return a.is(Form::Increase) && !b.zero ? increases(a, b) : a;
    return increases(a, b);
  }
  static Change increases(const Change& a, const Change& b) {
    const bool fit = !a.is(Form::Factor) && !b.is(Form::Factor) && !a.is(Form::Other) && !b.is(Form::Other);
    if (!fit || (!a.is(Form::None) && !b.is(Form::None) && a.at != b.at)) return Change::other();
    return Change::increase(a.degree + b.degree, a.is(Form::None) ? b.at : a.at);
  }

  Change sum(const ScalarExpression& e, double sign) const {
    auto total = of(*e.arguments()[0]);
    for (std::size_t n = 1; n < e.arguments().size(); ++n) total = added(total, scaled(of(*e.arguments()[n]), sign));
    return total;
  }

  static Change multiplied(const Change& a, const Change& b) {
    if (a.is(Form::None)) return b.is(Form::Increase) ? Change::other() : b;
    if (b.is(Form::None)) return a.is(Form::Increase) ? Change::other() : a;
    if (!a.is(Form::Factor) || !b.is(Form::Factor) || a.at != b.at) return Change::other();
    return Change::factor(a.degree + b.degree, a.at);
  }

  Change product(const ScalarExpression& e) const {
    double constant = 1;
    Change total;
    bool first = true;
    for (const auto& argument : e.arguments()) {
      if (argument->is_constant()) {
        constant *= argument->real_value();
        continue;
      }
      const auto change = of(*argument);
      total = first ? change : multiplied(total, change);
      first = false;
    }
    return constant == 0 ? Change{.zero = true} : scaled(total, constant);
  }

  Change quotient(const ScalarExpression& e) const {
    const auto numerator = of(*e.arguments()[0]);
    const auto& divisor = *e.arguments()[1];
    if (divisor.is_constant()) return scaled(numerator, 1 / divisor.real_value());
    return multiplied(numerator, power(of(divisor), -1));
  }

  Change branches(const ScalarExpression& e) const {
    const auto& a = e.arguments();
    auto common = of(*a.back());
    for (std::size_t n = 1; n < a.size(); n += 2) {
      const auto branch = of(*a[n]);
      if (common.zero && !branch.is(Form::Increase)) common = branch;
      else if (!(branch.zero && !common.is(Form::Increase)) && !(branch == common)) return Change::other();
    }
    return common;
  }

  const std::vector<Change>& operands_;
  const std::vector<bool>& raw_;
  bool guarded_;
};

class ShiftAnalysis {
 public:
  ShiftAnalysis(const EinGraph& graph, std::vector<bool> shifted, VertexId result, bool guarded)
      : graph_(graph), shifted_(std::move(shifted)), result_(result), guarded_(guarded), changes_(graph.size()) {}

  bool leaves_result() {
    for (std::size_t n = 0; n <= result_.index(); ++n) {
      const auto& vertex = graph_.vertices()[n];
      if (shifted_[n]) changes_[n] = Change::increase(1, vertex.einsum.output);
      else if (!vertex.is_input()) changes_[n] = change_of(vertex);
    }
    return changes_[result_.index()].is(Form::None);
  }

 private:
  // The change of an input in the labels with which the vertex reads it.
  Change read(VertexId input, const Labels& labels) const {
    auto change = changes_[input.index()];
    const auto& head = graph_.vertex(input).einsum.output;
    for (auto& label : change.at)
      label = labels[static_cast<std::size_t>(std::find(head.begin(), head.end(), label) - head.begin())];
    return change;
  }

  Change change_of(const Vertex& vertex) const {
    std::vector<Change> operands;
    std::vector<bool> raw;
    bool any = false;
    for (std::size_t n = 0; n < vertex.inputs.size(); ++n) {
      operands.push_back(read(vertex.inputs[n], vertex.einsum.inputs[n]));
      raw.push_back(shifted_[vertex.inputs[n].index()]);
      any = any || !operands.back().is(Form::None);
    }
    if (!any) return {};
    auto change = aggregated(vertex, ExpressionChange(operands, raw, guarded_).of(*vertex.einsum.expression));
    change.zero = false;
    return vertex.dtype == DType::Int64 && !change.is(Form::None) ? Change::other() : change;
  }

  Change aggregated(const Vertex& vertex, const Change& each) const {
    const auto& einsum = vertex.einsum;
    if (each.is(Form::None) || each.is(Form::Other)) return each;
    if (!difference(each.at, einsum.output).empty()) return Change::other();
    double count = 1;
    for (const auto label : einsum.aggregated) count *= static_cast<double>(graph_.labels().extent(label));
    switch (einsum.aggregate) {
      case Aggregate::Sum: return each.is(Form::Factor) ? each : Change::increase(each.degree * count, each.at);
      case Aggregate::Prod:
        return each.is(Form::Factor) ? Change::factor(each.degree * count, each.at) : Change::other();
      case Aggregate::Block:
      case Aggregate::User: return Change::other();
      default: return each;
    }
  }

  const EinGraph& graph_;
  std::vector<bool> shifted_;
  VertexId result_;
  bool guarded_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<bool> cancelled_extremes(const EinGraph& graph, VertexId result) {
  CHECK(result.index() < graph.size(), "a result is a vertex of the graph");
  std::vector<bool> cancelled(graph.size(), false);
  std::vector<bool> seen(graph.size(), false);
  for (std::size_t n = 0; n <= result.index(); ++n) {
    if (seen[n] || !is_extreme(graph.vertices()[n])) continue;
    std::vector<bool> group(graph.size(), false);
    for (auto m = n; m <= result.index(); ++m)
      group[m] = is_extreme(graph.vertices()[m]) && same_value(graph.vertices()[n], graph.vertices()[m]);
    const bool cancels = ShiftAnalysis(graph, group, result, false).leaves_result() ||
                         ShiftAnalysis(graph, group, result, true).leaves_result();
    for (auto m = n; m <= result.index(); ++m) {
      if (!group[m]) continue;
      seen[m] = true;
      cancelled[m] = cancels;
    }
  }
  return cancelled;
}

}  // namespace eindb
