#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/results/result.hpp"

namespace eindb {

/// Where brackets, blanks and line ends go in the print of an array, and which elements are left out. For 2 x 3:
///
///     [[0 1 2]
///      [3 4 5]]
///
/// An array of more than 1000 elements shows 3 elements (fewer for high ranks) at each end of dimensions that are
/// longer, with `...` between. Lines break at 75 columns, and an empty line parts matrices.
class ArrayLayout {
 public:
  explicit ArrayLayout(const Shape& shape);

  /// Visits the indices of the elements that are shown, in row-major order.
  void for_each_shown(const std::function<void(const std::vector<std::int64_t>&)>& visit) const;
  /// The array from the texts of its shown elements, in that order.
  std::string arrange(const std::vector<std::string>& texts) const;

 private:
  struct Dimension {
    std::vector<std::int64_t> shown;
    std::size_t gap = 0;  // `...` stands before shown[gap]; 0: nowhere
  };

  void append(std::string& out, std::size_t dimension, const std::string*& next_text) const;
  void append_line(std::string& out, const std::string*& next_text) const;

  std::vector<Dimension> dimensions_;
};

}  // namespace eindb
