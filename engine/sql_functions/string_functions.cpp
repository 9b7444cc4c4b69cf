// Functions of texts that SQLite lacks or has otherwise. Characters are those of UTF-8.
#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>

#include "common/coded_error.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace pg_strings {  // names that other groups of functions have, too
namespace {

constexpr std::size_t kLongest = std::size_t{100} << 20U;  // bytes of a text that a function makes

[[noreturn]] void refuse(std::string_view sqlstate, std::string message) {
  throw CodedError(sqlstate, ErrorKind::Value, std::move(message));
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::int64_t length_of(std::string_view text) { return std::count_if(text.begin(), text.end(), begins_character); }

/// The bytes before the character of this number, from 0.
std::size_t offset_of(std::string_view text, std::int64_t character) {
  for (std::size_t n = 0; n < text.size(); ++n)
    if (begins_character(text[n]) && character-- == 0) return n;
  return text.size();
}

std::string_view first_character(std::string_view text) { return text.substr(0, offset_of(text, 1)); }

// ---- Case
// ------------------------------------------------------------------------------------------------------------

/// Upper and lower case of all of Unicode's letters, whatever the process's locale is.
class Case {
 public:
  Case() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {}

  static const Case& unicode() {
    static const Case kCase;
    return kCase;
  }
  std::uint32_t lower(std::uint32_t c) const {
    return locale_ == nullptr ? ascii_lower(c) : to_code(towlower_l(of(c), locale_));
  }
  std::uint32_t upper(std::uint32_t c) const {
    return locale_ == nullptr ? ascii_upper(c) : to_code(towupper_l(of(c), locale_));
  }
  bool is_letter_or_digit(std::uint32_t c) const {
    return locale_ == nullptr ? c >= 0x80 || (c < 0x80 && std::isalnum(static_cast<int>(c)) != 0)
                              : iswalnum_l(of(c), locale_) != 0;
  }

 private:
  static wint_t of(std::uint32_t c) { return static_cast<wint_t>(c); }
  static std::uint32_t to_code(wint_t c) { return static_cast<std::uint32_t>(c); }
  static std::uint32_t ascii_lower(std::uint32_t c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }
  static std::uint32_t ascii_upper(std::uint32_t c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }

  locale_t locale_;  // lives as long as the process
};

std::uint32_t code_point(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  std::uint32_t code = character.size() == 1 ? lead : lead & (0xFFU >> (character.size() + 1));
  for (std::size_t n = 1; n < character.size(); ++n)
    code = (code << 6U) | (static_cast<unsigned char>(character[n]) & 0x3FU);
  return code;
}

std::string utf8(std::uint32_t c) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | ((c >> shift) & 0x3FU)); };
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  if (c < 0x800) return std::string{static_cast<char>(0xC0U | (c >> 6U)), tail(0)};
  if (c < 0x10000) return std::string{static_cast<char>(0xE0U | (c >> 12U)), tail(6), tail(0)};
  return std::string{static_cast<char>(0xF0U | (c >> 18U)), tail(12), tail(6), tail(0)};
}

/// The text with every character replaced by what `change` makes of it.
template <class F>
std::string changed(std::string_view text, F change) {
  std::string out;
  for (auto rest = text; !rest.empty();) {
    const auto character = first_character(rest);
    out += utf8(change(code_point(character)));
    rest.remove_prefix(character.size());
  }
  return out;
}

std::string lower_case(std::string_view text) {
  return changed(text, [](std::uint32_t c) { return Case::unicode().lower(c); });
}

SqliteValue lower(PgValues values) { return any_null(values) ? kNull : SqliteValue(lower_case(text_of(values[0]))); }
SqliteValue upper(PgValues values) {
  if (any_null(values)) return kNull;
  return changed(text_of(values[0]), [](std::uint32_t c) { return Case::unicode().upper(c); });
}

SqliteValue initcap(PgValues values) {
  if (any_null(values)) return kNull;
  bool inside = false;
  return changed(text_of(values[0]), [&](std::uint32_t c) {
    const auto& unicode = Case::unicode();
    const auto out = inside ? unicode.lower(c) : unicode.upper(c);
    inside = unicode.is_letter_or_digit(c);
    return out;
  });
}

// ---- LIKE ----------------------------------------------------------------------------------------------------------

