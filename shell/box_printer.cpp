#include "shell/box_printer.hpp"

#include <algorithm>
#include <string_view>

#include "engine/results/cell_text.hpp"
#include "shell/text_width.hpp"

namespace eindb {
namespace {

constexpr std::size_t kFrame = 3;  // columns of the terminal for each column of a table, beside its width
constexpr std::string_view kMissing = "...";

}  // namespace

void BoxPrinter::print(Result& result, Output& output) {
  TextRow header;
  for (const auto& column : result.columns) header.push_back({.text = printable(column.name)});
  auto shown = ShownRows::of(result, options_.max_rows);
  std::vector<TextRow> texts;
  for (auto* rows : {&shown.head, &shown.tail}) {
    for (auto& row : *rows) {
      texts.push_back(texts_of(row));
      Row().swap(row);
    }
  }
  measure(header, texts);
  fit();

  const TextRow gap(header.size(), {.text = "·"});
  output.write(border("┌", "┬", "┐"));
  if (options_.headers) output.write(line(header) + border("├", "┼", "┤"));
  for (std::size_t n = 0; n < texts.size(); ++n) {
    if (n == shown.head.size()) output.write(line(gap));
    output.write(line(texts[n]));
  }
  if (shown.tail.empty() && !shown.is_all()) output.write(line(gap));
  output.write(border("└", "┴", "┘") + footer(shown));
}

BoxPrinter::TextRow BoxPrinter::texts_of(const Row& row) const {
  TextRow texts;
  for (const auto& cell : row)
    texts.push_back(
        {.text = printable(cell_text(cell, options_.null_text.value_or("NULL"))), .is_number = is_number(cell)});
  return texts;
}

void BoxPrinter::measure(const TextRow& header, const std::vector<TextRow>& rows) {
  columns_ = header.size();
  widths_.assign(columns_, 1);
  least_.assign(columns_, 1);
  const auto widen = [&](const TextRow& row) {
    for (std::size_t n = 0; n < row.size(); ++n) {
      const auto width = display_width(row[n].text);
      widths_[n] = std::max(widths_[n], width);
      least_[n] = std::max(least_[n], row[n].is_number ? width : std::min(width, kLeastWidth));
    }
  };
  if (options_.headers) widen(header);
  for (const auto& row : rows) widen(row);
}

std::size_t BoxPrinter::width_of(std::size_t column, std::size_t most) const {
  return std::max(least_[column], std::min(widths_[column], most));
}

/// Of the first columns, whose texts have at most that width.
std::size_t BoxPrinter::table_width(std::size_t columns, std::size_t most) const {
  std::size_t width = 1;
  for (std::size_t n = 0; n < columns; ++n) width += width_of(n, most) + kFrame;
  return width;
}

void BoxPrinter::fit() {
  for (std::size_t n = 0; n < std::min(columns_, options_.widths.size()); ++n) {
    if (options_.widths[n] == 0) continue;
    widths_[n] = std::min(widths_[n], options_.widths[n]);
    least_[n] = std::min(least_[n], widths_[n]);
  }
  const auto limit = options_.max_width;
  if (limit == 0 || table_width(columns_, std::string::npos) <= limit) return;
  auto most = limit;
  while (most > kLeastWidth && table_width(columns_, most) > limit) --most;
  const bool fits = table_width(columns_, most) <= limit;
  const auto missing = kMissing.size() + kFrame;
  while (!fits && columns_ > 1 && table_width(columns_, most) + missing > limit) --columns_;
  for (std::size_t n = 0; n < widths_.size(); ++n) widths_[n] = width_of(n, most);
}

std::string BoxPrinter::border(const char* left, const char* middle, const char* right) const {
  std::string out = left;
  const auto append = [&](std::size_t width) {
    for (std::size_t c = 0; c < width + 2; ++c) out += "─";
  };
  for (std::size_t n = 0; n < columns_; ++n) {
    if (n > 0) out += middle;
    append(widths_[n]);
  }
  if (columns_ < widths_.size()) {
    out += middle;
    append(kMissing.size());
  }
  return out + right + "\n";
}

std::string BoxPrinter::line(const TextRow& row) const {
  std::string out;
  for (std::size_t n = 0; n < columns_; ++n) {
    const auto text = shortened(row[n].text, widths_[n]);
    out += "│ " + (row[n].is_number ? padded_left(text, widths_[n]) : padded_right(text, widths_[n])) + " ";
  }
  if (columns_ < row.size()) out += "│ " + std::string(kMissing) + " ";
  return out + "│\n";
}

std::string BoxPrinter::footer(const ShownRows& shown) const {
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  if (!shown.is_all()) {
    const auto count = shown.count ? std::to_string(*shown.count) : "more than " + std::to_string(shown.read - 1);
    add(count + " rows, " + std::to_string(shown.shown()) + " shown (.maxrows 0 shows all)");
  }
  if (columns_ < widths_.size()) {
    add(std::to_string(widths_.size()) + " columns, " + std::to_string(columns_) + " shown (.mode line shows all)");
  }
  return out.empty() ? out : out + "\n";
}

}  // namespace eindb
