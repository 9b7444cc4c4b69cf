#include "storage/formats/array_name.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestShownName = 60;
constexpr std::size_t kNamesListed = 10;

/// Bytes of the UTF-8 character at the front of `text`, 0 if it is invalid. Overlong forms and surrogates are not
/// checked.
std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xC2 && lead < 0xE0 ? 2
                           : (lead & 0xF0U) == 0xE0      ? 3
                           : lead >= 0xF0 && lead < 0xF5 ? 4
                                                         : 0;
  if (size == 0 || size > text.size()) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; };
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size), continues) ? size : 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= longest) return out + "...";
    const auto size = character_size(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (size == 0 || byte < 0x20 || byte == 0x7F) {
      std::array<char, 5> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02X", static_cast<unsigned>(byte));
      out += escaped.data();
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

std::string quoted_name(std::string_view name) { return "'" + printable(name, kLongestShownName) + "'"; }

std::string name_list(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t n = 0; n < std::min(names.size(), kNamesListed); ++n)
    out += (n > 0 ? ", " : "") + quoted_name(names[n]);
  if (names.size() > kNamesListed) out += " and " + std::to_string(names.size() - kNamesListed) + " more";
  return out;
}

std::size_t choose_array(const std::string& path, const std::vector<std::string>& names, const std::string& wanted,
                         std::string_view option) {
  if (names.empty()) throw Error(ErrorKind::Value, path + " holds no array");
  if (wanted.empty()) {
    if (names.size() == 1) return 0;
    throw Error(ErrorKind::Value, path + " holds " + std::to_string(names.size()) + " arrays: " + name_list(names),
                std::nullopt, "choose one with (" + std::string(option) + " 'name')");
  }
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw Error(ErrorKind::UnknownName, path + " holds no array " + quoted_name(wanted), std::nullopt,
              "it holds " + name_list(names));
}

}  // namespace eindb
