#pragma once

#include <string>
#include <utility>

#include "shell/result_printer.hpp"

namespace eindb {

/// A table in GitHub's Markdown, with right-aligned numbers.
class MarkdownPrinter : public ResultPrinter {
 public:
  explicit MarkdownPrinter(std::string null_text) : null_text_(std::move(null_text)) {}
  void print(Result& result, Output& output) override;

 private:
  std::string null_text_;
};

}  // namespace eindb
