#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The formats of rows for COPY of tables, as PostgreSQL defines them. Clients send and get all three, files are CSV.
enum class CopyFormat : std::uint8_t { Text, Csv, Binary };

enum class CopyHeader : std::uint8_t {
  Absent,
  Present,
  Match,  ///< for input: the first line must have the names of the columns, in order
};

/// The columns that an option selects.
struct CopyColumnChoice {
  bool all = false;
  std::vector<std::string> names;

  bool empty() const { return !all && names.empty(); }
  /// For each of `columns`, whether it is selected. Error{UnknownName} for an unknown name; `option` is the option's
  /// name in the message.
  std::vector<bool> among(const std::vector<std::string>& columns, std::string_view option) const;
};

/// The checked options of COPY ... WITH (FORMAT csv, DELIMITER ';', HEADER). For example, delimiter, quote and escape
/// do not occur in the text for NULL, and no option contains a line end. Binary rows have no options.
struct CopyFormatOptions {
  CopyFormat format = CopyFormat::Text;
  CopyHeader header = CopyHeader::Absent;
  char delimiter = '\t';
  std::string null = "\\N";
  char quote = '"';   ///< of CSV, like all members below
  char escape = '"';  ///< within quotes: precedes quotes and itself
  CopyColumnChoice force_quote;
  CopyColumnChoice force_not_null;  ///< in these columns the text for NULL is a text
  CopyColumnChoice force_null;      ///< in these columns the text for NULL is NULL even in quotes
  bool end_marker = true;           ///< whether `\.` alone in its line ends the rows; files end by themselves

  /// PostgreSQL's defaults.
  static CopyFormatOptions of(CopyFormat format);
};

/// Throws an Error for text that is not valid UTF-8, or has a zero byte.
using CheckText = void (*)(std::string_view text);

}  // namespace eindb
