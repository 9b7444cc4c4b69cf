#pragma once

#include <algorithm>
#include <numeric>
#include <random>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb::testing {

/// Networks of every kind: hyperedges, disconnected parts, scalars, labels of one operand alone, any output.
inline ContractionProblem random_network(std::mt19937& random, std::size_t operands, std::size_t labels,
                                         unsigned one_in) {
  ContractionProblem problem{std::vector<std::vector<std::size_t>>(operands), {}, {}};
  for (std::size_t label = 0; label < labels; ++label) {
    problem.extents.push_back(static_cast<std::int64_t>(1 + random() % 7));
    bool occurs = false;
    for (auto& operand : problem.operands) {
      if (random() % one_in != 0) continue;
      operand.push_back(label);
      occurs = true;
    }
    if (occurs && random() % 4 == 0) problem.output.push_back(label);
  }
  return problem;
}

/// Every operand has `degree` labels, each shared with one other operand (or twice with the same one).
inline ContractionProblem regular_network(std::mt19937& random, std::size_t operands, std::size_t degree,
                                          std::int64_t extent) {
  std::vector<std::size_t> stubs;
  for (std::size_t n = 0; n < operands; ++n) stubs.insert(stubs.end(), degree, n);
  std::shuffle(stubs.begin(), stubs.end(), random);
  ContractionProblem problem{std::vector<std::vector<std::size_t>>(operands), {}, {}};
  for (std::size_t s = 0; s + 1 < stubs.size(); s += 2) {
    if (stubs[s] == stubs[s + 1]) continue;
    problem.operands[stubs[s]].push_back(problem.extents.size());
    problem.operands[stubs[s + 1]].push_back(problem.extents.size());
    problem.extents.push_back(extent);
  }
  return problem;
}

/// A chain of n matrices with open ends.
inline ContractionProblem chain(std::mt19937& random, std::size_t n) {
  ContractionProblem problem{{}, {0, n}, {}};
  for (std::size_t o = 0; o <= n; ++o) problem.extents.push_back(static_cast<std::int64_t>(2 + random() % 50));
  for (std::size_t o = 0; o < n; ++o) problem.operands.push_back({o, o + 1});
  return problem;
}

/// Operands are the vertices of a lattice, which share a label of extent 2 with each neighbour.
inline ContractionProblem lattice(std::size_t rows, std::size_t columns) {
  ContractionProblem problem{std::vector<std::vector<std::size_t>>(rows * columns), {}, {}};
  const auto connect = [&](std::size_t a, std::size_t b) {
    problem.operands[a].push_back(problem.extents.size());
    problem.operands[b].push_back(problem.extents.size());
    problem.extents.push_back(2);
  };
  for (std::size_t n = 0; n < rows * columns; ++n) {
    if (n % columns + 1 < columns) connect(n, n + 1);
    if (n + columns < rows * columns) connect(n, n + columns);
  }
  return problem;
}

/// The queens on a board of n x n: every square has a label, which its row, column and both diagonals pass through.
/// Each line hands on a label of its own from square to square.
inline ContractionProblem queens(std::size_t n) {
  ContractionProblem problem;
  const auto add_label = [&] {
    problem.extents.push_back(2);
    return problem.extents.size() - 1;
  };
  std::vector<std::size_t> lines(2 * n + 2 * (2 * n - 1));  // rows, columns, diagonals, diagonals the other way
  for (auto& label : lines) label = add_label();
  for (std::size_t line = 0; line < lines.size(); ++line) problem.operands.push_back({lines[line]});
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      const auto square = add_label();
      for (const auto line : {row, n + column, 2 * n + row + column, 5 * n - 2 + row - column}) {
        const auto next = add_label();
        problem.operands.push_back({lines[line], square, next});
        lines[line] = next;
      }
    }
  }
  return problem;
}

}  // namespace eindb::testing
