#pragma once

#include <cstdint>
#include <eindb/eindb.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sqlite/host.hpp"

namespace eindb_sqlite {

/// An operand of an einsum as it was named, and what becomes of it on the way to eindb's statement.
struct EinsumOperand {
  std::string text;                                  // without extents
  std::optional<std::vector<std::int64_t>> extents;  // as given
  bool is_stored = false;                            // a tensor of the file
  std::string term;                    // its subscripts; empty, or with an ellipsis, if not known one by one
  std::string name;                    // in eindb's statement
  std::vector<std::string> columns;    // of a table, the value's included
  std::vector<std::int64_t> indices;   // of a table, row by row
  std::vector<double> reals;           // its values, if some of them is no integer
  std::vector<std::int64_t> integers;  // else
  bool has_reals = false;
  bool is_sparse = false;  // a table that becomes a tensor, and no array
  std::vector<std::int64_t> shape;

  std::size_t rank() const { return columns.size() - 1; }
  std::size_t rows() const { return integers.size(); }
  bool has_labels() const { return term.find('.') == std::string::npos; }
};

/// Takes extents from the end of the operand's text: "A(3, 4)" -> A, 3 and 4.
void take_extents(EinsumOperand& operand);

/// Runs the operand's query, which is its name so far, and notes columns, indices and values. HostError for rows that
/// are no cells, and if there are more or fewer columns than its subscripts have.
void read_rows(sqlite3* host, EinsumOperand& operand);

/// The place of each row's cell in a row-major array of the operand's shape; modulo 2^64 where that is larger.
/// HostError for an index beyond the shape, and two rows for one cell.
std::vector<std::int64_t> places_of(const EinsumOperand& operand);
/// Makes an array of `count` elements of the rows' values, `reals` or `integers`.
void make_array(EinsumOperand& operand, const std::vector<std::int64_t>& places, std::int64_t count);
/// Makes a tensor of the rows in the database, by the operand's name.
void load_tensor(eindb::Connection& connection, const EinsumOperand& operand);

}  // namespace eindb_sqlite
