#pragma once

#include <string>

#include "shell/shell.hpp"

namespace eindb {

/// The most cells of a tensor that a dump has as statements.
constexpr std::int64_t kMostDumpedCells = 1'000'000;

/// Writes statements that make the database again, in one state of it: macros, tensors with INSERT INTO TENSOR for
/// their cells other than zero, tables with their rows, indexes, triggers and views; not the users. With a name, only
/// the tensor, or the table with its indexes and triggers, or the view of that name.
///
/// Throws Error{UnknownName}, and Error{Value} before anything is written for what statements cannot hold: a tensor
/// with more cells than kMostDumpedCells, a virtual table.
void write_dump(Shell& shell, const std::string& name);

}  // namespace eindb
