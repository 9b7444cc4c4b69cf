#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace eindb::simulation {

/// A square matrix of small integers, for which floating-point sums and products are exact.
struct Matrix {
  std::size_t side = 0;
  std::vector<double> cells;

  double& at(std::size_t i, std::size_t j) { return cells[i * side + j]; }
  double at(std::size_t i, std::size_t j) const { return cells[i * side + j]; }
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

/// The contents of a database: its tensors by name, and the number in its table as a matrix of one cell.
using Model = std::map<std::string, Matrix>;
constexpr const char* kTable = "t";  // sorts after the names of tensors

template <class F>
Matrix matrix_of(std::size_t side, F f) {
  Matrix out{side, std::vector<double>(side * side)};
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j) out.at(i, j) = static_cast<double>(f(i, j));
  return out;
}

}  // namespace eindb::simulation
