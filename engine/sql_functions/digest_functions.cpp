// Digests, and bytes as text.
#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/sql_functions/bytea_text.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace pg_digests {  // names that other groups of functions have, too
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kLineOfBase64 = 76;

[[noreturn]] void refuse(std::string message, std::string hint = {}) {
  throw CodedError("22023", ErrorKind::Value, std::move(message), std::move(hint));
}

unsigned code_of(std::byte byte) { return std::to_integer<unsigned>(byte); }
unsigned code_of(char c) { return static_cast<unsigned char>(c); }

template <class Sequence>
std::string hex_of(const Sequence& bytes) {
  std::string out;
  for (const auto byte : bytes) {
    out += kDigits[code_of(byte) >> 4U];
    out += kDigits[code_of(byte) & 15U];
  }
  return out;
}

Bytes digest(const std::string& bytes, const EVP_MD* kind) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  if (kind == nullptr || EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, kind, nullptr) != 1)
    throw CodedError("0A000", ErrorKind::Unsupported, "this system's OpenSSL does not compute the digest");
  const auto* const first = reinterpret_cast<const std::byte*>(out.data());
  return {first, first + size};
}

template <const EVP_MD* (*kind)()>
SqliteValue sha(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(digest(text_of(values[0]), kind()));
}

SqliteValue md5(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(hex_of(digest(text_of(values[0]), EVP_md5())));
}

// ---- Encodings -----------------------------------------------------------------------------------------------------

std::string to_base64(std::string_view bytes) {
  std::string out;
  std::size_t line = 0;
  for (std::size_t n = 0; n < bytes.size(); n += 3) {
    const auto at = [&](std::size_t k) { return k < bytes.size() ? code_of(bytes[k]) : 0U; };
    const unsigned three = at(n) << 16U | at(n + 1) << 8U | at(n + 2);
    if (line == kLineOfBase64) {
      out += '\n';
      line = 0;
    }
    out += kBase64[three >> 18U];
    out += kBase64[(three >> 12U) & 63U];
    out += n + 1 < bytes.size() ? kBase64[(three >> 6U) & 63U] : '=';
    out += n + 2 < bytes.size() ? kBase64[three & 63U] : '=';
    line += 4;
  }
  return out;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

Bytes from_base64(std::string_view text) {
  Bytes out;
  unsigned bits = 0;
  unsigned count = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    if (is_space(c)) continue;
    const auto digit = kBase64.find(c);
    if (c == '=' && count >= 2) ++padding;
    else if (digit == std::string_view::npos || padding > 0)
      refuse(std::string("invalid symbol \"") + c + "\" found while decoding base64 sequence");
    bits = bits << 6U | static_cast<unsigned>(c == '=' ? 0 : digit);
    if (++count < 4) continue;
    for (std::size_t n = 0; n + padding < 3; ++n) out.push_back(static_cast<std::byte>(bits >> (16U - 8U * n) & 255U));
    bits = count = 0;
  }
  if (count != 0)
    refuse("invalid base64 end sequence", "input data is missing padding, is truncated, or is otherwise corrupted");
  return out;
}

Bytes from_hex(std::string_view text) {
  Bytes out;
  unsigned half = 0;
  std::size_t count = 0;
  for (const char c : text) {
    if (is_space(c) && count % 2 == 0) continue;
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const auto digit = kDigits.find(lower);
    if (digit == std::string_view::npos) refuse(std::string("invalid hexadecimal digit: \"") + c + "\"");
    if (++count % 2 == 1) half = static_cast<unsigned>(digit);
    else out.push_back(static_cast<std::byte>(half << 4U | digit));
  }
  if (count % 2 == 1) refuse("invalid hexadecimal data: odd number of digits");
  return out;
}

std::string to_escape(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto code = code_of(c);
    if (c == '\\') out += "\\\\";
    else if (code != 0 && code < 0x80) out += c;
    else out += {'\\', kDigits[code >> 6U], kDigits[(code >> 3U) & 7U], kDigits[code & 7U]};
  }
  return out;
}

SqliteValue encode(PgValues values) {
  if (any_null(values)) return kNull;
  const auto bytes = text_of(values[0]);
  const auto format = to_lower(text_of(values[1]));
  if (format == "hex") return hex_of(bytes);
  if (format == "base64") return to_base64(bytes);
  if (format == "escape") return to_escape(bytes);
  refuse("unrecognized encoding: \"" + format + "\"", "hex, base64 or escape");
}

SqliteValue decode(PgValues values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto format = to_lower(text_of(values[1]));
  if (format == "hex") return from_hex(text);
  if (format == "base64") return from_base64(text);
  if (format == "escape" && !text.starts_with("\\x")) return bytes_of(read_bytea(text));
  refuse("unrecognized encoding: \"" + format + "\"", "hex, base64 or escape");
}

constexpr std::array kDigestFunctions{
    PgFunction{"pg_md5", 1, "TEXT", &md5},
    PgFunction{"pg_sha224", 1, "BYTEA", &sha<EVP_sha224>},
    PgFunction{"pg_sha256", 1, "BYTEA", &sha<EVP_sha256>},
    PgFunction{"pg_sha384", 1, "BYTEA", &sha<EVP_sha384>},
    PgFunction{"pg_sha512", 1, "BYTEA", &sha<EVP_sha512>},
    PgFunction{"pg_encode", 2, "TEXT", &encode},
    PgFunction{"pg_decode", 2, "BYTEA", &decode},
};

}  // namespace
}  // namespace pg_digests

std::vector<SqlFunction> digest_functions() { return sql_functions(pg_digests::kDigestFunctions, true); }

}  // namespace eindb
