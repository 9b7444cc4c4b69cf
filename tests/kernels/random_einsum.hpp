#pragma once

#include <random>
#include <string>
#include <vector>

#include "executor/kernels/level_table.hpp"
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
  /// The type with the lowest precision among those of the computation.
  DType precision() const;
  std::vector<const Tile*> pointers() const;
  std::string describe() const;
};

using Random = std::mt19937_64;

/// Uniform in [low, high].
std::int64_t draw(Random& random, std::int64_t low, std::int64_t high);

/// Small integers and fractions, so that results stay near 1 and comparisons meet equal values. `specials`: also
/// infinities, NaN and zeros of both signs, or the ends of INT64's range.
Tile random_tile(Random& random, DType type, Shape shape, bool specials = false);

/// The choices of random_general.
struct RandomChoices {
  std::int64_t most_labels = 6;
  std::int64_t largest_extent = 9;  ///< smaller if there are many labels
  bool products = true;             ///< PROD, which may overflow to infinity or NaN depending on the order
  bool integers = false;            ///< INT64 tensors, and only operations that stay in INT64
};

/// Any expression and aggregate over 0 to 2 inputs.
RandomEinSum random_general(Random& random, const RandomChoices& choices = {});
/// SUM over a product of two inputs of one floating type, with up to 7 labels of every role.
RandomEinSum random_contraction(Random& random, DType type, std::int64_t largest_extent);

/// Runs the kernel as a join would: the labels cut into random parts, the calls of a group accumulated in sequence, and
/// the groups' tiles assembled. Every other gather of rows has them sorted.
Tile run_in_parts(const RandomEinSum& sample, const LevelTable& level, Random& random);

/// The longest sum of the sample, in terms.
double terms_of(const RandomEinSum& sample);

/// Compares element by element; `terms` is the number of terms of the longest sum. Equal infinities, and NaN in the
/// same positions, count as equal.
void expect_close(const Tile& actual, const Tile& expected, DType compute, double terms, const std::string& what);

}  // namespace eindb
