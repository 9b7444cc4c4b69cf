#include "python/src/contraction.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace eindb_python {
namespace {

constexpr std::size_t kFewLabels = 8;  // enough for most equations

// The labels of an equation, by number.
class Numbering {
 public:
  Numbering() { labels_.reserve(kFewLabels); }
  std::uint32_t operator[](Label label) {
    const auto number = std::find(labels_.begin(), labels_.end(), label) - labels_.begin();
    if (static_cast<std::size_t>(number) == labels_.size()) labels_.push_back(label);
    return static_cast<std::uint32_t>(number);
  }
  std::size_t size() const { return labels_.size(); }

 private:
  std::vector<Label> labels_;
};

// Adds a dimension to the operand, or to a diagonal of it.
void add_dimension(Operand& operand, std::uint32_t label, std::int64_t stride) {
  const auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
  if (found == operand.labels.end()) {
    operand.labels.push_back(label);
    operand.strides.push_back(stride);
  } else {
    operand.strides[static_cast<std::size_t>(found - operand.labels.begin())] += stride;
  }
}

[[noreturn]] void fail_diagonal(Label label, std::int64_t first, std::int64_t second) {
  throw std::invalid_argument("dimensions in single operand for collapsing index '" + label_text(label) +
                              "' don't match (" + std::to_string(first) + " != " + std::to_string(second) + ")");
}

[[noreturn]] void fail_extents(Label label, std::size_t operand, std::int64_t first, std::int64_t second) {
  throw std::invalid_argument("operands could not be broadcast together: label '" + label_text(label) +
                              "' has extent " + std::to_string(first) + ", but " + std::to_string(second) +
                              " in operand " + std::to_string(operand));
}

// The operand's dimensions under its labels, and the extents of these, whatever other operands have.
Operand labelled(const std::vector<Label>& term, const StridedArray& array, Numbering& numbers,
                 std::vector<std::int64_t>& own) {
  Operand operand{.data = array.data};
  operand.labels.reserve(term.size());
  operand.strides.reserve(term.size());
  own.reserve(term.size());
  for (std::size_t d = 0; d < term.size(); ++d) {
    const auto label = numbers[term[d]];
    const auto known = std::find(operand.labels.begin(), operand.labels.end(), label);
    if (known == operand.labels.end()) own.push_back(array.extents[d]);
    else if (const auto first = own[static_cast<std::size_t>(known - operand.labels.begin())];
             first != array.extents[d])
      fail_diagonal(term[d], first, array.extents[d]);
    add_dimension(operand, label, array.strides[d]);
  }
  return operand;
}

// Takes the dimensions away that are broadcast.
void leave_out_broadcast(Operand& operand, const std::vector<std::int64_t>& own,
                         const std::vector<std::int64_t>& extents) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (own[d] != extents[operand.labels[d]]) continue;
    operand.labels[kept] = operand.labels[d];
    operand.strides[kept++] = own[d] > 1 ? operand.strides[d] : 0;
  }
  operand.labels.resize(kept);
  operand.strides.resize(kept);
}

// Which of two labels has the larger stride, by all operands that have both with strides other than zero.
enum class Comparison : std::uint8_t { Unknown, FirstOutside, FirstInside };
Comparison compare(const Contraction& contraction, std::uint32_t first, std::uint32_t second) {
  auto result = Comparison::Unknown;
  for (const auto& operand : contraction.operands) {
    const auto stride_of = [&](std::uint32_t label) -> std::int64_t {
      const auto found = std::find(operand.labels.begin(), operand.labels.end(), label);
      return found == operand.labels.end()
                 ? 0
                 : std::abs(operand.strides[static_cast<std::size_t>(found - operand.labels.begin())]);
    };
    const auto a = stride_of(first);
    const auto b = stride_of(second);
    if (a == 0 || b == 0) continue;
    // Where operands differ the order in which the output has them wins.
    if (b <= a) result = Comparison::FirstOutside;
    else if (result == Comparison::Unknown) result = Comparison::FirstInside;
  }
  return result;
}

}  // namespace

Contraction bind_arrays(const Equation& equation, const std::vector<StridedArray>& arrays) {
  Contraction result;
  Numbering numbers;
  std::vector<std::vector<std::int64_t>> own(arrays.size());
  result.operands.reserve(arrays.size());
  result.extents.reserve(kFewLabels);
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const auto& term = equation.terms[n];
    auto operand = labelled(term, arrays[n], numbers, own[n]);
    result.extents.resize(numbers.size(), 1);
    for (std::size_t d = 0; d < operand.labels.size(); ++d) {
      auto& extent = result.extents[operand.labels[d]];
      if (extent == 1) extent = own[n][d];
      else if (own[n][d] != 1 && own[n][d] != extent)
        fail_extents(*std::find_if(term.begin(), term.end(), [&](Label l) { return numbers[l] == operand.labels[d]; }),
                     n, extent, own[n][d]);
    }
    result.operands.push_back(std::move(operand));
  }
  for (std::size_t n = 0; n < arrays.size(); ++n) leave_out_broadcast(result.operands[n], own[n], result.extents);
  for (const auto label : *equation.output) result.output.push_back(numbers[label]);
  return result;
}

std::vector<std::uint32_t> memory_order(const Contraction& contraction, Order order, bool all_fortran) {
  auto sorted = contraction.output;
  if (order == Order::F || (order == Order::A && all_fortran)) std::reverse(sorted.begin(), sorted.end());
  if (order != Order::K) return sorted;
  // An insertion from the innermost label outwards, which stops where the strides of the operands say so. Labels that
  // no operand compares stay as they are. Those that are summed take part, innermost at first.
  const auto is_output = [&](std::uint32_t label) {
    return std::find(contraction.output.begin(), contraction.output.end(), label) != contraction.output.end();
  };
  for (std::uint32_t label = 0; label < contraction.extents.size(); ++label)
    if (!is_output(label)) sorted.push_back(label);
  std::reverse(sorted.begin(), sorted.end());
  for (std::size_t n = 1; n < sorted.size(); ++n) {
    const auto label = sorted[n];
    auto place = n;
    for (std::size_t other = n; other-- > 0;) {
      const auto comparison = compare(contraction, label, sorted[other]);
      if (comparison == Comparison::FirstOutside) break;
      if (comparison == Comparison::FirstInside) place = other;
    }
    std::rotate(sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.begin() + static_cast<std::ptrdiff_t>(n),
                sorted.begin() + static_cast<std::ptrdiff_t>(n) + 1);
  }
  std::reverse(sorted.begin(), sorted.end());
  std::erase_if(sorted, [&](std::uint32_t label) { return !is_output(label); });
  return sorted;
}

}  // namespace eindb_python
