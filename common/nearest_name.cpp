#include "common/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestName = 256;  // longer names are not compared, which bounds the quadratic distance

bool same(char a, char b) { return to_lower(a) == to_lower(b); }

/// Optimal string alignment distance (Damerau-Levenshtein without edits inside a swap): three rows of the table,
/// where row i, column j is the distance between the first i bytes of a and the first j of b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// The most edits that still count as a misspelling.
std::size_t allowance(std::string_view a, std::string_view b) {
  const auto longer = std::max(a.size(), b.size());
  return longer < 2 ? 0 : std::max<std::size_t>(1, longer / 3);
}

template <class Text>
std::optional<std::string> nearest(std::string_view name, std::span<const Text> candidates) {
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string_view candidate : candidates) {
    if (std::max(name.size(), candidate.size()) > kLongestName) continue;
    const auto edits = distance(name, candidate);
    if (edits > allowance(name, candidate) || (best && edits >= best_distance)) continue;
    best = std::string(candidate);
    best_distance = edits;
  }
  return best;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string_view> candidates) {
  return nearest(name, candidates);
}

std::optional<std::string> nearest_name(std::string_view name, std::span<const std::string> candidates) {
  return nearest(name, candidates);
}

}  // namespace eindb
