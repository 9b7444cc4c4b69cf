#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/cells/cell_walk.hpp"
#include "tensor/index_names.hpp"

struct sqlite3_value;

namespace eindb {

/// A SQL condition on an index of a tensor: `i < ?`.
enum class Comparison : std::uint8_t { Equal, Less, LessEqual, Greater, GreaterEqual, IsNull };

/// The comparison of SQLite's SQLITE_INDEX_CONSTRAINT_ number; nullopt if it does not bound a range.
std::optional<Comparison> comparison_of(int constraint);
/// "=", "<", ...
std::string_view symbol_of(Comparison comparison);

/// The part of `range` whose indices satisfy the condition, exactly as SQLite compares a column of type INTEGER: text
/// that reads as a number counts as one, other text and blobs are larger than all numbers, and NULL satisfies nothing.
/// Example: i < 1.5 and i < '1.5' keep 0 and 1; i = 1.5 nothing; i < 'x' everything.
IndexRange restrict(IndexRange range, Comparison comparison, sqlite3_value* value);

/// Likewise of indices with names, which SQL compares as texts. What is left may be too much: SQLite checks the
/// conditions, too. Names that do not ascend are restricted by Equal and IsNull alone.
IndexRange restrict(IndexRange range, Comparison comparison, sqlite3_value* value, const IndexNames& names);

}  // namespace eindb
