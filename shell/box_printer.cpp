#include "shell/box_printer.hpp"

#include <algorithm>

#include "engine/results/cell_text.hpp"
#include "shell/text_width.hpp"

namespace eindb {

void BoxPrinter::print(Result& result, Output& output) {
  TextRow header;
  for (const auto& column : result.columns) header.push_back({.text = printable(column.name)});
  const TextRow gap(header.size(), {.text = "·"});
  read(*result.rows);

  widths_.assign(header.size(), 1);
  if (options_.headers) widen(header);
  for (const auto* rows : {&head_, &tail_})
    std::for_each(rows->begin(), rows->end(), [&](const auto& row) { widen(row); });

  output.write(border("┌", "┬", "┐"));
  if (options_.headers) output.write(line(header) + border("├", "┼", "┤"));
  for (const auto& row : head_) output.write(line(row));
  const auto shown = head_.size() + tail_.size();
  if (shown < row_count_) output.write(line(gap));
  for (const auto& row : tail_) output.write(line(row));
  output.write(border("└", "┴", "┘"));
  if (shown < row_count_) {
    output.write(std::to_string(row_count_) + " rows, " + std::to_string(shown) + " shown (.maxrows 0 shows all)\n");
  }
}

void BoxPrinter::read(RowSource& rows) {
  const auto limit = options_.max_rows;
  const auto tail_limit = limit / 2;
  for (Row row; rows.next(row); ++row_count_) {
    TextRow texts;
    for (const auto& cell : row)
      texts.push_back({.text = printable(cell_text(cell, "NULL")), .is_number = is_number(cell)});
    if (limit == 0 || head_.size() < limit - tail_limit) {
      head_.push_back(std::move(texts));
    } else {
      tail_.push_back(std::move(texts));
      if (tail_.size() > tail_limit) tail_.pop_front();
    }
  }
}

void BoxPrinter::widen(const TextRow& row) {
  for (std::size_t n = 0; n < row.size(); ++n) widths_[n] = std::max(widths_[n], display_width(row[n].text));
}

std::string BoxPrinter::border(const char* left, const char* middle, const char* right) const {
  std::string out = left;
  for (std::size_t n = 0; n < widths_.size(); ++n) {
    if (n > 0) out += middle;
    for (std::size_t c = 0; c < widths_[n] + 2; ++c) out += "─";
  }
  return out + right + "\n";
}

std::string BoxPrinter::line(const TextRow& row) const {
  std::string out;
  for (std::size_t n = 0; n < row.size(); ++n) {
    const auto& [text, is_number] = row[n];
    out += "│ " + (is_number ? padded_left(text, widths_[n]) : padded_right(text, widths_[n])) + " ";
  }
  return out + "│\n";
}

}  // namespace eindb
