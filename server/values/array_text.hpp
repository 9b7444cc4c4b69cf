#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// Elements of an array of one dimension; nullopt is NULL.
using ArrayElements = std::vector<std::optional<std::string>>;

/// Reads PostgreSQL's text of an array, {a,"b c",NULL}, or of a vector, "1 2". Takes any text, in linear time: what is
/// missing at the end is taken as there, and the braces of inner arrays are left out.
ArrayElements read_array(std::string_view text);
/// Whether the text is that of a vector, whose elements count from 0, not of an array, where they count from 1.
bool is_vector(std::string_view text);
/// The text of an array; elements are quoted where they must be.
std::string write_array(const ArrayElements& elements);

}  // namespace eindb
