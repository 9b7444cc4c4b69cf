#include "security/saslprep.hpp"

#include <stringprep.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace eindb {
namespace {

/// Longer texts are not typed by users, and keep their bytes.
constexpr std::size_t kLongestText = 4096;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

/// SASLprep without its normalization. PostgreSQL and its clients check for forbidden characters before it, RFC 4013
/// after it: U+2135, the alef of mathematics, may stand beside a Latin letter, since it becomes a Hebrew letter only by
/// normalization.
std::vector<Stringprep_profile> steps_before_normalization() {
  std::vector<Stringprep_profile> steps;
  for (const auto* step = stringprep_saslprep; step->operation != 0; ++step)
    if (step->operation != STRINGPREP_NFKC) steps.push_back(*step);
  steps.push_back({});  // the end of the list
  return steps;
}

/// Empty for invalid UTF-8, for characters that SASLprep forbids, and for those that Unicode 3.2 lacks.
std::string saslprep(std::string text) {
  const auto steps = steps_before_normalization();
  // In place, since these steps only remove characters or replace them by shorter ones.
  if (stringprep(text.data(), text.size() + 1, STRINGPREP_NO_UNASSIGNED, steps.data()) != STRINGPREP_OK) return {};
  const std::unique_ptr<char, Free> normal(stringprep_utf8_nfkc_normalize(text.c_str(), -1));
  return normal == nullptr ? std::string() : std::string(normal.get());
}

}  // namespace

std::string prepare_password(std::string_view password) {
  std::string text(password);
  const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; });
  const bool is_line = text.size() <= kLongestText && text.find('\0') == std::string::npos;
  if (is_ascii || !is_line) return text;
  auto prepared = saslprep(text);
  return prepared.empty() ? text : prepared;
}

}  // namespace eindb
