#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/partitions/labelling.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// The layout of a tensor, or of the label space of a vertex, on a mesh of 2^n workers. The mesh axes x0, x1, ... have
/// two places each; `axes` lists the axes that cut each dimension, the major one first. An axis cuts at most one
/// dimension. An axis that cuts none replicates, or holds everything at its first place.
struct MeshType {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<int>> axes;  ///< for each dimension
  std::vector<int> first_only = {};    ///< axes whose second place holds nothing; they cut nothing

  /// Prints "[2{x0}4, 3]": local size, axes from minor to major, global size; " at x1=0" is appended for axes of
  /// `first_only`. The local size is that of the largest part.
  std::string to_string() const;
  /// The blocks of all `ranks` ranks; worker n is rank n, and ranks beyond 2^mesh_axes have none.
  BlockPlacement blocks(int mesh_axes, std::size_t ranks) const;
};

/// Where one vertex is computed, and the cost of bringing its tiles there.
struct VertexPlacement {
  Labels labels;   ///< labels of the partition vector of the vertex or its chain; empty for inputs
  MeshType calls;  ///< layout of the kernel calls over these labels
  /// Layout of the result. Partial results along cut summed labels are reduced and scattered: the axes of these labels
  /// cut the result, as far as possible.
  MeshType result;
  /// Elements that workers receive: inputs of their kernel calls that they do not hold, and partial results of their
  /// part of the result.
  double received = 0;
  double most_received = 0;  ///< by the busiest worker
};

struct Placement {
  int mesh_axes = 0;
  std::vector<VertexPlacement> vertices;  ///< entry n belongs to VertexId(n); inputs have an assumed layout
  double received = 0;
  double most_received = 0;  ///< sum over the vertices of the elements that the busiest worker receives
};

/// A cache of the layouts of kernel calls, for one graph and one number of workers. Identical vertices, such as those
/// of the layers of a model, and vertices that are placed again with the same vector and operands are searched once.
class KnownCalls {
 public:
  /// A vertex's labels and vector, and the layout of its operands; these determine the layout of its calls.
  using Key = std::vector<std::int64_t>;

  const MeshType* find(const Key& key) const {
    const auto found = calls_.find(key);
    return found == calls_.end() ? nullptr : &found->second;
  }
  void add(Key key, const MeshType& calls) { calls_.emplace(std::move(key), calls); }

 private:
  std::map<Key, MeshType> calls_;
};

/// Lays a labelled graph out over the largest power of two of workers, without talking to any. The cuts of each vertex
/// are assigned to axes so that workers receive the least. On meshes of a few axes all assignments are tried. On larger
/// ones axes go first to labels along which they cut inputs already, the largest input first; the remaining axes go to
/// labels of the result before summed labels. If there are more kernel calls than workers, a worker makes several with
/// neighbouring keys; if there are fewer, some workers repeat the same calls, or make none if that saves transfers. The
/// vertices of a fused chain (FusedChain) are placed together and receive nothing from each other. Stored tensors are
/// assumed to be sharded over all workers, along the dimensions in which they are cut, then the first.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers);
/// The same with a cache, which it extends.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers, KnownCalls& known);

/// The assumed layout of a stored tensor with this grid on a mesh of `mesh_axes` axes.
MeshType stored_type(const TileGrid& grid, int mesh_axes);

}  // namespace eindb
