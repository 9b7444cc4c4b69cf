#include "sqlite/values.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace eindb_sqlite {
namespace {

/// The fewest digits that read back as the same value, as eindb writes numbers: 1.0, 0.1, 1e+22, inf, nan.
template <class T>
void append_real(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "nan";
    return;
  }
  std::array<char, 40> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  const std::string_view written(text.data(), static_cast<std::size_t>(end - text.data()));
  out += written;
  if (std::isfinite(value) && written.find_first_of(".e") == std::string_view::npos) out += ".0";
}

/// As eindb's SQL has it: 1.5-2.0j.
template <class T>
std::string complex_text(std::complex<T> value) {
  std::string out;
  append_real(out, value.real());
  if (!std::signbit(value.imag())) out += '+';
  append_real(out, value.imag());
  return out + 'j';
}

struct Giver {
  sqlite3_context* context;

  void operator()(std::monostate) const { sqlite3_result_null(context); }
  void operator()(std::int64_t value) const { sqlite3_result_int64(context, value); }
  void operator()(float value) const { sqlite3_result_double(context, static_cast<double>(value)); }
  void operator()(double value) const { sqlite3_result_double(context, value); }
  void operator()(const std::string& value) const {
    sqlite3_result_text64(context, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  void operator()(const std::vector<std::byte>& value) const {
    sqlite3_result_blob64(context, value.empty() ? "" : static_cast<const void*>(value.data()), value.size(),
                          SQLITE_TRANSIENT);
  }
  template <class T>
  void operator()(std::complex<T> value) const {
    (*this)(complex_text(value));
  }
};

struct JsonWriter {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(std::int64_t value) const { out += std::to_string(value); }
  void operator()(float value) const { append(value); }
  void operator()(double value) const { append(value); }
  void operator()(const std::string& value) const { append_json(out, std::string_view(value)); }
  void operator()(const std::vector<std::byte>& value) const {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\"\\\\x";  // as eindb writes bytes: \x6162, whose backslash JSON doubles
    for (const auto byte : value) {
      out += kDigits[std::to_integer<std::size_t>(byte >> 4)];
      out += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    out += '"';
  }
  template <class T>
  void operator()(std::complex<T> value) const {
    (*this)(complex_text(value));
  }

 private:
  template <class T>
  void append(T value) const {
    if (std::isfinite(value)) append_real(out, value);
    else out += "null";
  }
};

/// Of a BLOB, valid as long as the value is.
std::span<const std::byte> bytes_of(sqlite3_value* value) {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_value_blob(value));  // null where there are none
  const auto size = bytes == nullptr ? 0 : static_cast<std::size_t>(sqlite3_value_bytes(value));
  return {bytes, size};
}

}  // namespace

void give(sqlite3_context* context, const eindb::Value& value) { std::visit(Giver{context}, value); }

void bind(eindb::Statement& statement, std::size_t number, sqlite3_value* value) {
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER: statement.bind(number, static_cast<std::int64_t>(sqlite3_value_int64(value))); break;
    case SQLITE_FLOAT: statement.bind(number, sqlite3_value_double(value)); break;
    case SQLITE_TEXT: statement.bind(number, std::string_view(text_of(value, ""))); break;
    case SQLITE_NULL: statement.bind(number, nullptr); break;
    default: statement.bind(number, bytes_of(value)); break;
  }
}

std::string text_of(sqlite3_value* value, const std::string& what) {
  if (sqlite3_value_type(value) != SQLITE_TEXT) throw HostError(what);
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) throw HostError("out of memory", SQLITE_NOMEM);
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::string declaration_of(const std::vector<eindb::ColumnInfo>& columns) {
  std::string text = "CREATE TABLE x(";
  for (const auto& [name, type] : columns) {
    if (text.back() != '(') text += ", ";
    text += quoted(name) + ' ' + (type == "COMPLEX" ? "TEXT" : type);
  }
  return text + ')';
}

void append_json(std::string& out, const eindb::Value& value) { std::visit(JsonWriter{out}, value); }

void append_json(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace eindb_sqlite
