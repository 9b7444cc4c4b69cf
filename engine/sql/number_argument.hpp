#pragma once

#include <optional>
#include <string_view>

#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// The number; nullopt for NULL. Error{Type} for texts and bytes, naming the function.
std::optional<double> number_argument(const SqliteValue& value, std::string_view function);

}  // namespace eindb
