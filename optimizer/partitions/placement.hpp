#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/partitions/labelling.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// How something with extents, a tensor or the label space of a vertex, lies on a mesh of 2^n workers, whose axes x0,
/// x1, ... have two places each: which axes cut each dimension, the major one first. An axis cuts at most one
/// dimension; one that cuts none replicates, or has everything at its first place.
struct MeshType {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<int>> axes;  ///< of each dimension
  std::vector<int> first_only = {};    ///< axes at whose second place nothing is; they cut nothing

  /// "[2{x0}4, 3]": local size, axes from minor to major, global size; " at x1=0" for axes of `first_only`. Uneven
  /// parts count as the largest.
  std::string to_string() const;
  /// The blocks of ranks 0 to 2^mesh_axes - 1 of `ranks`, worker n being rank n; others have none.
  BlockPlacement blocks(int mesh_axes, std::size_t ranks) const;
};

/// Where one vertex is computed and what it takes to bring its tiles there.
struct VertexPlacement {
  Labels labels;   ///< of the partition vector of the vertex, or of the chain that it belongs to; empty for inputs
  MeshType calls;  ///< of the kernel calls, over these labels
  /// Of the result. Where summed labels are cut partial results are reduced and scattered: their axes cut the result,
  /// as far as it can be.
  MeshType result;
  /// Elements that workers receive: those of their kernel calls' inputs that they do not hold, and of partial results
  /// those that go into their part of the result.
  double received = 0;
  double most_received = 0;  ///< by one worker
};

struct Placement {
  int mesh_axes = 0;
  std::vector<VertexPlacement> vertices;  ///< entry n is of VertexId(n); of inputs, where they are taken to lie
  double received = 0;
  double most_received = 0;  ///< the sum over the vertices of what the busiest worker receives
};

/// The places of kernel calls that were found before, of one graph and one number of workers: vertices alike, as of the
/// layers of a model, and vertices that are placed again with the same vector and operands need no other search.
class KnownCalls {
 public:
  /// What they depend on: a vertex's labels and vector, and how its operands lie.
  using Key = std::vector<std::int64_t>;

  const MeshType* find(const Key& key) const {
    const auto found = calls_.find(key);
    return found == calls_.end() ? nullptr : &found->second;
  }
  void add(Key key, const MeshType& calls) { calls_.emplace(std::move(key), calls); }

 private:
  std::map<Key, MeshType> calls_;
};

/// Lays a labelled graph out over the first 2^n workers of as many as there are, with no worker at hand. Each vertex's
/// cuts are given axes so that workers receive the least: on meshes of a few axes all ways are tried, on larger ones
/// axes go first to labels along which inputs, the largest first, are cut by them already; then any that are left, to
/// labels of the result before labels that are summed. With more kernel calls than workers a worker makes several, of
/// neighbouring keys; with fewer, some workers make the same, or none if that saves transfers.
/// The vertices of a chain that is computed as one (FusedChain) are placed as one; within it nothing is received.
/// Stored tensors are taken to lie sharded over all workers, along the dimensions that they are cut in, then the first.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers);
/// The same, with what is known already, which becomes more.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers, KnownCalls& known);

/// Where stored tensors of such a grid are taken to lie on a mesh of that many axes.
MeshType stored_type(const TileGrid& grid, int mesh_axes);

}  // namespace eindb
