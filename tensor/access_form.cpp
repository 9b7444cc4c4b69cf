#include "tensor/access_form.hpp"

#include <algorithm>

#include "common/check.hpp"
#include "common/checked_math.hpp"

namespace eindb {
namespace {

using Kind = ScalarExpression::Kind;

// An affine function of label values with whole coefficients.
struct Affine {
  std::vector<std::pair<Label, std::int64_t>> coefficients;
  std::int64_t offset = 0;
};

std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}

// a + factor * b
std::optional<Affine> combined(Affine a, const Affine& b, std::int64_t factor) {
  const auto offset = product(b.offset, factor);
  const auto total = offset ? sum(a.offset, *offset) : std::nullopt;
  if (!total) return std::nullopt;
  a.offset = *total;
  for (const auto& [label, coefficient] : b.coefficients) {
    const auto more = product(coefficient, factor);
    if (!more) return std::nullopt;
    const auto known = std::find_if(a.coefficients.begin(), a.coefficients.end(),
                                    [label = label](const auto& entry) { return entry.first == label; });
    if (known == a.coefficients.end()) {
      a.coefficients.emplace_back(label, *more);
      continue;
    }
    const auto both = sum(known->second, *more);
    if (!both) return std::nullopt;
    known->second = *both;
  }
  return a;
}

std::optional<Affine> affine_of(const ScalarExpression& e);

std::optional<Affine> affine_sum(const ScalarExpression& e, std::int64_t sign_of_others) {
  Affine total;
  for (std::size_t n = 0; n < e.arguments().size(); ++n) {
    const auto part = affine_of(*e.arguments()[n]);
    auto next = part ? combined(std::move(total), *part, n == 0 ? 1 : sign_of_others) : std::nullopt;
    if (!next) return std::nullopt;
    total = *std::move(next);
  }
  return total;
}

// At most one factor has labels.
std::optional<Affine> affine_product(const ScalarExpression& e) {
  Affine total{{}, 1};
  for (const auto& argument : e.arguments()) {
    const auto part = affine_of(*argument);
    if (!part || (!part->coefficients.empty() && !total.coefficients.empty())) return std::nullopt;
    auto next = part->coefficients.empty() ? combined({}, total, part->offset) : combined({}, *part, total.offset);
    if (!next) return std::nullopt;
    total = *std::move(next);
  }
  return total;
}

std::optional<Affine> affine_of(const ScalarExpression& e) {
  if (e.kind() == Kind::Integer) return Affine{{}, e.integer_value()};
  if (e.kind() == Kind::LabelIndex) return Affine{{{e.label(), 1}}, 0};
  if (e.is_call(ScalarOp::Add)) return affine_sum(e, 1);
  if (e.is_call(ScalarOp::Subtract)) return affine_sum(e, -1);
  if (e.is_call(ScalarOp::Multiply)) return affine_product(e);
  if (e.is_call(ScalarOp::Negate)) {
    const auto part = affine_of(*e.arguments()[0]);
    return part ? combined({}, *part, -1) : std::nullopt;
  }
  return std::nullopt;
}

bool is_zero_constant(const ScalarExpression& e) { return e.is_constant() && e.real_value() == 0; }

// Collects the conditions of a conjunction. A truth value is the same in any type.
void collect_conditions(const ScalarExpression& e, std::vector<const ScalarExpression*>& out) {
  if (e.kind() == Kind::Call && converts_to(e.op())) return collect_conditions(*e.arguments()[0], out);
  if (!e.is_call(ScalarOp::And)) return out.push_back(&e);
  for (const auto& argument : e.arguments()) collect_conditions(*argument, out);
}

// An operand's element, or some bits of it: element, element >> shift, element & mask, element >> shift & mask.
std::optional<DeterminedLabel> packed_index(Label label, const ScalarExpression& index) {
  const auto constant = [](const ScalarExpression& e, std::int64_t least) {
    return e.kind() == Kind::Integer && e.integer_value() >= least ? std::optional(e.integer_value()) : std::nullopt;
  };
  DeterminedLabel out{.label = label};
  const auto* element = &index;
  if (element->is_call(ScalarOp::BitAnd) && element->arguments().size() == 2) {
    const auto mask = constant(*element->arguments()[1], 0);
    if (!mask) return std::nullopt;
    out.mask = *mask;
    element = element->arguments()[0].get();
  }
  if (element->is_call(ScalarOp::ShiftRight)) {
    const auto shift = constant(*element->arguments()[1], 0);
    if (!shift || *shift > 63) return std::nullopt;
    out.shift = *shift;
    element = element->arguments()[0].get();
  }
  if (element->kind() != Kind::Operand) return std::nullopt;
  out.operand = element->operand();
  return out;
}

// The label that label = index determines, one way or the other.
std::optional<DeterminedLabel> determined_by(const ScalarExpression& label, const ScalarExpression& index) {
  if (label.kind() != Kind::LabelIndex) return std::nullopt;
  if (auto packed = packed_index(label.label(), index)) return packed;
  auto affine = affine_of(index);
  if (!affine) return std::nullopt;
  std::erase_if(affine->coefficients, [](const auto& entry) { return entry.second == 0; });
  return DeterminedLabel{
      .label = label.label(), .coefficients = std::move(affine->coefficients), .offset = affine->offset};
}

// Of two labels that determine each other, the one that is aggregated is taken: the result is then written in order.
std::optional<DeterminedLabel> determined_by(const EinSum& einsum, const ScalarExpression& equation) {
  const auto& sides = equation.arguments();
  auto first = determined_by(*sides[0], *sides[1]);
  if (first && contains(einsum.aggregated, first->label)) return first;
  auto second = determined_by(*sides[1], *sides[0]);
  if (second && contains(einsum.aggregated, second->label)) return second;
  return first ? first : second;
}

// The labels from which an index follows.
Labels labels_behind(const EinSum& einsum, const DeterminedLabel& determined) {
  if (determined.operand) return einsum.inputs[*determined.operand];
  Labels labels;
  for (const auto& [label, coefficient] : determined.coefficients) labels.push_back(label);
  return labels;
}

std::optional<AlignedLabels> aligned_label(const DeterminedLabel& determined, const LabelTable& labels) {
  const auto& coefficients = determined.coefficients;
  if (determined.operand || determined.offset != 0 || coefficients.empty()) return std::nullopt;
  const auto& [major, span] = *std::max_element(coefficients.begin(), coefficients.end(),
                                                [](const auto& a, const auto& b) { return a.second < b.second; });
  std::int64_t rest = 0;  // the greatest
  for (const auto& [label, coefficient] : coefficients) {
    if (coefficient < 0) return std::nullopt;
    if (label == major) continue;
    const auto most = product(coefficient, std::max<std::int64_t>(labels.extent(label), 1) - 1);
    const auto total = most ? sum(rest, *most) : std::nullopt;
    if (!total || *total >= span) return std::nullopt;
    rest = *total;
  }
  const auto extent = product(span, labels.extent(major));
  if (!extent) return std::nullopt;
  return AlignedLabels{.label = determined.label, .major = major, .extent = *extent};
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> DeterminedLabel::bounds(const Labels& labels,
                                                                             std::span<const PartRange> ranges) const {
  CHECK(!operand, "the bounds of an index that an operand has are not known");
  CHECK(labels.size() == ranges.size(), "every label has a range");
  std::optional<std::int64_t> least = offset;
  std::optional<std::int64_t> most = offset;
  for (const auto& [behind, coefficient] : coefficients) {
    const auto place = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), behind) - labels.begin());
    CHECK(place < labels.size(), "the labels that determine an index have ranges");
    const auto& range = ranges[place];
    const auto first = product(coefficient, range.begin);
    const auto last = product(coefficient, range.begin + std::max<std::int64_t>(range.size, 1) - 1);
    if (!first || !last || !least || !most) return std::nullopt;
    least = sum(*least, std::min(*first, *last));
    most = sum(*most, std::max(*first, *last));
  }
  if (!least || !most) return std::nullopt;
  return std::pair(*least, *most);
}

