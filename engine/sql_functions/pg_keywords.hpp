#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// Whether a name that is this word, in lower case, needs quotes in PostgreSQL's SQL.
bool must_be_quoted(std::string_view word);

/// All keywords of PostgreSQL as a JSON object, each with the letter of its category: {"abort": "U", "all": "R"}.
std::string keywords_as_json();

}  // namespace eindb
