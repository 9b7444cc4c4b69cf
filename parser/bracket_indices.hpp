#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The kinds of indices that select along one dimension of a tensor in SQL's FROM X[0:10,3,j].
enum class BracketIndex : std::uint8_t {
  Held,   ///< a whole number or a parameter, $1: the dimension is no column
  Range,  ///< 0:10, ::2, `:`
  Label,  ///< a name, which its column gets
  Other   ///< anything else, such as i + 1
};

/// The texts between the commas of a bracket, without spaces around them; commas in brackets or parentheses inside it
/// are no such commas.
std::vector<std::string> bracket_indices(std::string_view bracket);
BracketIndex kind_of_index(std::string_view index);

}  // namespace eindb
