#include "parser/table_position.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/check.hpp"
#include "common/letter_case.hpp"

namespace eindb {

bool TablePosition::ends_tables(const Token& token) {
  constexpr std::array<std::string_view, 12> kWords{"SELECT", "WHERE", "GROUP",     "HAVING", "WINDOW", "ORDER",
                                                    "LIMIT",  "UNION", "INTERSECT", "EXCEPT", "SET",    "RETURNING"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) { return token.is_word(word); });
}

void TablePosition::see(const Token& token) {
  const bool table = takes_table();
  if (token.is_symbol('(')) in_tables_.push_back(table);
  else if (token.is_symbol(')') && in_tables_.size() > 1) in_tables_.pop_back();
  else if (token.is_word("JOIN")) in_tables_.back() = true;
  else if (token.is_word("FROM")) in_tables_.back() = !last_.is_word("DISTINCT");  // a IS DISTINCT FROM b
  else if (ends_tables(token)) in_tables_.back() = false;
  last_ = token;
}

bool TablePosition::takes_table() const {
  DCHECK(!in_tables_.empty(), "there is a list of tables to be in outside of parentheses");
  return in_tables_.back() &&
         (last_.is_word("FROM") || last_.is_word("JOIN") || last_.is_symbol(',') || last_.is_symbol('('));
}

bool has_file_extension(std::string_view name) {
  constexpr std::array<std::string_view, 18> kExtensions{
      ".csv", ".tsv", ".npy",   ".npz",  ".safetensors", ".h5",    ".hdf5",    ".nc",     ".coo",
      ".tns", ".mtx", ".jsonl", ".json", ".parquet",     ".arrow", ".feather", ".arrows", ".zarr"};
  const auto dot = name.rfind('.');
  return dot != std::string_view::npos &&
         std::any_of(kExtensions.begin(), kExtensions.end(),
                     [&](std::string_view known) { return equal_ignoring_case(name.substr(dot), known); });
}

}  // namespace eindb
