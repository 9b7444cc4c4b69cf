#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/dialect/sql_type.hpp"

namespace eindb {

/// The elements of a one-dimensional array; nullopt is NULL.
using ArrayElements = std::vector<std::optional<std::string>>;

/// Reads PostgreSQL's text of an array, {a,"b c",NULL}, or of a vector, "1 2". Accepts any text, in linear time: a
/// missing end is assumed, and the braces of inner arrays are ignored.
ArrayElements read_array(std::string_view text);
/// The text of an array of values of the type, each in the form in which arrays keep it: "{1, 2}" is "{1,2}". Inner
/// arrays stay. Any: elements are not looked at. Throws CodedError: 22P02 for a text that is no array, 54000 for more
/// than six dimensions, and what is thrown for an element that is no value of the type.
std::string checked_array(std::string_view text, dialect::SqlType element);
/// Whether the text is that of a vector, whose indices begin at 0, rather than of an array, whose indices begin at 1.
bool is_vector(std::string_view text);
/// The text of an array; elements are quoted if necessary.
std::string write_array(const ArrayElements& elements);

}  // namespace eindb
