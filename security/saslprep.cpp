#include "security/saslprep.hpp"

#include <unicode/usprep.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "common/error.hpp"

namespace eindb {
namespace {

/// NFKC makes 18 units of one at most.
constexpr std::size_t kGrowth = 18;
/// Longer ones are no text that somebody types, and keep their bytes.
constexpr std::size_t kLongestText = 1 << 20U;

struct CloseProfile {
  void operator()(UStringPrepProfile* profile) const { usprep_close(profile); }
};

/// kLongestText keeps it far below what 32 bits hold.
std::int32_t length_of(const auto& text) { return static_cast<std::int32_t>(text.size()); }

/// nullopt for what is no UTF-8.
std::optional<std::u16string> utf16_of(std::string_view text) {
  std::u16string units(text.size(), u'\0');
  std::int32_t length = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strFromUTF8(units.data(), length_of(units), &length, text.data(), length_of(text), &status);
  if (U_FAILURE(status)) return std::nullopt;
  units.resize(static_cast<std::size_t>(length));
  return units;
}

std::string utf8_of(const std::u16string& units) {
  std::string text(3 * units.size(), '\0');
  std::int32_t length = 0;
  UErrorCode status = U_ZERO_ERROR;
  u_strToUTF8(text.data(), length_of(text), &length, units.data(), length_of(units), &status);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// nullopt for characters that SASLprep forbids, and those that Unicode 3.2 did not have.
std::optional<std::u16string> prepared(const std::u16string& units) {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<UStringPrepProfile, CloseProfile> profile(usprep_openByType(USPREP_RFC4013_SASLPREP, &status));
  // Whatever the password, these would not be the bytes that clients compute.
  if (U_FAILURE(status)) throw Error(ErrorKind::Io, "the tables of ICU are not installed");
  std::u16string result(kGrowth * units.size(), u'\0');
  const auto length = usprep_prepare(profile.get(), units.data(), length_of(units), result.data(), length_of(result),
                                     USPREP_DEFAULT, nullptr, &status);
  if (U_FAILURE(status)) return std::nullopt;
  result.resize(static_cast<std::size_t>(length));
  return result;
}

}  // namespace

std::string prepare_password(std::string_view password) {
  const bool is_ascii = std::all_of(password.begin(), password.end(), [](char c) { return (c & '\x80') == 0; });
  if (is_ascii || password.size() > kLongestText) return std::string(password);
  const auto units = utf16_of(password);
  const auto result = units ? prepared(*units) : std::nullopt;
  return result && !result->empty() ? utf8_of(*result) : std::string(password);
}

}  // namespace eindb
