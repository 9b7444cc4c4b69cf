#include "server/dialect/translation_cache.hpp"

#include <utility>

namespace eindb {

const Translation* TranslationCache::find(std::string_view text, std::uint64_t version) {
  if (std::exchange(version_, version) != version) translations_.clear();
  return translations_.find(text);
}

void TranslationCache::keep(std::string_view text, const Translation& translation) {
  if (translation.text_of(text).size() <= 4 * kLongestText) translations_.keep(text, translation);
}

}  // namespace eindb
