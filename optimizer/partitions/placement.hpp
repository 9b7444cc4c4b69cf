#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "optimizer/partitions/input_places.hpp"
#include "optimizer/partitions/labelling.hpp"
#include "plan/distributed_type.hpp"

namespace eindb {

/// Where one vertex is computed, and the cost of bringing its tiles there.
struct VertexPlacement {
  Labels labels;  ///< labels of the partition vector of the vertex or its chain; empty for inputs
  /// Layout of the kernel calls over these labels, on Placement::mesh. Of two aligned labels (tensor/access_form) the
  /// determined one is cut as the other, and has no axes here.
  DistributedType calls;
  /// Layout of the result. Partial results along cut summed labels are reduced and scattered: the axes of these labels
  /// cut the result, as far as possible. Of an input, the layout that is most like the place of its tiles.
  DistributedType result;
  /// Elements that workers receive: inputs of their kernel calls that they do not hold, and partial results of their
  /// part of the result.
  double received = 0;
  double most_received = 0;  ///< by the busiest worker
};

/// The elements and bytes that workers receive.
struct PlacementCost {
  double received = 0;       ///< elements
  double most_received = 0;  ///< sum over the vertices of the elements that the busiest worker receives
  double bytes = 0;          ///< the same in bytes, those of cells packed, of which placement makes the least
  double most_bytes = 0;
};

struct Placement : PlacementCost {
  Mesh mesh;                              ///< Mesh::of_primes of the workers
  std::vector<VertexPlacement> vertices;  ///< entry n belongs to VertexId(n)
};

/// The axes of the mesh that are given to kernel calls.
struct CallAxes {
  std::vector<std::vector<int>> axes;  ///< for each label of the partition vector, the major axis first
  std::vector<int> first_only = {};    ///< as DistributedType::first_only()
};

/// A cache of the layouts of kernel calls, for one graph and the places of its inputs. Identical vertices, such as
/// those of the layers of a model, and vertices that are placed again with the same vector and operands are searched
/// once.
class KnownCalls {
 public:
  /// A vertex's labels and vector, and the layout of its operands; these determine the layout of its calls.
  using Key = std::vector<std::int64_t>;

  const CallAxes* find(const Key& key) const {
    const auto found = calls_.find(key);
    return found == calls_.end() ? nullptr : &found->second;
  }
  void add(Key key, CallAxes calls) { calls_.emplace(std::move(key), std::move(calls)); }

 private:
  std::map<Key, CallAxes> calls_;
};

/// Lays a labelled graph out over workers, without talking to any: on a mesh with an axis for each prime factor of
/// their number, as array redistribution, section 4, factors meshes. The cuts of each vertex are assigned to axes so
/// that workers receive the least bytes: a label that is cut into six parts gets an axis of two and one of three. On
/// meshes of a few axes all assignments are tried. On larger ones axes go first to labels along which they cut inputs
/// already, the largest input first; the remaining axes go to labels of the result before summed labels. If there are
/// more kernel calls than workers, the workers' number should divide theirs (worker_count.hpp); a worker makes several
/// with neighbouring keys; if there are fewer, some workers repeat the same calls, or make none if that saves
/// transfers. The vertices of a fused chain (FusedChain) are placed together and receive nothing from each other. Of
/// stored tensors workers receive the tiles that they do not hold.
Placement place(const EinGraph& graph, const Labelling& labelling, const InputPlaces& inputs);
/// The same with stored tensors that were newly written to so many workers.
Placement place(const EinGraph& graph, const Labelling& labelling, std::int64_t workers);
/// The cost of the same layout, with a cache, which it extends.
PlacementCost placement_cost(const EinGraph& graph, const Labelling& labelling, const InputPlaces& inputs,
                             KnownCalls& known);

}  // namespace eindb
