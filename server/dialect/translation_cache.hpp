#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/text_cache.hpp"
#include "server/dialect/dialect.hpp"

namespace eindb {

/// Translations that a session keeps for the next time that a client sends the text; the least recently used ones are
/// dropped first. Not thread-safe.
class TranslationCache {
 public:
  /// The translation of this text; null if there is none. All are dropped when `version`, Session::schema_version(),
  /// is another than at the last call, since types of columns decide. Valid until the next call of find() or keep().
  const Translation* find(std::string_view text, std::uint64_t version);
  /// Keeps the translation unless its texts are too long.
  void keep(std::string_view text, const Translation& translation);

 private:
  static constexpr std::size_t kMostTranslations = 200;
  /// The longest text that is kept, in bytes; the translation may be four times as long.
  static constexpr std::size_t kLongestText = 4096;

  TextCache<Translation> translations_{kMostTranslations, kLongestText};
  std::uint64_t version_ = 0;
};

}  // namespace eindb
