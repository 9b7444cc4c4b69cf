#pragma once

#include <deque>
#include <string>

#include "shell/result_printer.hpp"

namespace eindb {

/// A table with borders. Holds the rows that it shows, since their widths determine its own. With max_rows, a long
/// result costs no more memory than a short one.
class BoxPrinter : public ResultPrinter {
 public:
  explicit BoxPrinter(PrintOptions options) : options_(options) {}
  void print(Result& result, Output& output) override;

 private:
  struct Value {
    std::string text;
    bool is_number = false;
  };
  using TextRow = std::vector<Value>;

  void read(RowSource& rows);
  void widen(const TextRow& row);
  std::string border(const char* left, const char* middle, const char* right) const;
  std::string line(const TextRow& row) const;

  PrintOptions options_;
  std::deque<TextRow> head_;
  std::deque<TextRow> tail_;  // the last rows; earlier ones are only counted
  std::size_t row_count_ = 0;
  std::vector<std::size_t> widths_;
};

}  // namespace eindb
