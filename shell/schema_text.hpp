#pragma once

#include <string>
#include <vector>

#include "shell/shell.hpp"

namespace eindb {

/// The statement that makes a tensor, without its values, and a line end.
std::string tensor_schema(Shell& shell, const std::string& name);

/// The statements that make the macro of that name, or all macros for an empty name; with line ends.
std::vector<std::string> macro_schemas(Shell& shell, const std::string& name);

/// The condition by which `sqlite_schema` has a user's own things: names with `eindb_` and `sqlite_` are reserved.
constexpr const char* kOrdinary = "name NOT LIKE 'eindb!_%' ESCAPE '!' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'";

}  // namespace eindb
