#pragma once

#include "shell/result_printer.hpp"

namespace eindb {

/// A table in GitHub's Markdown, with right-aligned numbers.
class MarkdownPrinter : public ResultPrinter {
 public:
  void print(Result& result, Output& output) override;
};

}  // namespace eindb
