#include "engine/sql_functions/array_text.hpp"

#include <algorithm>

#include "common/letter_case.hpp"

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

}  // namespace

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
  return out + "}";
}

}  // namespace eindb
