#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// Words that NumPy, SQL and other shells use where eindb has others, and what to write instead: hints for errors.
/// Each gives an empty text for a word that it does not know. Without regard to case.

/// For a function that does not exist: AVG is MEAN.
std::string hint_for_function(std::string_view name);
/// For the first word of what is no statement: LOAD is COPY ... FROM.
std::string hint_for_statement(std::string_view word);
/// For a word that follows an expression as if it were an operator: BETWEEN, IS, OVER.
std::string hint_for_operator(std::string_view word);
/// For a name that is neither a label nor a tensor: NULL, TRUE.
std::string hint_for_value(std::string_view name);

}  // namespace eindb
