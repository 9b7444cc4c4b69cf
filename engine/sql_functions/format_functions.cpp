// format(), and to_char() of numbers.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace pg_formats {  // names that other groups of functions have, too
namespace {

[[noreturn]] void refuse(std::string_view sqlstate, std::string message, std::string hint = {}) {
  throw CodedError(sqlstate, ErrorKind::Value, std::move(message), std::move(hint));
}

// ---- format --------------------------------------------------------------------------------------------------------

constexpr std::size_t kWidest = 10'000;

/// A specifier as %2$-10s; position 0 is the next argument.
struct Specifier {
  std::size_t position = 0;
  std::size_t width = 0;
  bool to_the_left = false;
  char kind = 's';
};

std::size_t number_at(std::string_view text, std::size_t& at) {
  std::size_t number = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    number = std::min(number * 10 + static_cast<std::size_t>(text[at] - '0'), kWidest * 10);
  return number;
}

/// Reads a specifier behind its %, and moves `at` behind it.
Specifier specifier_at(std::string_view text, std::size_t& at) {
  Specifier out;
  auto ahead = at;
  const auto position = number_at(text, ahead);
  if (ahead > at && ahead < text.size() && text[ahead] == '$') {
    if (position == 0) refuse("22023", "format specifies argument 0, but arguments are numbered from 1");
    out.position = position;
    at = ahead + 1;
  }
  for (; at < text.size() && text[at] == '-'; ++at) out.to_the_left = true;
  if (at < text.size() && text[at] == '*')
    refuse("0A000", "format() with a width among the arguments is not supported", "write the width as a number");
  out.width = number_at(text, at);
  if (out.width > kWidest) refuse("54000", "the width of a format is above " + std::to_string(kWidest));
  if (at == text.size()) refuse("22023", "unterminated format() type specifier", "For a single \"%\" use \"%%\".");
  out.kind = text[at++];
  if (out.kind != 's' && out.kind != 'I' && out.kind != 'L')
    refuse("22023", std::string("unrecognized format() type specifier \"") + out.kind + "\"",
           "For a single \"%\" use \"%%\".");
  return out;
}

std::string formatted(const SqliteValue& value, char kind) {
  if (is_null(value) && kind == 'I') refuse("22004", "null values cannot be formatted as an SQL identifier");
  if (is_null(value)) return kind == 'L' ? "NULL" : "";
  const auto text = text_of(value);
  return kind == 'I' ? pg_identifier(text) : kind == 'L' ? pg_literal(text) : text;
}

std::string padded(std::string text, const Specifier& specifier) {
  const auto length = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
  const std::string blanks(specifier.width > length ? specifier.width - length : 0, ' ');
  return specifier.to_the_left ? text + blanks : blanks + text;
}

SqliteValue format(PgValues values) {
  if (values.empty() || is_null(values[0])) return kNull;
  const auto text = text_of(values[0]);
  std::string out;
  std::size_t argument = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (c != '%') {
      out += c;
    } else if (at < text.size() && text[at] == '%') {
      out += '%';
      ++at;
    } else {
      const auto specifier = specifier_at(text, at);
      argument = specifier.position > 0 ? specifier.position : argument + 1;
      if (argument >= values.size()) refuse("22023", "too few arguments for format()");
      out += padded(formatted(values[argument], specifier.kind), specifier);
    }
  }
  return out;
}

// ---- to_char of numbers --------------------------------------------------------------------------------------------

/// One element of a template.
struct Element {
  enum class Kind : std::uint8_t { Nine, Zero, Point, Group, Sign, Minus, Literal } kind = Kind::Literal;
  std::string text = {};
};

/// A template as '999,990.99S'.
struct Template {
  using Kind = Element::Kind;
  std::vector<Element> elements;
  bool fills = true;      ///< without FM
  bool brackets = false;  ///< PR
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t first_zero = std::string::npos;  ///< the place of the first 0 among the digits before the point
  std::size_t last_zero = 0;                   ///< places up to the last 0 among the digits behind the point
  bool has_point = false;
  bool has_sign = false;
};

[[noreturn]] void unsupported(std::string_view what) {
  refuse("0A000", "to_char of numbers does not know " + std::string(what), "9 0 . , D G S MI PR FM and \"text\"");
}

