#pragma once

#include <string>

#include "shell/result_printer.hpp"

namespace eindb {

/// How a line of values is put together.
struct Delimiters {
  char separator = ',';
  bool quoted = true;  ///< values that need it stand in double quotes, as in RFC 4180

  static Delimiters csv() { return {}; }
  static Delimiters list() { return {.separator = '|', .quoted = false}; }
};

/// A line per row. NULL is nothing at all; in CSV an empty text is "", so that the two can be told apart.
class DelimitedPrinter : public ResultPrinter {
 public:
  DelimitedPrinter(Delimiters delimiters, bool headers) : delimiters_(delimiters), headers_(headers) {}
  void print(Result& result, Output& output) override;

 private:
  std::string header(const std::vector<Column>& columns) const;
  void append(std::string& line, const std::string& text) const;

  Delimiters delimiters_;
  bool headers_;
};

}  // namespace eindb
