#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace eindb_python {

/// A label is a letter of the subscripts, a number of a sublist, or, from kEllipsisLabels on, the number of a dimension
/// that an ellipsis stands for, counted from the right.
using Label = std::int32_t;
inline constexpr Label kEllipsis = -1;
inline constexpr Label kEllipsisLabels = 0x200000;

/// The subscripts of an einsum as they are written. A term may have one kEllipsis.
struct Equation {
  std::vector<std::vector<Label>> terms;
  std::optional<std::vector<Label>> output;  ///< nullopt: the labels that occur once, in their order
};

/// Reads "ij,jk->ik". Spaces are ignored. Throws std::invalid_argument for what NumPy refuses.
Equation parse_subscripts(std::u32string_view text);

/// The label as messages name it.
std::string label_text(Label label);

/// Puts labels in the place of the ellipses of an equation whose operands have so many dimensions, and gives it an
/// output. Throws std::invalid_argument where terms and dimensions do not fit, or the output has a label twice, or one
/// that no term has.
void resolve(Equation& equation, const std::vector<std::size_t>& ranks);

}  // namespace eindb_python