bool AccessForm::determines(Label label) const {
  return std::any_of(determined.begin(), determined.end(), [&](const auto& index) { return index.label == label; });
}

bool AccessForm::gathers() const {
  return std::any_of(determined.begin(), determined.end(), [](const auto& index) { return index.operand.has_value(); });
}

std::optional<AccessForm> access_form(const EinSum& einsum) {
  if (einsum.aggregate != Aggregate::Sum || !einsum.expression->is_call(ScalarOp::Case)) return std::nullopt;
  const auto& arguments = einsum.expression->arguments();
  if (arguments.size() != 3 || arguments[1]->kind() != Kind::Operand || !is_zero_constant(*arguments[2]))
    return std::nullopt;
  AccessForm form{.source = arguments[1]->operand(), .determined = {}};
  std::vector<const ScalarExpression*> conditions;
  collect_conditions(*arguments[0], conditions);
  for (const auto* condition : conditions) {
    if (!condition->is_call(ScalarOp::Equal)) return std::nullopt;
    auto determined = determined_by(einsum, *condition);
    if (!determined || form.determines(determined->label) || determined->operand == form.source) return std::nullopt;
    form.determined.push_back(*std::move(determined));
  }
  for (const auto& determined : form.determined)
    for (const auto label : labels_behind(einsum, determined))
      if (form.determines(label)) return std::nullopt;
  for (std::size_t n = 0; n < einsum.inputs.size(); ++n) {
    const bool is_index = std::any_of(form.determined.begin(), form.determined.end(),
                                      [&](const auto& determined) { return determined.operand == n; });
    if (n != form.source && !is_index) return std::nullopt;
  }
  return form;
}

