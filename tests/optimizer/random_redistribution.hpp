#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "plan/distributed_type.hpp"

namespace eindb::testing {

struct RedistributionProblem {
  DistributedType source;
  DistributedType target;
};

/// Problems drawn as in section 8 of the array redistribution paper: tensors of one to six dimensions and 64 to 800 MB
/// in FLOAT32, over a mesh of a few axes, each of which replicates or cuts one dimension with equal probability.
/// Extents are multiples of the numbers of parts.
class RandomRedistributions {
 public:
  RandomRedistributions(Mesh mesh, std::uint64_t seed) : mesh_(std::move(mesh)), random_(seed) {}

  /// `bytes` is the approximate size of the tensor.
  RedistributionProblem next() { return next(std::exp(uniform(std::log(64e6), std::log(800e6)))); }

  RedistributionProblem next(double bytes) {
    std::vector<DistributedDimension> source(static_cast<std::size_t>(below(6) + 1));
    auto target = source;
    deal_axes(source);
    deal_axes(target);
    std::vector<std::int64_t> units;  // a multiple of the parts of both types
    double elements = bytes / 4;
    for (std::size_t d = 0; d < source.size(); ++d) {
      units.push_back(std::lcm(parts(source[d]), parts(target[d])));
      elements /= static_cast<double>(units.back());
    }
    for (std::size_t d = 0; d < source.size(); ++d) {
      const auto share = std::pow(elements, 1.0 / static_cast<double>(source.size() - d));
      const bool is_last = d + 1 == source.size();
      const auto times = std::max(1.0, std::round(is_last ? share : share * uniform(0.5, 1.5)));
      elements /= times;
      source[d].extent = target[d].extent = units[d] * static_cast<std::int64_t>(times);
    }
    return {DistributedType(mesh_, std::move(source)), DistributedType(mesh_, std::move(target))};
  }

  /// Like next(), but with small extents that need not be multiples.
  RedistributionProblem next_uneven() {
    auto [source, target] = next(4e4);
    auto from = source.dimensions();
    auto to = target.dimensions();
    for (std::size_t d = 0; d < from.size(); ++d) {
      const auto most = std::max(parts(from[d]), parts(to[d]));
      from[d].extent = to[d].extent = most + below(std::min<std::int64_t>(20, 2 * most));
    }
    return {DistributedType(mesh_, std::move(from)), DistributedType(mesh_, std::move(to))};
  }

  std::int64_t below(std::int64_t end) { return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random_); }

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

  void deal_axes(std::vector<DistributedDimension>& dimensions) {
    std::vector<std::size_t> axes(mesh_.axes().size());
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    std::shuffle(axes.begin(), axes.end(), random_);
    for (const auto axis : axes) {
      const auto choice = static_cast<std::size_t>(below(static_cast<std::int64_t>(dimensions.size()) + 1));
      if (choice < dimensions.size()) dimensions[choice].axes.push_back(axis);
    }
  }

  std::int64_t parts(const DistributedDimension& dimension) const {
    std::int64_t parts = 1;
    for (const auto axis : dimension.axes) parts *= mesh_[axis].size;
    return parts;
  }

  const Mesh mesh_;
  std::mt19937_64 random_;
};

}  // namespace eindb::testing