Template template_of(const std::string& text) {
  using enum Element::Kind;
  Template out;
  const auto word = [&](std::size_t at, std::string_view wanted) {
    return text.size() - at >= wanted.size() &&
           equal_ignoring_case(std::string_view(text).substr(at, wanted.size()), wanted);
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    std::size_t length = 1;
    if (out.brackets) unsupported("anything behind PR");
    if (c == '9' || c == '0') {
      if (c == '0' && !out.has_point) out.first_zero = std::min(out.first_zero, out.before);
      (out.has_point ? out.after : out.before) += 1;
      if (c == '0' && out.has_point) out.last_zero = out.after;
      out.elements.push_back({c == '9' ? Nine : Zero});
    } else if (c == '.' || c == 'D' || c == 'd') {
      if (out.has_point) refuse("42601", "multiple decimal points");
      out.has_point = true;
      out.elements.push_back({Point});
    } else if (c == ',' || c == 'G' || c == 'g') {
      out.elements.push_back({Group});
    } else if (word(at, "FM")) {
      out.fills = false;
      length = 2;
    } else if (word(at, "MI")) {
      out.has_sign = true;
      out.elements.push_back({Minus});
      length = 2;
    } else if (word(at, "PR")) {
      out.brackets = true;
      length = 2;
    } else if (c == 'S' || c == 's') {
      if (out.has_sign) refuse("42601", "cannot use \"S\" twice");
      if (!out.elements.empty() && at + 1 != text.size()) unsupported("S in the middle");
      out.has_sign = true;
      out.elements.push_back({Sign});
    } else if (c == '"') {
      const auto close = text.find('"', at + 1);
      if (close == std::string::npos || text.find('\\', at) < close) unsupported("such a text in quotes");
      out.elements.push_back({Literal, text.substr(at + 1, close - at - 1)});
      length = close + 1 - at;
    } else if (c == ' ' || c == '-' || c == '/' || c == ':' || c == '(' || c == ')') {
      out.elements.push_back({Literal, std::string(1, c)});
    } else {
      unsupported("\"" + text.substr(at, 2) + "\" here");
    }
    at += length;
  }
  if (out.brackets && out.has_sign) refuse("42601", "cannot use \"PR\" and \"S\"/\"MI\" together");
  return out;
}

/// The digits of the absolute value, before and behind the point.
struct Digits {
  std::string before;
  std::string after;
  bool negative = false;
};

/// Adds 1 to the last digit.
void count_up(std::string& digits) {
  auto at = digits.size();
  while (at > 0 && digits[at - 1] == '9') digits[--at] = '0';
  if (at == 0) digits.insert(0, 1, '1');
  else ++digits[at - 1];
}

/// A numeric, rounded half up in its decimal digits.
Digits digits_of_numeric(double value, std::size_t fraction) {
  std::array<char, 512> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::fixed);
  const std::string text(buffer.data(), written.ptr);
  const auto point = std::min(text.find('.'), text.size());
  Digits out{
      .before = text.substr(0, point), .after = text.substr(std::min(point + 1, text.size())), .negative = value < 0};
  const bool up = out.after.size() > fraction && out.after[fraction] >= '5';
  out.after.resize(fraction, '0');
  if (up) {
    auto digits = out.before + out.after;
    count_up(digits);
    out.before = digits.substr(0, digits.size() - fraction);
    out.after = digits.substr(digits.size() - fraction);
  }
  if ((out.before + out.after).find_first_not_of('0') == std::string::npos) out.negative = false;
  return out;
}

/// `fraction` digits are kept. As in PostgreSQL a float that is rounded to 0 keeps its sign.
Digits digits_of(const SqliteValue& value, std::size_t fraction) {
  constexpr std::size_t kExact = 15;  // digits that a double always holds
  Digits out;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    out.before = std::to_string(*integer);
    out.after = std::string(fraction, '0');
  } else {
    const double real = std::get<double>(value);
    if (!std::isfinite(real)) unsupported("infinities");
    std::array<char, 512> buffer{};
    const auto length = static_cast<std::size_t>(std::snprintf(buffer.data(), buffer.size(), "%.0f", std::fabs(real)));
    const auto kept = length >= kExact ? 0 : std::min(fraction, kExact - length);
    std::snprintf(buffer.data(), buffer.size(), "%.*f", static_cast<int>(kept), real);
    const std::string text = buffer.data();
    out.before = text.substr(0, text.find('.'));
    if (kept > 0) out.after = text.substr(text.find('.') + 1);
    out.after.resize(fraction, '0');
  }
  out.negative = out.before.starts_with('-');
  if (out.negative) out.before.erase(0, 1);
  return out;
}

