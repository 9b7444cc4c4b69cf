#include "server/dialect/translation_cache.hpp"

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostTranslations = 200;
/// The longest text that is kept, in bytes; the translation may be four times as long.
constexpr std::size_t kLongestText = 4096;

}  // namespace

const Translation* TranslationCache::find(std::string_view text, std::uint64_t version) {
  if (std::exchange(version_, version) != version) {
    by_text_.clear();
    entries_.clear();
  }
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front().second;
}

void TranslationCache::keep(std::string_view text, const Translation& translation) {
  if (text.size() > kLongestText || translation.text_of(text).size() > 4 * kLongestText || by_text_.contains(text))
    return;
  entries_.emplace_front(text, translation);
  by_text_.emplace(entries_.front().first, entries_.begin());
  if (entries_.size() > kMostTranslations) {
    by_text_.erase(entries_.back().first);
    entries_.pop_back();
  }
  DCHECK(by_text_.size() == entries_.size(), "every translation is found by its text");
}

}  // namespace eindb
