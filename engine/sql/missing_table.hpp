#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/tensor_tables.hpp"
#include "common/error.hpp"

namespace eindb {

/// The text between `before` and `after` in a message of SQLite; nullopt if the message has another form.
std::optional<std::string> text_between(std::string_view message, std::string_view before, std::string_view after);

/// The table that SQLite did not find, as SQLite names it: A, or main.A in a view.
std::optional<std::string> missing_table(const Error& error);
std::string without_schema(const std::string& name);

/// Makes the tensor visible that SQLite did not find; false if the error says something else, or there is none.
bool show_missing(const Error& error, TensorTables& tensors);

}  // namespace eindb
