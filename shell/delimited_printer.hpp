#pragma once

#include <string>
#include <utility>

#include "shell/result_printer.hpp"

namespace eindb {

/// The syntax of a line of values.
struct Delimiters {
  char separator = ',';
  bool quoted = true;  ///< values are put in double quotes if necessary, as in RFC 4180

  static Delimiters csv() { return {}; }
  static Delimiters list() { return {.separator = '|', .quoted = false}; }
};

/// One line per row. NULL is an empty field, unless another text was chosen for it; in CSV an empty text is "", to
/// distinguish the two.
class DelimitedPrinter : public ResultPrinter {
 public:
  DelimitedPrinter(Delimiters delimiters, bool headers, std::string null_text)
      : delimiters_(delimiters), headers_(headers), null_text_(std::move(null_text)) {}
  void print(Result& result, Output& output) override;

 private:
  std::string header(const std::vector<Column>& columns) const;
  void append(std::string& line, const std::string& text) const;

  Delimiters delimiters_;
  bool headers_;
  std::string null_text_;
};

}  // namespace eindb
