#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace eindb {

/// Reads values separated by commas, as RFC 4180 describes them: a value with separators, quotes or line ends stands in
/// double quotes, with inner quotes doubled. Lines end as on Unix or on Windows; empty lines count for nothing.
class SeparatedValues {
 public:
  struct Value {
    std::string text;
    bool quoted = false;
  };

  /// `name` is that of the file, for messages. The stream must outlive the reader.
  SeparatedValues(std::istream& stream, std::string name, char separator);

  /// Fills `row` and returns true; false at the end. Throws Error{Value} with the file's name and line for a quote
  /// without an end or within a value, Error{Io} if the file cannot be read.
  bool next(std::vector<Value>& row);
  /// The line in which the last row began.
  std::size_t line() const { return row_line_; }
  [[noreturn]] void fail(const std::string& message, const std::string& hint = {}) const;

 private:
  bool next_character(char& c);
  /// Reads a value up to the separator or the line end behind it, which is returned; '\n' for the end, too.
  char read_value(Value& value);
  void read_quoted(Value& value);

  std::istream& stream_;
  std::string name_;
  char separator_;
  std::size_t line_ = 1;
  std::size_t row_line_ = 0;
};

}  // namespace eindb
