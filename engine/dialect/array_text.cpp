#include "engine/dialect/array_text.hpp"

#include <algorithm>
#include <array>

#include "common/coded_error.hpp"
#include "common/letter_case.hpp"
#include "engine/dialect/literals.hpp"

namespace eindb {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads the array element at `i`: quoted, or up to the next comma or brace. Space around it does not belong to it.
std::optional<std::string> read_element(std::string_view text, std::size_t& i) {
  std::string element;
  bool quoted = false;
  bool inside = false;
  std::size_t solid = 0;  // the length up to the last character that is not such a space
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = true;
      inside = !inside;
    } else if (c == '\\' && i + 1 < text.size()) {
      element += text[++i];
      solid = element.size();
    } else if (!inside && (c == ',' || c == '}' || c == '{')) {
      break;
    } else if (inside || !is_space(c)) {
      element += c;
      solid = element.size();
    } else if (!element.empty()) {
      element += c;
    }
  }
  element.resize(solid);
  if (!quoted && equal_ignoring_case(element, "null")) return std::nullopt;
  return element;
}

ArrayElements read_vector(std::string_view text) {
  ArrayElements elements;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(' ', begin), text.size());
    if (end > begin) elements.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return elements;
}

bool needs_quotes(std::string_view element) {
  return element.empty() || equal_ignoring_case(element, "null") ||
         element.find_first_of("{},\"\\ \t\n\r\v\f") != std::string_view::npos;
}

void append_element(std::string& out, const std::optional<std::string>& element) {
  if (!element) {
    out += "NULL";
  } else if (!needs_quotes(*element)) {
    out += *element;
  } else {
    out += '"';
    for (const char c : *element) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
}

constexpr std::size_t kMostDimensions = 6;

/// Reads PostgreSQL's text of an array and writes it anew, with values of one type.
class ArrayChecker {
 public:
  ArrayChecker(std::string_view text, dialect::SqlType element) : text_(text), element_(element) {}

  std::string array() {
    skip_space();
    auto out = group(0);
    skip_space();
    if (at_ != text_.size()) refuse_text();
    return out;
  }

 private:
  [[noreturn]] void refuse_text() const {
    throw CodedError("22P02", ErrorKind::Value, "malformed array literal: \"" + std::string(text_) + "\"",
                     "an array is written {1,2,NULL}");
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  // {a,b} or {{a,b},{c,d}}; all groups of a depth have the same number of parts.
  std::string group(std::size_t depth) {
    if (depth == kMostDimensions)
      throw CodedError("54000", ErrorKind::Unsupported, "an array has more than six dimensions");
    if (!accept('{')) refuse_text();
    std::string out = "{";
    std::size_t count = 0;
    skip_space();
    if (peek() != '}') {
      do {
        skip_space();
        if (count++ > 0) out += ',';
        if (peek() == '{') out += group(depth + 1);
        else leaf(depth, out);
        skip_space();
      } while (accept(','));
    }
    if (!accept('}')) refuse_text();
    auto& known = counts_[depth];
    if (known && *known != count) refuse_text();
    known = count;
    return out + "}";
  }

  void leaf(std::size_t depth, std::string& out) {
    if (depth_ && *depth_ != depth) refuse_text();
    depth_ = depth;
    const bool is_quoted = peek() == '"';
    const auto begin = at_;
    const auto end = is_quoted ? end_of_quoted() : end_of_plain();
    auto element = read_element(text_.substr(0, end), at_);
    at_ = end;
    if (element && !is_quoted && element->empty() && text_.find('\\', begin) >= end) refuse_text();
    append_element(out, element ? std::optional(dialect::kept_text(*element, element_)) : std::nullopt);
  }
  std::size_t end_of_quoted() const {
    for (auto at = at_ + 1; at < text_.size(); ++at) {
      if (text_[at] == '\\') ++at;
      else if (text_[at] == '"') return at + 1;
    }
    refuse_text();
  }
  std::size_t end_of_plain() const {
    auto at = at_;
    for (; at < text_.size() && text_[at] != ',' && text_[at] != '}'; ++at) {
      if (text_[at] == '"' || text_[at] == '{') refuse_text();
      if (text_[at] == '\\') ++at;
    }
    if (at >= text_.size()) refuse_text();
    return at;
  }

  const std::string_view text_;
  const dialect::SqlType element_;
  std::size_t at_ = 0;
  std::array<std::optional<std::size_t>, kMostDimensions> counts_;
  std::optional<std::size_t> depth_;  // of the groups that have elements
};

}  // namespace

std::string checked_array(std::string_view text, dialect::SqlType element) {
  return ArrayChecker(text, element).array();
}

bool is_vector(std::string_view text) { return !text.starts_with('{'); }

ArrayElements read_array(std::string_view text) {
  if (is_vector(text)) return read_vector(text);
  ArrayElements elements;
  for (std::size_t i = 1; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '}' || c == ',') ++i;
    else elements.push_back(read_element(text, i));
  }
  return elements;
}

std::string write_array(const ArrayElements& elements) {
  std::string out = "{";
  for (const auto& element : elements) {
    if (out.size() > 1) out += ',';
    append_element(out, element);
  }
  return out + "}";
}

}  // namespace eindb
