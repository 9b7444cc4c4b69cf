#include "python/src/equation.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace eindb_python {
namespace {

constexpr std::size_t kLabelsOfTerm = 4;  // enough for most

bool is_letter(char32_t c) {
  if (c < 128) return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return Py_UNICODE_ISALPHA(c) != 0;
}

std::string text_of(char32_t c) {
  const auto text = pybind11::reinterpret_steal<pybind11::object>(PyUnicode_FromOrdinal(static_cast<int>(c)));
  return text ? text.cast<std::string>() : throw pybind11::error_already_set();
}

// Reads one term, up to a comma, an arrow or the end.
std::vector<Label> read_term(std::u32string_view text, std::size_t& place) {
  std::vector<Label> labels;
  labels.reserve(kLabelsOfTerm);
  bool has_ellipsis = false;
  for (; place < text.size(); ++place) {
    const char32_t c = text[place];
    if (c == ' ') continue;
    if (c == ',' || c == '-') break;
    if (c == '.') {
      if (text.substr(place, 3) != U"..." || has_ellipsis)
        throw std::invalid_argument("subscripts have a '.' that is not a part of the one '...' of a term");
      has_ellipsis = true;
      place += 2;
      labels.push_back(kEllipsis);
    } else if (is_letter(c)) {
      labels.push_back(static_cast<Label>(c));
    } else {
      throw std::invalid_argument("invalid subscript '" + text_of(c) + "': subscripts are letters");
    }
  }
  return labels;
}

bool contains(const std::vector<Label>& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// Replaces the ellipsis of a term by labels for `count` dimensions.
void expand(std::vector<Label>& term, std::size_t count) {
  const auto place = std::find(term.begin(), term.end(), kEllipsis);
  if (place == term.end()) return;
  std::vector<Label> dimensions;
  for (std::size_t d = count; d-- > 0;) dimensions.push_back(kEllipsisLabels + static_cast<Label>(d));
  term.insert(term.erase(place), dimensions.begin(), dimensions.end());
}

// The number of dimensions that the ellipsis of a term stands for.
std::size_t ellipsis_rank(const std::vector<Label>& term, std::size_t rank, std::size_t operand) {
  const bool has_ellipsis = contains(term, kEllipsis);
  const std::size_t named = term.size() - (has_ellipsis ? 1 : 0);
  if (named > rank)
    throw std::invalid_argument("the subscripts of operand " + std::to_string(operand) + " are " +
                                std::to_string(named) + ", but it has " + std::to_string(rank) + " dimensions");
  if (named < rank && !has_ellipsis)
    throw std::invalid_argument("operand " + std::to_string(operand) + " has more dimensions (" + std::to_string(rank) +
                                ") than subscripts (" + std::to_string(named) + "), and no '...' for the others");
  return rank - named;
}

// The dimensions of ellipses, then the labels that occur once, in their order.
std::vector<Label> implicit_output(const Equation& equation, std::size_t longest) {
  std::vector<Label> output;
  for (std::size_t d = longest; d-- > 0;) output.push_back(kEllipsisLabels + static_cast<Label>(d));
  std::vector<Label> all;
  for (const auto& term : equation.terms)
    std::copy_if(term.begin(), term.end(), std::back_inserter(all), [](Label l) { return l < kEllipsisLabels; });
  std::sort(all.begin(), all.end());
  for (std::size_t n = 0; n < all.size(); ++n) {
    const bool once = (n == 0 || all[n - 1] != all[n]) && (n + 1 == all.size() || all[n + 1] != all[n]);
    if (once) output.push_back(all[n]);
  }
  return output;
}

void check_output(const Equation& equation, bool has_ellipsis, std::size_t longest) {
  const auto& output = *equation.output;
  if (longest > 0 && !has_ellipsis)
    throw std::invalid_argument("an ellipsis of the operands stands for dimensions, but the output has no '...'");
  for (std::size_t n = 0; n < output.size(); ++n) {
    if (std::find(output.begin(), output.begin() + static_cast<std::ptrdiff_t>(n), output[n]) !=
        output.begin() + static_cast<std::ptrdiff_t>(n))
      throw std::invalid_argument("the output has subscript '" + label_text(output[n]) + "' several times");
    if (std::none_of(equation.terms.begin(), equation.terms.end(),
                     [&](const auto& term) { return contains(term, output[n]); }))
      throw std::invalid_argument("the output has subscript '" + label_text(output[n]) + "', which no operand has");
  }
}

}  // namespace

std::string label_text(Label label) {
  if (label == kEllipsis || label >= kEllipsisLabels) return "...";
  std::string text;
  const auto c = static_cast<char32_t>(label);
  if (c < 52) return std::string(1, static_cast<char>(c < 26 ? 'A' + c : 'a' + (c - 26)));
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  if (c >= 0x10000) text += static_cast<char>(0xF0 | (c >> 18));
  if (c >= 0x800) text += static_cast<char>(c >= 0x10000 ? 0x80 | ((c >> 12) & 0x3F) : 0xE0 | (c >> 12));
  text += static_cast<char>(c >= 0x800 ? 0x80 | ((c >> 6) & 0x3F) : 0xC0 | (c >> 6));
  return text + static_cast<char>(0x80 | (c & 0x3F));
}

Equation parse_subscripts(std::u32string_view text) {
  Equation equation;
  std::size_t place = 0;
  while (true) {
    equation.terms.push_back(read_term(text, place));
    if (place >= text.size()) return equation;
    if (text[place] == '-') break;
    ++place;  // a comma
  }
  if (text.substr(place, 2) != U"->") throw std::invalid_argument("subscripts have a '-' that is not a part of '->'");
  place += 2;
  equation.output = read_term(text, place);
  if (place < text.size()) throw std::invalid_argument("subscripts have one '->' and one term after it");
  return equation;
}

void resolve(Equation& equation, const std::vector<std::size_t>& ranks) {
  std::size_t longest = 0;
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    const auto rank = ellipsis_rank(equation.terms[n], ranks[n], n);
    expand(equation.terms[n], rank);
    longest = std::max(longest, rank);
  }
  if (!equation.output) {
    equation.output = implicit_output(equation, longest);
    return;
  }
  const bool has_ellipsis = contains(*equation.output, kEllipsis);
  expand(*equation.output, longest);
  check_output(equation, has_ellipsis, longest);
}

}  // namespace eindb_python