/// Matches by walking both texts once, going back to the last % only.
bool is_like(std::string_view text, std::string_view pattern, std::string_view escape) {
  std::size_t t = 0;
  std::size_t p = 0;
  std::optional<std::size_t> after_percent;
  std::size_t retry = 0;
  for (;;) {
    if (p < pattern.size() && (escape.empty() || !pattern.substr(p).starts_with(escape)) && pattern[p] == '%') {
      after_percent = ++p;
      retry = t;
      continue;
    }
    if (p == pattern.size() && t == text.size()) return true;
    bool matched = false;
    if (p < pattern.size() && t < text.size()) {
      const bool escaped = !escape.empty() && pattern.substr(p).starts_with(escape);
      const auto at = p + (escaped ? escape.size() : 0);
      if (at == pattern.size()) refuse("22025", "LIKE pattern must not end with escape character");
      if (!escaped && pattern[p] == '_') {
        t += first_character(text.substr(t)).size();
        p += 1;
        matched = true;
      } else if (pattern[at] == text[t]) {
        ++t;
        p = at + 1;
        matched = true;
      }
    } else if (p < pattern.size() && !escape.empty() && pattern.substr(p) == escape) {
      refuse("22025", "LIKE pattern must not end with escape character");
    }
    if (matched) continue;
    if (!after_percent || retry >= text.size()) return false;
    retry += first_character(text.substr(retry)).size();
    t = retry;
    p = *after_percent;
  }
}

template <bool any_case>
SqliteValue like(PgValues values) {
  if (any_null(values)) return kNull;
  const auto escape = values.size() > 2 ? text_of(values[2]) : "\\";
  if (length_of(escape) > 1) refuse("22025", "invalid escape string");
  const auto text = text_of(values[0]);
  const auto pattern = text_of(values[1]);
  return truth_value(any_case ? is_like(lower_case(text), lower_case(pattern), lower_case(escape))
                              : is_like(text, pattern, escape));
}

// ---- Parts ---------------------------------------------------------------------------------------------------------

SqliteValue substr(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto first = integer_of(values[1]);
  auto end = length_of(text) + 1;
  if (values.size() > 2) {
    const auto length = integer_of(values[2]);
    if (length < 0) refuse("22011", "negative substring length not allowed");
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(first, length, &sum)) end = std::min(end, sum);
  }
  const auto begin = std::max<std::int64_t>(first, 1);
  if (begin >= end) return std::string();
  const auto from = offset_of(text, begin - 1);
  return text.substr(from, offset_of(std::string_view(text).substr(from), end - begin));
}

/// overlay(text placing part from first [for length]).
SqliteValue overlay(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto part = text_of(values[1]);
  const auto first = integer_of(values[2]);
  const auto length = values.size() > 3 ? integer_of(values[3]) : length_of(part);
  std::int64_t behind = 0;
  if (first <= 0) refuse("22011", "negative substring length not allowed");
  if (__builtin_add_overflow(first, length, &behind)) refuse("22003", "integer out of range");
  const auto rest = behind <= 1 ? text : text.substr(offset_of(text, behind - 1));
  return text.substr(0, offset_of(text, first - 1)) + part + rest;
}

SqliteValue cut(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  return text.substr(0, offset_of(text, integer_of(values[1])));
}

/// The text for a column of varchar(n) or char(n); what is too long may only be spaces.
template <bool padded>
SqliteValue fit(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto end = offset_of(text, integer_of(values[1]));
  if (text.find_first_not_of(' ', end) != std::string::npos)
    refuse("22001", "value too long for type character" + std::string(padded ? "(" : " varying(") +
                        std::to_string(integer_of(values[1])) + ")");
  return text.substr(0, end);
}

SqliteValue split_part(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto separator = text_of(values[1]);
  auto wanted = integer_of(values[2]);
  if (wanted == 0) refuse("22023", "field position must not be zero");
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (!separator.empty()) {
    const auto next = text.find(separator, at);
    if (next == std::string::npos) break;
    parts.push_back(text.substr(at, next - at));
    at = next + separator.size();
  }
  parts.push_back(text.substr(at));
  if (wanted < 0) wanted += static_cast<std::int64_t>(parts.size()) + 1;
  const bool has = wanted >= 1 && static_cast<std::size_t>(wanted) <= parts.size();
  return has ? parts[static_cast<std::size_t>(wanted - 1)] : std::string();
}

std::string repeated(std::string_view text, std::int64_t times) {
  if (times <= 0 || text.empty()) return {};
  if (static_cast<std::uint64_t>(times) > kLongest / text.size()) refuse("54000", "requested length too large");
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(times));
  for (std::int64_t n = 0; n < times; ++n) out += text;
  return out;
}

SqliteValue repeat(PgValues values) {
  return any_null(values) ? kNull : SqliteValue(repeated(text_of(values[0]), integer_of(values[1])));
}

template <bool on_left>
SqliteValue pad(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto wanted = integer_of(values[1]);
  const auto fill = values.size() > 2 ? text_of(values[2]) : " ";
  const auto missing = wanted - length_of(text);
  if (missing <= 0) return text.substr(0, offset_of(text, std::max<std::int64_t>(wanted, 0)));
  if (fill.empty()) return text;
  const auto padding = repeated(fill, missing / length_of(fill) + 1);
  const auto used = padding.substr(0, offset_of(padding, missing));
  return on_left ? used + text : text + used;
}

