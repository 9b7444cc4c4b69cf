#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eindb::dialect {

/// Text of SQL that knows which places of the original text its parts come from.
class SqlText {
 public:
  struct Mark {
    std::size_t at = 0;        ///< in this text
    std::size_t original = 0;  ///< in the original text
  };

  SqlText() = default;
  SqlText(std::string_view text) : text_(text) {}  // NOLINT(google-explicit-constructor): text is SqlText without marks
  SqlText(const char* text) : text_(text) {}       // NOLINT(google-explicit-constructor)
  SqlText(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  /// Text that comes from this place of the original; a negative location is none.
  SqlText(std::string_view text, int location) : text_(text) {
    if (location >= 0) marks_.push_back({0, static_cast<std::size_t>(location)});
  }

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }
  /// In the order of the text.
  const std::vector<Mark>& marks() const { return marks_; }

  SqlText& operator+=(const SqlText& more) {
    for (const auto& [at, original] : more.marks_) marks_.push_back({text_.size() + at, original});
    text_ += more.text_;
    return *this;
  }
  friend SqlText operator+(SqlText a, const SqlText& b) { return std::move(a += b); }

 private:
  std::string text_;
  std::vector<Mark> marks_;
};

/// The parts with the separator between them.
inline SqlText joined(const std::vector<SqlText>& parts, std::string_view separator = ", ") {
  SqlText out;
  for (std::size_t n = 0; n < parts.size(); ++n) out += n == 0 ? parts[n] : SqlText(separator) + parts[n];
  return out;
}

}  // namespace eindb::dialect
