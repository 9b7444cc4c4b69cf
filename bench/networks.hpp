#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/paths/contraction_path.hpp"

namespace eindb::bench {

/// A generated contraction to find a path for. The same on every machine: seeds are fixed.
struct NamedNetwork {
  std::string name;
  ContractionProblem problem;
  /// Whether it counts for the mean of the target: random regular, lattice and hyperedge networks of 50 operands and
  /// more.
  bool counts = false;
};

/// n matrices in a row with random extents and open ends.
NamedNetwork chain(std::size_t n);
/// Every operand shares a label with `degree` random others; all extents are 2.
NamedNetwork random_regular(std::size_t n, std::size_t degree, std::uint64_t seed);
/// Every operand shares a label of extent `bond` with each neighbour on a grid.
NamedNetwork lattice(std::size_t rows, std::size_t columns, std::int64_t bond);
/// Every operand shares a label with a random earlier one.
NamedNetwork tree(std::size_t n);
/// The inner product of two matrix product states of `sites` sites: bonds of 16, sites of 2.
NamedNetwork mps_inner_product(std::size_t sites);
/// Labels with two to five operands each, three per operand on average.
NamedNetwork hyperedges(std::size_t n, std::uint64_t seed);
/// Every pair of operands shares a label: the densest network.
NamedNetwork complete(std::size_t n, std::uint64_t seed);

/// The networks on which path algorithms are compared, from 14 operands to 1000, and one of 100,000.
std::vector<NamedNetwork> benchmark_networks();
/// Networks of 15 operands, for which an optimal path should be found in milliseconds.
std::vector<NamedNetwork> networks_of_15();
/// Networks of every kind that greedy can handle at any size, each with about n operands.
std::vector<NamedNetwork> networks_at_scale(std::size_t n);

}  // namespace eindb::bench
