#include "tests/runner/query_result.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>

#include "engine/results/cell_text.hpp"

namespace eindb::runner {
namespace {

std::string visible(const std::string& text) {
  if (text.empty()) return "(empty)";
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (static_cast<unsigned char>(c) >= 0x20U) out += c;
    else {
      std::array<char, 5> code{};
      std::snprintf(code.data(), code.size(), "\\x%02X", static_cast<unsigned>(c));
      out += code.data();
    }
  }
  // Lines of a script lose trailing blanks.
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<std::string> split_at_tabs(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; std::getline(stream, part, '\t');) parts.push_back(part);
  return parts;
}

std::vector<std::string> split_at_blanks(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream stream(line);
  for (std::string part; stream >> part;) parts.push_back(part);
  return parts;
}

/// The values of a line that is a whole row; empty otherwise.
std::vector<std::string> split_row(const std::string& line, std::size_t columns) {
  if (columns == 1) return {line};
  for (auto parts : {split_at_tabs(line), split_at_blanks(line)}) {
    if (parts.size() == columns) return parts;
  }
  return {};
}

std::string in_row(std::size_t row, std::size_t column) {
  return "row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1);
}

}  // namespace

QueryResult QueryResult::read(Result& result, SortMode sort) {
  QueryResult out;
  out.columns_ = result.columns.size();
  Row row;
  while (result.rows && result.rows->next(row)) {
    auto& texts = out.rows_.emplace_back();
    for (const auto& cell : row) texts.push_back(visible(cell_text(cell, "NULL")));
  }
  out.sort(sort);
  return out;
}

QueryResult QueryResult::parse(const std::vector<std::string>& lines, std::size_t columns, SortMode sort) {
  QueryResult out;
  out.columns_ = columns;
  for (const auto& line : lines) out.rows_.push_back(split_row(line, columns));
  const auto is_no_row = [](const TextRow& row) { return row.empty(); };
  if (std::any_of(out.rows_.begin(), out.rows_.end(), is_no_row)) {
    out.rows_.clear();
    for (std::size_t n = 0; n < lines.size(); ++n) {
      if (n % columns == 0) out.rows_.emplace_back();
      out.rows_.back().push_back(lines[n]);
    }
  }
  out.sort(sort);
  return out;
}

void QueryResult::sort(SortMode mode) {
  if (mode == SortMode::None) return;
  if (mode == SortMode::Values) {
    std::vector<TextRow> values;
    for (const auto& row : rows_) {
      for (const auto& value : row) values.push_back({value});
    }
    rows_ = std::move(values);
  }
  std::sort(rows_.begin(), rows_.end(), [](const TextRow& a, const TextRow& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), value_less);
  });
}

std::optional<std::string> QueryResult::difference(const QueryResult& expected, const QueryCase& query) const {
  if (columns_ != query.types.size()) {
    return "the result has " + std::to_string(columns_) + " columns, not " + std::to_string(query.types.size());
  }
  if (rows_.size() != expected.rows_.size()) {
    return "the result has " + std::to_string(rows_.size()) + " rows, not " + std::to_string(expected.rows_.size());
  }
  const bool any_real = query.types.find('R') != std::string::npos;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].size() != expected.rows_[r].size()) return "row " + std::to_string(r + 1) + " is of another length";
    for (std::size_t c = 0; c < rows_[r].size(); ++c) {
      const bool numeric = query.sort == SortMode::Values ? any_real : query.types[c] == 'R';
      if (!value_fits(rows_[r][c], expected.rows_[r][c], numeric, query.tolerance)) {
        return in_row(r, c) + ": '" + rows_[r][c] + "' does not fit '" + expected.rows_[r][c] + "'";
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> QueryResult::lines() const {
  std::vector<std::string> lines;
  for (const auto& row : rows_) {
    auto& line = lines.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) line += (c > 0 ? "\t" : "") + row[c];
  }
  return lines;
}

std::size_t QueryResult::value_count() const {
  std::size_t count = 0;
  for (const auto& row : rows_) count += row.size();
  return count;
}

std::string QueryResult::hash() const {
  std::string text;
  for (const auto& row : rows_) {
    for (const auto& value : row) text += value + "\n";
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(text.data(), text.size())));
  return std::to_string(value_count()) + " values hashing to " + digits.data();
}

}  // namespace eindb::runner
