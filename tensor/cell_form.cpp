#include "tensor/cell_form.hpp"

#include <algorithm>

#include "tensor/access_form.hpp"
#include "tensor/cell_move.hpp"
#include "tensor/scalar_types.hpp"
#include "tensor/scalar_value.hpp"
#include "tensor/scan_form.hpp"

namespace eindb {
namespace {

bool has_distinct_labels(const Labels& labels) { return DistinctLabels(labels).labels().size() == labels.size(); }

bool have_same_labels(const Labels& a, const Labels& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](Label label) { return contains(b, label); });
}

// Whether the kernel of cells has the aggregate and the operands.
bool is_joined_by_cells(const EinSum& einsum, std::span<const DType> types, const std::vector<bool>& of_cells) {
  using enum Aggregate;
  constexpr std::size_t kMostLabels = 63;
  if (einsum.labels().size() > kMostLabels) return false;
  if (einsum.aggregate == LogSumExp || einsum.aggregate == Block || einsum.aggregate == User ||
      has_place(einsum.aggregate))
    return false;
  bool has_any = false;
  for (std::size_t n = 0; n < of_cells.size(); ++n) {
    if (!of_cells[n]) continue;
    if (einsum.inputs[n].empty()) return false;
    if (!has_distinct_labels(einsum.inputs[n]) && !is_diagonal(einsum)) return false;
    has_any = true;
  }
  if (!has_any) return false;
  const auto compute = written_type(*einsum.expression, types);
  return (!access_form(einsum) || cell_move(einsum, of_cells)) && !(compute && scan_form(einsum, *compute));
}

bool leaves_nothing(const EinSum& einsum, std::span<const OperandFacts> facts, std::span<const DType> types,
                    Zero least) {
  if (changes_nothing(einsum, facts, types)) return true;
  return einsum.aggregate == Aggregate::None && least == Zero::EitherSign &&
         zero_of(*einsum.expression, facts, types) != Zero::Unknown;
}

// f(0) of an EinSum with one operand; nullopt if the value differs from point to point.
std::optional<ScalarValue> rest_of_one(const EinSum& einsum, std::span<const DType> types) {
  if (einsum.inputs.size() != 1) return std::nullopt;
  const OperandFacts zero{.zero = true};
  return constant_of(*einsum.expression, std::span(&zero, 1), types);
}

// Whether the points that an intersection leaves out are zeros, of which one is as good as all.
bool has_zero_rest(const EinSum& einsum, std::span<const OperandFacts> facts, std::span<const DType> types,
                   const std::vector<bool>& of_cells) {
  if (einsum.inputs.size() == 1) return false;
  if (einsum.aggregate != Aggregate::Min && einsum.aggregate != Aggregate::Max) return false;
  for (std::size_t n = 0; n < of_cells.size(); ++n) {
    if (!of_cells[n]) continue;
    std::vector<OperandFacts> alone(facts.begin(), facts.end());
    alone[n].zero = true;
    if (zero_of(*einsum.expression, alone, types) == Zero::Unknown) return false;
  }
  return true;
}

// Whether a value is aggregated once for all points that have it, or as a multiple.
bool has_rest(const EinSum& einsum, std::span<const DType> types) {
  if (einsum.aggregate == Aggregate::None || einsum.inputs.size() != 1) return false;
  if (!have_same_labels(einsum.labels(), einsum.inputs.front())) return false;
  const auto rest = rest_of_one(einsum, types);
  if (!rest) return false;
  const bool is_idempotent = rest->visit([](auto v) { return v == decltype(v)(0) || v == decltype(v)(1); });
  return einsum.aggregate != Aggregate::Prod || is_idempotent;
}

}  // namespace

std::optional<CellPattern> cell_pattern(const EinSum& einsum, std::span<const DType> operand_types,
                                        const std::vector<bool>& of_cells, std::span<const OperandFacts> given,
                                        Zero least) {
  if (!is_joined_by_cells(einsum, operand_types, of_cells)) return std::nullopt;
  std::vector<OperandFacts> facts(given.begin(), given.end());
  // Cells leave zeros between them.
  for (std::size_t n = 0; n < of_cells.size(); ++n) facts[n].nonzero = facts[n].nonzero && !of_cells[n];
  auto together = facts;
  bool is_intersection = true;
  bool is_union = true;
  const auto first = static_cast<std::size_t>(std::find(of_cells.begin(), of_cells.end(), true) - of_cells.begin());
  for (std::size_t n = 0; n < of_cells.size(); ++n) {
    if (!of_cells[n]) continue;
    auto alone = facts;
    alone[n].zero = together[n].zero = true;
    is_intersection = is_intersection && leaves_nothing(einsum, alone, operand_types, least);
    is_union = is_union && have_same_labels(einsum.inputs[n], einsum.inputs[first]);
  }
  if (is_intersection) return CellPattern::Intersection;
  if (is_union && leaves_nothing(einsum, together, operand_types, least)) return CellPattern::Union;
  if (has_rest(einsum, operand_types) || has_zero_rest(einsum, facts, operand_types, of_cells))
    return CellPattern::WithRest;
  return std::nullopt;
}

std::optional<ScalarValue> rest_of(const EinSum& einsum, std::span<const DType> operand_types) {
  if (einsum.inputs.size() == 1) return rest_of_one(einsum, operand_types);
  return ScalarValue(std::int64_t{0}, written_type(*einsum.expression, operand_types).value_or(DType::Float64));
}

std::vector<OperandFacts> harmless_facts(std::size_t operands) {
  return std::vector<OperandFacts>(operands, {.zero = false, .magnitude = 0, .nonzero = true});
}

bool leaves_zeros(const EinSum& einsum, const LabelTable& labels, std::span<const DType> operand_types,
                  CellPattern pattern) {
  if (pattern != CellPattern::WithRest) return true;
  for (const auto label : einsum.aggregated)
    if (labels.extent(label) == 0) return false;
  const auto rest = rest_of(einsum, operand_types);
  return einsum.aggregate != Aggregate::Sum && rest && rest->visit([](auto v) { return v == decltype(v)(0); });
}

}  // namespace eindb