SqliteValue reverse(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  std::string out;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(first_character(rest).size()))
    out.insert(0, first_character(rest));
  return out;
}

// ---- Characters
// ------------------------------------------------------------------------------------------------------

SqliteValue character(PgValues values) {
  if (any_null(values)) return kNull;
  const auto code = integer_of(values[0]);
  constexpr std::int64_t kLast = 0x10FFFF;
  if (code == 0) refuse("54000", "null character not permitted");
  if (code < 0 || code > kLast || (code >= 0xD800 && code < 0xE000))
    refuse("54000", "requested character too large for encoding");
  return utf8(static_cast<std::uint32_t>(code));
}

SqliteValue code_of(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  return integer_value(text.empty() ? 0 : code_point(first_character(text)));
}

SqliteValue translate(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto from = text_of(values[1]);
  const auto to = text_of(values[2]);
  std::string out;
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(first_character(rest).size())) {
    const auto c = first_character(rest);
    std::int64_t index = 0;
    std::string_view known = from;
    while (!known.empty() && first_character(known) != c) {
      known.remove_prefix(first_character(known).size());
      ++index;
    }
    if (known.empty()) out += c;
    else if (index < length_of(to)) out += first_character(std::string_view(to).substr(offset_of(to, index)));
  }
  return out;
}

SqliteValue concat_ws(PgValues values) {
  if (values.empty() || is_null(values[0])) return kNull;
  const auto separator = text_of(values[0]);
  std::string out;
  bool first = true;
  for (const auto& value : values.subspan(1)) {
    if (is_null(value)) continue;
    if (!first) out += separator;
    out += text_of(value);
    first = false;
  }
  return out;
}

SqliteValue to_hex(PgValues values) {
  if (any_null(values)) return kNull;
  auto value = static_cast<std::uint64_t>(integer_of(values[0]));
  std::string out;
  do out.insert(0, 1, "0123456789abcdef"[value & 15U]);
  while ((value >>= 4U) != 0);
  return out;
}

SqliteValue octet_length(PgValues values) {
  return any_null(values) ? kNull : integer_value(static_cast<std::int64_t>(text_of(values[0]).size()));
}
SqliteValue bit_length(PgValues values) {
  return any_null(values) ? kNull : integer_value(8 * static_cast<std::int64_t>(text_of(values[0]).size()));
}

SqliteValue uuid(PgValues values) {
  return any_null(values) ? kNull : SqliteValue(dialect::uuid_from(text_of(values[0])));
}

constexpr std::array kStringFunctions{
    PgFunction{"pg_like", 2, "BOOLEAN", &like<false>},
    PgFunction{"pg_like", 3, "BOOLEAN", &like<false>},
    PgFunction{"pg_ilike", 2, "BOOLEAN", &like<true>},
    PgFunction{"pg_ilike", 3, "BOOLEAN", &like<true>},
    PgFunction{"pg_substr", 2, "TEXT", &substr},
    PgFunction{"pg_substr", 3, "TEXT", &substr},
    PgFunction{"pg_overlay", 3, "TEXT", &overlay},
    PgFunction{"pg_overlay", 4, "TEXT", &overlay},
    PgFunction{"pg_cut", 2, "TEXT", &cut},
    PgFunction{"pg_fit", 2, "TEXT", &fit<false>},
    PgFunction{"pg_fit_padded", 2, "TEXT", &fit<true>},
    PgFunction{"pg_split_part", 3, "TEXT", &split_part},
    PgFunction{"pg_repeat", 2, "TEXT", &repeat},
    PgFunction{"pg_lpad", 2, "TEXT", &pad<true>},
    PgFunction{"pg_lpad", 3, "TEXT", &pad<true>},
    PgFunction{"pg_rpad", 2, "TEXT", &pad<false>},
    PgFunction{"pg_rpad", 3, "TEXT", &pad<false>},
    PgFunction{"pg_reverse", 1, "TEXT", &reverse},
    PgFunction{"pg_chr", 1, "TEXT", &character},
    PgFunction{"pg_ascii", 1, "INTEGER", &code_of},
    PgFunction{"pg_lower", 1, "TEXT", &lower},
    PgFunction{"pg_upper", 1, "TEXT", &upper},
    PgFunction{"pg_initcap", 1, "TEXT", &initcap},
    PgFunction{"pg_translate", 3, "TEXT", &translate},
    PgFunction{"pg_concat_ws", -1, "TEXT", &concat_ws},
    PgFunction{"pg_to_hex", 1, "TEXT", &to_hex},
    PgFunction{"pg_octet_length", 1, "INTEGER", &octet_length},
    PgFunction{"pg_bit_length", 1, "INTEGER", &bit_length},
    PgFunction{"pg_uuid", 1, "UUID", &uuid},
};

}  // namespace
}  // namespace pg_strings

std::vector<SqlFunction> string_functions() { return sql_functions(pg_strings::kStringFunctions, true); }

}  // namespace eindb
