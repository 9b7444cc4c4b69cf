#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eindb {

/// The words offered by the Tab key: dot commands at the start of a line; paths after FROM ' and TO ' and for the dot
/// commands that take files; settings after SET, SHOW and RESET; elsewhere keywords, functions and names in the
/// database (tensors, labels, macros, tables).
class Completion {
 public:
  /// Called at each use.
  using Names = std::function<std::vector<std::string>()>;
  Completion(Names known_words, Names commands);

  /// The start of the word that ends at the end of `before`, the line up to the cursor.
  static std::size_t word_start(std::string_view before);
  /// Complete words for the word at the end of `before`, sorted. Keywords take the case of the typed text; names keep
  /// theirs, and so do paths, whose folders end in a slash.
  std::vector<std::string> candidates(std::string_view before) const;
  enum class Case : std::uint8_t { Ignored, Counts };
  /// Whether case counts for what completes `before`: for paths.
  static Case case_of(std::string_view before);
  /// The longest prefix common to all candidates.
  static std::string common_prefix(const std::vector<std::string>& candidates, Case letters = Case::Ignored);
  /// The characters to insert behind `word` when it is the only completion of `before`: a blank, the quote that closes
  /// a path, or none after a folder.
  static std::string ending(std::string_view before, std::string_view word);

 private:
  Names known_words_;
  Names commands_;
};

}  // namespace eindb
