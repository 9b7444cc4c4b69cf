#include "tensor/cell_move.hpp"

#include <algorithm>

#include "tensor/access_form.hpp"

namespace eindb {
namespace {

std::optional<CellMove::Turn> turn_of(const DeterminedLabel& determined, std::size_t dimension, const EinSum& einsum,
                                      const std::vector<bool>& of_cells) {
  CellMove::Turn turn{.dimension = dimension, .offset = determined.offset};
  if (determined.operand) {
    const auto& labels = einsum.inputs[*determined.operand];
    if (of_cells[*determined.operand] || labels.size() != 1 || determined.shift != 0 || determined.mask != -1)
      return std::nullopt;
    turn.label = labels.front();
    turn.offset = 0;
    turn.indices = determined.operand;
    return turn;
  }
  if (determined.coefficients.size() > 1) return std::nullopt;
  if (determined.coefficients.empty()) return turn;
  const auto& [label, coefficient] = determined.coefficients.front();
  turn.label = label;
  turn.coefficient = coefficient;
  return turn;
}

std::optional<CellMove> move_of_diagonal(const EinSum& einsum) {
  CellMove move;
  const auto& dimensions = einsum.inputs.front();
  for (std::size_t d = 0; d < dimensions.size(); ++d) move.turns.push_back({.dimension = d, .label = dimensions[d]});
  return move;
}

}  // namespace

bool is_diagonal(const EinSum& einsum) {
  return einsum.inputs.size() == 1 && einsum.aggregate == Aggregate::None && einsum.epilogue == nullptr &&
         einsum.expression != nullptr && einsum.expression->kind() == ScalarExpression::Kind::Operand &&
         einsum.inputs.front().size() > einsum.output.size() &&
         std::all_of(einsum.output.begin(), einsum.output.end(),
                     [&](Label label) { return contains(einsum.inputs.front(), label); });
}

std::optional<CellMove> cell_move(const EinSum& einsum, const std::vector<bool>& of_cells) {
  if (einsum.output.empty() || einsum.expression == nullptr) return std::nullopt;
  if (is_diagonal(einsum)) return of_cells.front() ? move_of_diagonal(einsum) : std::nullopt;
  const auto form = access_form(einsum);
  if (!form || !of_cells[form->source] || std::count(of_cells.begin(), of_cells.end(), true) != 1) return std::nullopt;
  CellMove move{.source = form->source, .turns = {}};
  const auto& dimensions = einsum.inputs[form->source];
  for (const auto label : einsum.aggregated)
    if (!form->determines(label) || !contains(dimensions, label)) return std::nullopt;
  bool gathers = false;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    const auto determined = std::find_if(form->determined.begin(), form->determined.end(),
                                         [&](const auto& index) { return index.label == dimensions[d]; });
    if (determined == form->determined.end()) {
      move.turns.push_back({.dimension = d, .label = dimensions[d]});
      continue;
    }
    if (contains(einsum.output, dimensions[d])) return std::nullopt;
    const auto turn = turn_of(*determined, d, einsum, of_cells);
    if (!turn || (turn->indices && gathers)) return std::nullopt;
    gathers = gathers || turn->indices;
    move.turns.push_back(*turn);
  }
  for (const auto label : einsum.output) {
    const auto turns_of_label = [&](bool with_indices) {
      return std::count_if(move.turns.begin(), move.turns.end(), [&](const auto& turn) {
        return turn.label == label && turn.indices.has_value() == with_indices;
      });
    };
    const auto gathered = turns_of_label(true);
    if (gathered + turns_of_label(false) == 0 || (gathered > 0 && turns_of_label(false) > 0)) return std::nullopt;
  }
  return move;
}

}  // namespace eindb
