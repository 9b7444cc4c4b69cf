#include "shell/array_layout.hpp"

#include <algorithm>
#include <numeric>

#include "shell/text_width.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSummarizedAbove = 1000;  // elements; NumPy's print option `threshold`
constexpr std::size_t kLineWidth = 75;

/// The number of elements shown at each end of a long dimension: NumPy's 3, or fewer if the corners alone would be
/// thousands.
std::int64_t edge_length(std::size_t rank) { return rank <= 4 ? 3 : rank <= 8 ? 2 : 1; }

}  // namespace

ArrayLayout::ArrayLayout(const Shape& shape) {
  const bool summarized = shape.element_count() > kSummarizedAbove;
  const auto edge = edge_length(shape.rank());
  for (const auto extent : shape.extents()) {
    Dimension dimension;
    if (summarized && extent > 2 * edge) {
      for (std::int64_t n = 0; n < edge; ++n) dimension.shown.push_back(n);
      for (std::int64_t n = extent - edge; n < extent; ++n) dimension.shown.push_back(n);
      dimension.gap = static_cast<std::size_t>(edge);
    } else {
      dimension.shown.resize(shape.element_count() == 0 ? 0 : static_cast<std::size_t>(extent));
      std::iota(dimension.shown.begin(), dimension.shown.end(), 0);
    }
    dimensions_.push_back(std::move(dimension));
  }
}

void ArrayLayout::for_each_shown(const std::function<void(const std::vector<std::int64_t>&)>& visit) const {
  const auto is_empty = [](const Dimension& dimension) { return dimension.shown.empty(); };
  if (std::any_of(dimensions_.begin(), dimensions_.end(), is_empty)) return;
  std::vector<std::int64_t> extents;
  for (const auto& dimension : dimensions_) extents.push_back(static_cast<std::int64_t>(dimension.shown.size()));
  std::vector<std::int64_t> position(extents.size(), 0);
  std::vector<std::int64_t> index(extents.size());
  do {
    for (std::size_t d = 0; d < index.size(); ++d)
      index[d] = dimensions_[d].shown[static_cast<std::size_t>(position[d])];
    visit(index);
  } while (next_index(position, extents));
}

std::string ArrayLayout::arrange(const std::vector<std::string>& texts) const {
  if (texts.empty()) return "[]\n";
  std::string out;
  const auto* next_text = texts.data();
  append(out, 0, next_text);
  return out + "\n";
}

void ArrayLayout::append(std::string& out, std::size_t dimension, const std::string*& next_text) const {
  if (dimension == dimensions_.size()) {
    out += *next_text++;
  } else if (dimension + 1 == dimensions_.size()) {
    append_line(out, next_text);
  } else {
    const auto& [shown, gap] = dimensions_[dimension];
    // One line end per inner dimension, so that empty lines separate matrices; then one blank per open bracket.
    const std::string separator =
        std::string(dimensions_.size() - dimension - 1, '\n') + std::string(dimension + 1, ' ');
    out += '[';
    for (std::size_t n = 0; n < shown.size(); ++n) {
      if (n > 0) out += separator;
      if (n > 0 && n == gap) out += "..." + separator;
      append(out, dimension + 1, next_text);
    }
    out += ']';
  }
}

void ArrayLayout::append_line(std::string& out, const std::string*& next_text) const {
  const auto& [shown, gap] = dimensions_.back();
  const std::string indent(dimensions_.size(), ' ');
  std::size_t column = indent.size();
  const auto append_word = [&](const std::string& word, bool is_first) {
    const auto width = display_width(word);
    if (!is_first && column + 1 + width + 1 > kLineWidth) {
      out += "\n" + indent;
      column = indent.size();
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  };
  out += '[';
  for (std::size_t n = 0; n < shown.size(); ++n) {
    if (n > 0 && n == gap) append_word("...", false);
    append_word(*next_text++, n == 0);
  }
  out += ']';
}

}  // namespace eindb
