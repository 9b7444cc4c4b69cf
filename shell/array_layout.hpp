#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// The positions of brackets, blanks and line ends in a printed array, and the choice of its elements. For 2 x 3:
///
///     [[0 1 2]
///      [3 4 5]]
///
/// For an array of more than 1000 elements, longer dimensions show 3 elements (fewer for high ranks) at each end, with
/// `...` in between. Lines break at 75 columns, and empty lines separate matrices.
class ArrayLayout {
 public:
  explicit ArrayLayout(const Shape& shape);

  /// Visits the indices of the shown elements in row-major order.
  void for_each_shown(const std::function<void(const std::vector<std::int64_t>&)>& visit) const;
  /// Formats the array from the texts of its shown elements, in that order.
  std::string arrange(const std::vector<std::string>& texts) const;

 private:
  struct Dimension {
    std::vector<std::int64_t> shown;
    std::size_t gap = 0;  // `...` precedes shown[gap]; 0: no gap
  };

  void append(std::string& out, std::size_t dimension, const std::string*& next_text) const;
  void append_line(std::string& out, const std::string*& next_text) const;

  std::vector<Dimension> dimensions_;
};

}  // namespace eindb
