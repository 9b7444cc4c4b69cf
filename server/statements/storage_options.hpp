#pragma once

#include <string>
#include <string_view>

namespace eindb {

/// A CREATE TABLE with spaces in place of what only says how PostgreSQL stores the table: UNLOGGED, USING heap, WITH
/// (fillfactor = 70), TABLESPACE x. Places in it are those in `text`. Other statements are left as they are, and so are
/// options that are not known: SQLite refuses them. Thread-safe.
std::string without_storage_options(std::string_view text);

}  // namespace eindb
