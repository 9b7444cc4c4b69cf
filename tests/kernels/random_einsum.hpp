#pragma once

#include <random>
#include <string>
#include <vector>

#include "tensor/einsum.hpp"
#include "tensor/tile.hpp"

namespace eindb {

/// A random EinSum with tensors to run it on, drawn from a fixed seed.
struct RandomEinSum {
  LabelTable labels;
  EinSum einsum;
  std::vector<Tile> tensors;
  DType compute = DType::Float64;
  DType result = DType::Float64;

  std::vector<DType> types() const;
  std::vector<const Tile*> pointers() const;
  std::string describe() const;
};

using Random = std::mt19937_64;

/// Uniform in [low, high].
std::int64_t draw(Random& random, std::int64_t low, std::int64_t high);

/// Small whole numbers and fractions, so that results stay near 1 and comparisons meet equal values.
Tile random_tile(Random& random, DType type, Shape shape);

/// A random expression over `operands` and labels as numbers, of at most `depth` nested operations. `complex`: only
/// operations that complex numbers have.
ScalarPtr random_expression(Random& random, std::size_t operands, const Labels& labels, int depth, bool complex);

/// Any expression and aggregate over 0 to 2 inputs.
RandomEinSum random_general(Random& random);
/// SUM over a product of two inputs of one floating type, with up to 7 labels of every role.
RandomEinSum random_contraction(Random& random, DType type, std::int64_t largest_extent);

/// Runs the kernel as a join would: the labels cut into random parts, the calls of one group accumulated one after the
/// other, the groups' tiles put together.
Tile run_in_parts(const RandomEinSum& sample, const struct LevelTable& level, Random& random);

/// Compares element by element; `terms` is how many values the longest sum has. Equal infinities and NaN in the same
/// places count as equal.
void expect_close(const Tile& actual, const Tile& expected, DType compute, double terms, const std::string& what);

}  // namespace eindb
