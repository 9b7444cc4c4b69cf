#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "optimizer/partitions/kernel_work.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// What absent tiles save (optimizer/partitions/density). Empty where they save nothing.
struct SparseWork {
  std::vector<TileDensity> operands;
  std::vector<bool> saves_call;  ///< by the set of operands whose tiles are absent: bit n is for operand n

  friend auto operator<=>(const SparseWork&, const SparseWork&) = default;
};

/// The extents of an EinSum and where its labels stand, as plain numbers. Entry n of `extents`, and of a partition
/// vector d, belongs to the n-th of the EinSum's distinct labels; the other members hold such n.
struct VertexShape {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::size_t>> inputs;
  std::vector<std::size_t> output;
  std::vector<std::size_t> aggregated;
  KernelWork work = {};  ///< for models that count seconds
  SparseWork sparse = {};
  std::vector<bool> made = {};     ///< of each input, whether another vertex makes it; empty: none
  bool is_read = false;            ///< whether another vertex reads the result
  std::vector<bool> at_hand = {};  ///< of each input, whether the same call has just made or read it; empty: none
  bool stays = false;              ///< whether the call that makes the result is the one that reads it

  friend auto operator<=>(const VertexShape&, const VertexShape&) = default;
};
/// Of a vertex of the graph.
VertexShape shape_of(const EinGraph& graph, const Vertex& vertex);
/// Of an EinSum by itself: everything in it is FLOAT64.
VertexShape shape_of(const EinSum& einsum, const LabelTable& labels);

bool is_at_hand(const VertexShape& shape, std::size_t input);

/// d[wanted; all]: the entries of a partition vector at the given places.
Partition project(const Partition& d, const std::vector<std::size_t>& places);

/// ceil(extent / parts), the size of the largest part along one dimension, as costs count it.
double part_extent(std::int64_t extent, std::int64_t parts);
/// Elements of the largest tile over the labels at the given places of a shape that d cuts.
double tile_elements(const VertexShape& shape, const Partition& d, const std::vector<std::size_t>& places);

/// The `transfers` cost model (EinDecomp, section 7): an upper bound on the numbers moved between kernel calls. All
/// results are numbers of elements, as doubles. The figures of the paper and of its example chains come out of the
/// formulas as they stand, with these readings:
/// - p in cost_join and cost_agg is N(d), the calls that d really makes: it differs from the wanted p where the
///   extents allow fewer, and under strategy sqrt, which makes more.
/// - N(d) counts every distinct label, also broadcast ones; an input's tile has only the labels that it is read with.
/// - A part of extent b cut d ways counts as ceil(b / d). (The chains with s = 400 are the same with b / d: their best
///   partition vectors cut evenly.)
/// Example, Z[i,k] = SUM(X[i,j] Y[j,k]) on 8 x 8: d = [4,1,4] over i, j, k moves 512 into the join and none into the
/// aggregation; d = [2,2,4] moves 64 into the aggregation.

/// N(d), the product of all parts.
double kernel_calls(const Partition& d);
/// N(d) (n_X + n_Y), with n_X the elements of one tile of X; the sum over as many inputs as there are, but for those
/// that are at hand.
double cost_join(const VertexShape& shape, const Partition& d);
/// (N(d) / n_agg) (n_agg - 1) n_Z, with n_agg the product of d over the aggregated labels.
double cost_agg(const VertexShape& shape, const Partition& d);
/// Moving a tensor from the producer's partition to the consumer's, with n_p and n_c elements per tile, n_int elements
/// of a consumer's tile from one producer's tile, and n elements in all:
///
///     (n_c / n_int - 1) (n / n_c) (n_c + n_p), plus n_p n / n_c if n_p != n_int
///
/// Zero where the partitions are equal or the tensor is empty. Example: 8 x 8 from [2,4] to [4,1] costs 320.
double cost_repart(const Partition& producer, const Partition& consumer, const std::vector<std::int64_t>& extents);

/// What a labelling costs, in one unit: the sum over all vertices and edges. An implementation holds figures of its
/// own at most; any number of threads may ask it.
class CostModel {
 public:
  virtual ~CostModel() = default;

  virtual std::string_view name() const = 0;
  /// Bringing tiles to the kernel calls of a vertex, and making them.
  virtual double join(const VertexShape& shape, const Partition& d) const = 0;
  /// Bringing partial results of kernel calls together.
  virtual double aggregation(const VertexShape& shape, const Partition& d) const = 0;
  /// Moving a tensor from its producer's partition to its consumer's. Never negative, zero where both are equal.
  virtual double repartition(const Partition& producer, const Partition& consumer,
                             const std::vector<std::int64_t>& extents, std::size_t element_bytes) const = 0;
};

/// The model `transfers`: numbers of elements, by the functions above.
const CostModel& transfers_model();

}  // namespace eindb
