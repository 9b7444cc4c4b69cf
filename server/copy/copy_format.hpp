#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// How rows of COPY ... TO STDOUT and FROM STDIN are written: PostgreSQL's three formats.
enum class CopyFormat : std::uint8_t { Text, Csv, Binary };

enum class CopyHeader : std::uint8_t {
  Absent,
  Present,
  Match,  ///< of rows that come: the first line has the names of the columns, in order
};

/// The columns that an option is about.
struct CopyColumnChoice {
  bool all = false;
  std::vector<std::string> names;

  bool empty() const { return !all && names.empty(); }
  /// For each of `columns`, whether it is chosen. Error{UnknownName} for a name that is none of them; `option` is what
  /// the message calls the option.
  std::vector<bool> among(const std::vector<std::string>& columns, std::string_view option) const;
};

/// What COPY ... WITH (FORMAT csv, DELIMITER ';', HEADER) says, checked: delimiter, quote and escape are no part of
/// what stands for NULL, lines end where they seem to, and so on. Binary rows have no options.
struct CopyFormatOptions {
  CopyFormat format = CopyFormat::Text;
  CopyHeader header = CopyHeader::Absent;
  char delimiter = '\t';
  std::string null = "\\N";
  char quote = '"';   ///< of CSV, as all below
  char escape = '"';  ///< before quotes, and itself, inside of quotes
  CopyColumnChoice force_quote;
  CopyColumnChoice force_not_null;  ///< what stands for NULL is a text there
  CopyColumnChoice force_null;      ///< what stands for NULL is NULL there in quotes, too

  /// With what PostgreSQL takes where nothing else is said.
  static CopyFormatOptions of(CopyFormat format);
};

}  // namespace eindb
