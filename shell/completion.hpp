#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The words offered by the Tab key: keywords, functions, names in the database (tensors, labels, macros, tables),
/// settings, and dot commands at the start of a line.
class Completion {
 public:
  /// `known_words` and `commands` are called at each use.
  using Names = std::function<std::vector<std::string>()>;
  Completion(Names known_words, Names commands);

  /// The start of the word that ends at the end of `before`, the line up to the cursor.
  static std::size_t word_start(std::string_view before);
  /// Complete words for the word at the end of `before`, sorted. Keywords take the case of the typed text; names keep
  /// theirs.
  std::vector<std::string> candidates(std::string_view before) const;
  /// The longest prefix common to all candidates, ignoring case.
  static std::string common_prefix(const std::vector<std::string>& candidates);

 private:
  Names known_words_;
  Names commands_;
};

}  // namespace eindb
