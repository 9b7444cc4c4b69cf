#pragma once

#include <string>
#include <utility>

#include "shell/result_printer.hpp"

namespace eindb {

/// One line "column = value" per value, with a blank line between rows.
class LinePrinter : public ResultPrinter {
 public:
  explicit LinePrinter(std::string null_text) : null_text_(std::move(null_text)) {}
  void print(Result& result, Output& output) override;

 private:
  std::string null_text_;
};

}  // namespace eindb