/// Writes a number by its template, a digit at a time.
class NumberWriter {
 public:
  NumberWriter(const Template& form, Digits digits) : form_(form), digits_(std::move(digits)) {
    if (digits_.before.size() > form_.before) {
      // As PostgreSQL shows what does not fit.
      overflows_ = true;
      digits_.before = std::string(form_.before, '#');
      digits_.after = std::string(form_.after, '#');
    }
    blanks_ = form_.before - digits_.before.size();
    if (!form_.fills) shown_after_ = std::max(digits_.after.find_last_not_of('0') + 1, form_.last_zero);
    else shown_after_ = form_.after;
    no_zero_ = digits_.before == "0" && form_.after > 0 && form_.first_zero == std::string::npos;
  }

  std::string run() {
    for (const auto& element : form_.elements) write(element);
    if (form_.brackets && digits_.negative) out_ += '>';
    else if (form_.brackets && form_.fills) out_ += ' ';
    return out_;
  }

 private:
  using Kind = Element::Kind;

  void write(const Element& element) {
    switch (element.kind) {
      case Kind::Nine:
      case Kind::Zero: return in_fraction_ ? fraction_digit() : digit();
      case Kind::Point: return point();
      case Kind::Group: return group();
      case Kind::Sign: return sign_of_s();
      case Kind::Minus: out_ += digits_.negative ? "-" : form_.fills ? " " : ""; return;
      case Kind::Literal: out_ += element.text; return;
    }
  }

  /// Whether the digit at this place is a blank, or nothing, on the left of the number.
  bool is_blank(std::size_t place) const {
    if (place >= form_.first_zero) return false;
    return place < blanks_ || (no_zero_ && place + 1 == form_.before);
  }

  void digit() {
    const auto place = place_++;
    if (is_blank(place)) {
      const bool lone_zero = !form_.fills && place + 1 == form_.before && shown_after_ == 0;
      if (lone_zero) {
        sign();
        out_ += '0';
      } else if (form_.fills) {
        out_ += ' ';
      }
      return;
    }
    sign();
    out_ += place < blanks_ ? '0' : digits_.before[place - blanks_];
    begun_ = true;
  }

  void fraction_digit() {
    const auto place = place_++;
    if (place < shown_after_) out_ += digits_.after[place];
  }

  void point() {
    sign();
    if (form_.after > 0 || overflows_) out_ += '.';
    in_fraction_ = true;
    place_ = 0;
  }

  void group() {
    if (begun_ || in_fraction_) out_ += ',';
    else if (form_.fills) out_ += ' ';
  }

  /// The sign before the first digit, unless the template has a place for it.
  void sign() {
    if (std::exchange(signed_, true) || (form_.has_sign && !leading_)) return;
    if (leading_) out_ += digits_.negative ? '-' : '+';
    else if (form_.brackets) out_ += digits_.negative ? "<" : form_.fills ? " " : "";
    else out_ += digits_.negative ? "-" : form_.fills ? " " : "";
  }

  void sign_of_s() {
    if (place_ > 0 || in_fraction_ || begun_) out_ += digits_.negative ? '-' : '+';
    else leading_ = true;
  }

  const Template& form_;
  Digits digits_;
  std::string out_;
  std::size_t blanks_ = 0;
  std::size_t shown_after_ = 0;
  std::size_t place_ = 0;
  bool no_zero_ = false;
  bool overflows_ = false;
  bool begun_ = false;
  bool in_fraction_ = false;
  bool signed_ = false;
  bool leading_ = false;  // S before the digits
};

template <bool is_numeric>
SqliteValue to_char(PgValues values) {
  if (any_null(values)) return kNull;
  auto value = values[0];
  if (!std::holds_alternative<std::int64_t>(value) && !std::holds_alternative<double>(value))
    value = dialect::real_from(text_of(value));
  const auto form = template_of(text_of(values[1]));
  const auto* const real = std::get_if<double>(&value);
  const bool decimal = is_numeric && real != nullptr && std::isfinite(*real);
  return NumberWriter(form, decimal ? digits_of_numeric(*real, form.after) : digits_of(value, form.after)).run();
}

constexpr std::array kFormatFunctions{
    PgFunction{"pg_format", -1, "TEXT", &format},
    PgFunction{"pg_to_char_number", 2, "TEXT", &to_char<false>},
    PgFunction{"pg_to_char_numeric", 2, "TEXT", &to_char<true>},
};

}  // namespace
}  // namespace pg_formats

std::vector<SqlFunction> format_functions() { return sql_functions(pg_formats::kFormatFunctions, true); }

}  // namespace eindb
