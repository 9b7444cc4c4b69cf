#pragma once

#include <cstdint>
#include <string>

#include "shell/shell.hpp"

namespace eindb {

struct CsvImport {
  std::string file;
  std::string table;
  char separator = ',';
  bool has_header = true;  ///< the first line has the names of columns, in any order
};

/// Adds the rows of a file to an ordinary table, all or none, and returns how many there are. A value without quotes
/// and without characters is NULL. A table that is not there is made, in the same transaction: its columns are INTEGER
/// or REAL where all values in the file are such numbers, else TEXT.
///
/// Throws Error with the file's line for rows that are too long or too short; Error{Type} for a tensor; what
/// Session::load throws.
std::int64_t import_csv(Shell& shell, const CsvImport& request);

}  // namespace eindb
