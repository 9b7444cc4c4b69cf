#pragma once

#include "shell/result_printer.hpp"

namespace eindb {

/// A table as GitHub's Markdown has it, with numbers aligned to the right.
class MarkdownPrinter : public ResultPrinter {
 public:
  void print(Result& result, Output& output) override;
};

}  // namespace eindb
