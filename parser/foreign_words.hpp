#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// Words of NumPy, SQL and other shells with their equivalents in eindb, as hints for errors. Each function returns an
/// empty text for an unknown word. Case is ignored.

/// For an unknown function: AVG is MEAN.
std::string hint_for_function(std::string_view name);
/// For the first word of an unknown statement: LOAD is COPY ... FROM.
std::string hint_for_statement(std::string_view word);
/// For a word used like an operator after an expression: BETWEEN, IS, OVER.
std::string hint_for_operator(std::string_view word);
/// For a name that is neither a label nor a tensor: NULL, TRUE.
std::string hint_for_value(std::string_view name);

}  // namespace eindb
