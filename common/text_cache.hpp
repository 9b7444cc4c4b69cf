#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/check.hpp"

namespace eindb {

/// A cache of values that were computed from texts, by text. The least recently used values are dropped first. Not
/// thread-safe.
template <class Value>
class TextCache {
 public:
  /// Keeps so many texts, none longer than so many bytes.
  TextCache(std::size_t most_texts, std::size_t longest_text) : most_texts_(most_texts), longest_text_(longest_text) {}
  TextCache(const TextCache&) = delete;
  TextCache& operator=(const TextCache&) = delete;

  /// Null if there is nothing. Valid until the next call of a member function.
  const Value* find(std::string_view text) {
    if (text.size() > longest_text_) return nullptr;
    const auto found = by_text_.find(text);
    if (found == by_text_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }
  /// Keeps the value, unless the text is too long or is there.
  void keep(std::string_view text, Value value) {
    if (text.size() > longest_text_ || by_text_.contains(text)) return;
    entries_.emplace_front(text, std::move(value));
    by_text_.emplace(entries_.front().first, entries_.begin());
    if (entries_.size() > most_texts_) {
      by_text_.erase(entries_.back().first);
      entries_.pop_back();
    }
    DCHECK(by_text_.size() == entries_.size(), "every value is found by its text");
  }
  void clear() {
    by_text_.clear();
    entries_.clear();
  }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;

  const std::size_t most_texts_;
  const std::size_t longest_text_;
  Entries entries_;                                                 // the most recently used first
  std::map<std::string_view, typename Entries::iterator> by_text_;  // keys refer to the texts of entries
};

}  // namespace eindb
