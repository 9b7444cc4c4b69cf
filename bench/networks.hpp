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
  /// For the mean of the target: random regular, lattice and hyperedge networks of 50 operands and more.
  bool counts = false;
};

/// n matrices in a row with random extents and open ends.
NamedNetwork chain(std::size_t n);
/// Every operand shares a label with `degree` others, drawn at random; all extents are 2.
NamedNetwork random_regular(std::size_t n, std::size_t degree, std::uint64_t seed);
/// Every operand shares a label of extent `bond` with its neighbours on a grid.
NamedNetwork lattice(std::size_t rows, std::size_t columns, std::int64_t bond);
/// Every operand shares a label with one before it, drawn at random.
NamedNetwork tree(std::size_t n);
/// The inner product of two matrix product states of `sites` sites: bonds of 16, sites of 2.
NamedNetwork mps_inner_product(std::size_t sites);
/// Labels of two to five operands each, three per operand on the average.
NamedNetwork hyperedges(std::size_t n, std::uint64_t seed);
/// Every two operands share a label: as dense as it gets.
NamedNetwork complete(std::size_t n, std::uint64_t seed);

/// What paths are held against each other on, from 14 operands to 1000, and one of 100,000.
std::vector<NamedNetwork> benchmark_networks();
/// Networks of 15 operands, for which a path is optimal and is wanted in milliseconds.
std::vector<NamedNetwork> networks_of_15();
/// The kinds of networks that greedy takes any number of operands of, each with about n.
std::vector<NamedNetwork> networks_at_scale(std::size_t n);

}  // namespace eindb::bench
