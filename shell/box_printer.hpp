#pragma once

#include <string>
#include <utility>
#include <vector>

#include "shell/result_printer.hpp"
#include "shell/shown_rows.hpp"

namespace eindb {

/// A table with borders. Holds the rows that it shows, since their widths determine its own. With max_rows, a long
/// result costs no more memory or time than a short one.
///
/// A table that is wider than max_width gets narrower in two steps: texts are cut, the longest ones first, down to
/// kLeastWidth; then columns on the right are left out. Cut texts and missing columns show as `...`. Numbers are cut
/// only to a width that the user has chosen.
class BoxPrinter : public ResultPrinter {
 public:
  explicit BoxPrinter(PrintOptions options) : options_(std::move(options)) {}
  void print(Result& result, Output& output) override;

 private:
  static constexpr std::size_t kLeastWidth = 10;

  struct Value {
    std::string text;
    bool is_number = false;
  };
  using TextRow = std::vector<Value>;

  TextRow texts_of(const Row& row) const;
  void measure(const TextRow& header, const std::vector<TextRow>& rows);
  /// Chooses the final widths, and how many columns are shown.
  void fit();
  std::size_t table_width(std::size_t columns, std::size_t most) const;
  std::size_t width_of(std::size_t column, std::size_t most) const;
  std::string border(const char* left, const char* middle, const char* right) const;
  std::string line(const TextRow& row) const;
  /// A line below the box that tells which rows and columns were left out; empty if none were.
  std::string footer(const ShownRows& shown) const;

  PrintOptions options_;
  std::vector<std::size_t> widths_;
  std::vector<std::size_t> least_;  // that a column can be cut to
  std::size_t columns_ = 0;         // shown ones; widths_ has all
};

}  // namespace eindb
