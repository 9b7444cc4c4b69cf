#include "engine/arrow/column_builder.hpp"

#include <chrono>
#include <optional>

#include "common/error.hpp"
#include "common/hexadecimal.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

/// The days since 1970 of YYYY-MM-DD, and the seconds with HH:MM:SS behind it; nullopt for another text.
std::optional<std::int64_t> moment_of(const std::string& text, bool with_time) {
  if (text.size() != (with_time ? 19 : 10)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (auto n = at; n < at + count; ++n) value = 10 * value + (text[n] - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  if (!with_time) return days;
  return days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2);
}

}  // namespace

ArrowField arrow_field(const std::string& name, ArrowLayout layout, bool nullable) {
  const auto plain = [&](const char* format) { return ArrowField{name, format, nullable}; };
  switch (layout) {
    case ArrowLayout::Null: return plain("n");
    case ArrowLayout::Bool: return plain("b");
    case ArrowLayout::Int64: return plain("l");
    case ArrowLayout::Float32: return plain("f");
    case ArrowLayout::Float64: return plain("g");
    case ArrowLayout::Text: return plain("U");
    case ArrowLayout::Bytes: return plain("Z");
    case ArrowLayout::Day: return plain("tdD");
    case ArrowLayout::Moment: return plain("tss:");
    default: break;
  }
  auto field = plain("+w:2");
  field.children.push_back({"item", layout == ArrowLayout::Complex64 ? "f" : "g"});
  return field;
}

void ColumnBuilder::add(const Cell& cell) {
  const bool is_null = std::holds_alternative<std::monostate>(cell);
  valid_.put_bit(length_, !is_null);
  if (is_null) ++nulls_;
  if (is_null) add_nothing();
  else add_value(cell);
  ++length_;
}

ArrowValues ColumnBuilder::take() {
  ArrowValues out{.length = length_, .null_count = nulls_, .buffers = {}};
  if (layout_ != ArrowLayout::Null) out.buffers.push_back(nulls_ > 0 ? valid_.take() : ArrowBytes{});
  if (is_text()) out.buffers.push_back(offsets_.take());
  if (is_pair()) out.children.push_back({.length = 2 * length_, .null_count = 0, .buffers = {{}, values_.take()}});
  else if (layout_ != ArrowLayout::Null) out.buffers.push_back(values_.take());
  begin();
  return out;
}

void ColumnBuilder::begin() {
  valid_ = {};
  offsets_ = {};
  values_ = {};
  length_ = nulls_ = 0;
  if (is_text()) offsets_.put(std::int64_t{0});
}

void ColumnBuilder::add_nothing() {
  switch (layout_) {
    case ArrowLayout::Null: return;
    case ArrowLayout::Bool: return values_.put_bit(length_, false);
    case ArrowLayout::Float32: return values_.put(0.0F);
    case ArrowLayout::Day: return values_.put(std::int32_t{0});
    case ArrowLayout::Complex64: return values_.put(std::complex<float>());
    case ArrowLayout::Complex128: return values_.put(std::complex<double>());
    case ArrowLayout::Text:
    case ArrowLayout::Bytes: return offsets_.put(static_cast<std::int64_t>(values_.size()));
    default: return values_.put(std::int64_t{0});
  }
}

void ColumnBuilder::refuse(const char* what) const {
  throw Error(ErrorKind::Type, "column " + name_ + " has a value that is no " + what + ", unlike those before it",
              std::nullopt, "columns of Arrow have one type: CAST(" + name_ + " AS TEXT) or AS REAL in the query");
}

void ColumnBuilder::add_value(const Cell& cell) {
  const auto* integer = std::get_if<std::int64_t>(&cell);
  switch (layout_) {
    case ArrowLayout::Bool:
      if (integer == nullptr) refuse("truth value");
      return values_.put_bit(length_, *integer != 0);
    case ArrowLayout::Int64:
      if (integer == nullptr) refuse("integer");
      return values_.put(*integer);
    case ArrowLayout::Float32: return values_.put(static_cast<float>(real_of_cell(cell)));
    case ArrowLayout::Float64: return values_.put(real_of_cell(cell));
    case ArrowLayout::Complex64: return values_.put(std::complex<float>(complex_of_cell(cell)));
    case ArrowLayout::Complex128: return values_.put(complex_of_cell(cell));
    case ArrowLayout::Text:
    case ArrowLayout::Bytes: return add_text(cell);
    case ArrowLayout::Day: return values_.put(static_cast<std::int32_t>(moment_of_cell(cell, false)));
    case ArrowLayout::Moment: return values_.put(moment_of_cell(cell, true));
    case ArrowLayout::Null: break;
  }
  refuse("NULL");
}

double ColumnBuilder::real_of_cell(const Cell& cell) const {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<float>(&cell)) return *real;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  refuse("real number");
}

std::complex<double> ColumnBuilder::complex_of_cell(const Cell& cell) const {
  if (const auto* number = std::get_if<std::complex<float>>(&cell)) return *number;
  if (const auto* number = std::get_if<std::complex<double>>(&cell)) return *number;
  return real_of_cell(cell);
}

std::int64_t ColumnBuilder::moment_of_cell(const Cell& cell, bool with_time) const {
  const auto* text = std::get_if<std::string>(&cell);
  const auto moment = text == nullptr ? std::nullopt : moment_of(*text, with_time);
  if (!moment) refuse("day or time");
  return *moment;
}

void ColumnBuilder::add_text(const Cell& cell) {
  const auto* bytes = std::get_if<std::vector<std::byte>>(&cell);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr && (bytes == nullptr || layout_ == ArrowLayout::Text)) refuse("text");
  if (layout_ == ArrowLayout::Text && !is_utf8(*text)) refuse("text in UTF-8");
  values_.put_text(bytes == nullptr ? std::string_view(*text) : text_of_bytes(*bytes));
  offsets_.put(static_cast<std::int64_t>(values_.size()));
}

}  // namespace eindb
