#pragma once

#include "shell/result_printer.hpp"

namespace eindb {

/// One line "column = value" per value, with a blank line between rows.
class LinePrinter : public ResultPrinter {
 public:
  void print(Result& result, Output& output) override;
};

}  // namespace eindb