std::optional<std::size_t> operand_of_rows(const AccessForm& form, const EinSum& einsum) {
  if (form.determined.empty() || form.determined.size() != einsum.aggregated.size()) return std::nullopt;
  const auto operand = form.determined.front().operand;
  const bool is_of_one = operand && std::all_of(form.determined.begin(), form.determined.end(), [&](const auto& index) {
                           return index.operand == operand && contains(einsum.aggregated, index.label);
                         });
  if (!is_of_one) return std::nullopt;
  const auto& labels = einsum.inputs[*operand];
  const bool has_repeats = std::any_of(
      labels.begin(), labels.end(), [&](Label label) { return std::count(labels.begin(), labels.end(), label) > 1; });
  return has_repeats ? std::nullopt : operand;
}

std::optional<AlignedLabels> aligned_labels(const EinSum& einsum, const LabelTable& labels) {
  if (einsum.expression == nullptr) return std::nullopt;
  const auto form = access_form(einsum);
  if (!form) return std::nullopt;
  std::optional<AlignedLabels> best;
  for (const auto& determined : form->determined) {
    const auto found = aligned_label(determined, labels);
    const auto has_both = [&](const Labels& list) {
      return contains(list, found->label) && contains(list, found->major);
    };
    if (!found || has_both(einsum.output) || std::any_of(einsum.inputs.begin(), einsum.inputs.end(), has_both))
      continue;
    if (!best || found->extent > best->extent) best = found;
  }
  return best;
}

std::optional<AccessForm> window_form(const EinSum& einsum, const LabelTable& labels) {
  if (einsum.inputs.size() != 1 || einsum.epilogue != nullptr || einsum.expression == nullptr) return std::nullopt;
  auto form = access_form(einsum);
  if (!form || form->gathers()) return std::nullopt;
  for (const auto& determined : form->determined) {
    if (contains(einsum.output, determined.label)) return std::nullopt;
    for (const auto& [label, coefficient] : determined.coefficients)
      if (coefficient < 0) return std::nullopt;
  }
  double cells = 1;
  for (const auto label : einsum.output) cells *= static_cast<double>(labels.extent(label));
  double framed = 1;  // cells of the copy, if there is one
  bool leaves = false;
  std::vector<PartRange> whole;
  for (const auto label : einsum.labels()) whole.push_back({0, labels.extent(label)});
  for (const auto label : einsum.inputs[0]) {
    const auto index = std::find_if(form->determined.begin(), form->determined.end(),
                                    [&](const auto& determined) { return determined.label == label; });
    if (index == form->determined.end()) {
      framed *= static_cast<double>(labels.extent(label));
      continue;
    }
    const auto bounds = index->bounds(einsum.labels(), whole);
    if (!bounds) return std::nullopt;
    framed *= static_cast<double>(bounds->second) - static_cast<double>(bounds->first) + 1;
    leaves = leaves || bounds->first < 0 || bounds->second >= labels.extent(label);
  }
  if (leaves && framed > cells) return std::nullopt;
  const bool sums_nothing = std::all_of(einsum.aggregated.begin(), einsum.aggregated.end(),
                                        [&](Label label) { return form->determines(label); });
  return sums_nothing ? form : std::nullopt;
}

}  // namespace eindb
