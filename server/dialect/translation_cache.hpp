#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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
  using Entries = std::list<std::pair<std::string, Translation>>;

  Entries entries_;                                        // the most recently used first
  std::map<std::string_view, Entries::iterator> by_text_;  // keys refer to the texts of entries
  std::uint64_t version_ = 0;
};

}  // namespace eindb
