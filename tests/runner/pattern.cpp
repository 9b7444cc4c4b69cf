// The standard library's regular expressions call themselves for every character of a text.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tests/runner/pattern.hpp"

#include <pcre2.h>

#include <array>

namespace eindb::runner {
namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR bytes_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

void Pattern::Free::operator()(pcre2_real_code_8* code) const noexcept { pcre2_code_free(code); }

Pattern::Pattern(std::string_view text, Case letters) {
  const std::uint32_t options = PCRE2_ALLOW_EMPTY_CLASS | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF |
                                PCRE2_DOLLAR_ENDONLY | (letters == Case::Ignored ? PCRE2_CASELESS : 0U);
  int error = 0;
  std::size_t place = 0;
  code_.reset(pcre2_compile(bytes_of(text), text.size(), options, &error, &place, nullptr));
  if (code_ == nullptr) throw PatternError(message_of(error) + " at offset " + std::to_string(place));
}

bool Pattern::matches_in(std::string_view text) const {
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> found(
      pcre2_match_data_create_from_pattern(code_.get(), nullptr), &pcre2_match_data_free);
  if (found == nullptr) throw std::bad_alloc();
  const auto result = pcre2_match(code_.get(), bytes_of(text), text.size(), 0, 0, found.get(), nullptr);
  if (result < 0 && result != PCRE2_ERROR_NOMATCH) throw PatternError(message_of(result));
  return result >= 0;
}

}  // namespace eindb::runner
