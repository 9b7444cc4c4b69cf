#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/partitions/kernel_work.hpp"
#include "plan/ein_graph.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"

namespace eindb {

/// The work that absent tiles save (optimizer/partitions/density). Empty if they save nothing.
struct SparseWork {
  std::vector<TileDensity> operands;
  std::vector<bool> saves_call;  ///< indexed by the set of operands whose tiles are absent: bit n stands for operand n

  friend auto operator<=>(const SparseWork&, const SparseWork&) = default;
};

/// A label of an access whose index other labels determine (tensor/access_form), or along which a scan runs
/// (tensor/scan_form).
struct DeterminedPlace {
  std::size_t place = 0;
  bool gathered = false;                                          ///< an operand has the index, or it is a scan's
  std::vector<std::pair<std::size_t, std::int64_t>> behind = {};  ///< otherwise: the places and their coefficients

  friend auto operator<=>(const DeterminedPlace&, const DeterminedPlace&) = default;
};

/// An operand of cells, as the lines that a kernel goes through: cells that differ in one label alone.
struct CellLines {
  std::vector<std::size_t> outer;  ///< places of the other labels
  std::size_t along = 0;           ///< the place of that one
  double cells = 0;
  double seconds = 0;  ///< what a line takes beside its cells

  friend auto operator<=>(const CellLines&, const CellLines&) = default;
};

/// The extents of an EinSum and the positions of its labels, as plain numbers. Entry n of `extents`, and of a partition
/// vector d, belongs to the n-th distinct label of the EinSum; the other members hold such positions n.
struct VertexShape {
  std::vector<std::int64_t> extents;
  std::vector<std::vector<std::size_t>> inputs;
  std::vector<std::size_t> output;
  std::vector<std::size_t> aggregated;
  std::vector<DeterminedPlace> determined = {};  ///< of an access or a scan; empty otherwise
  /// Of an access whose result consists of rows of its source: the input that tells which. A kernel visits each row
  /// once, whatever parts the source has.
  std::optional<std::size_t> rows = {};
  std::vector<std::size_t> whole = {};  ///< the labels that a call takes as one, and that are not cut
  std::vector<std::size_t> uncut = {};  ///< others that are not cut (tensor/scan_form)
  /// Of a vertex that is computed from the cells of operands: the most parts of each label, and the seconds that it
  /// takes in one call. Empty and 0 for others.
  std::vector<std::int64_t> most_parts = {};
  double cell_seconds = 0;
  bool shares_cells = false;               ///< whether threads without a call help with those of others, by cells
  std::vector<CellLines> cell_lines = {};  ///< of the operands of cells, and of a result of cells
  std::vector<double> stored_shares = {};  ///< for each input, the bytes of its tiles relative to dense ones; empty: 1
  double result_share = 1;                 ///< the same of the result
  KernelWork work = {};                    ///< for models that predict seconds
  SparseWork sparse = {};
  std::vector<bool> made = {};     ///< for each input, whether another vertex makes it; empty: none
  bool is_read = false;            ///< whether another vertex reads the result
  std::vector<bool> at_hand = {};  ///< for each input, whether the same call has just made or read it; empty: none
  bool stays = false;              ///< whether the call that makes the result also reads it
  bool is_looked_through = false;  ///< whether it is a window, so that its operand is read in place of its result

  friend auto operator<=>(const VertexShape&, const VertexShape&) = default;
};
/// The extents along which a vertex may be cut: 1 for a label that is never cut.
std::vector<std::int64_t> cuttable_extents(const VertexShape& shape);
std::vector<std::int64_t> cuttable_extents(const EinSum& einsum, DType compute, const LabelTable& table);
/// The same of a vertex as its result is held: aggregated labels of one of cells are not cut.
std::vector<std::int64_t> cuttable_extents(const Vertex& vertex, const LabelTable& table);
/// The shape of a vertex of the graph.
VertexShape shape_of(const EinGraph& graph, const Vertex& vertex);
/// The shape of an EinSum alone, with every element type FLOAT64.
VertexShape shape_of(const EinSum& einsum, const LabelTable& labels);

bool is_at_hand(const VertexShape& shape, std::size_t input);
/// The bytes of an input's tiles relative to those of dense ones.
double stored_share(const VertexShape& shape, std::size_t input);

/// d[wanted; all]: the entries of a partition vector at the given places.
Partition project(const Partition& d, const std::vector<std::size_t>& places);

/// Of the parts into which d cuts the determined labels of an access, the number that a part of the other labels
/// reaches, and its share of all; 1 without such labels. Where an operand has the indices, any part may be reached.
double reached_parts(const VertexShape& shape, const Partition& d);
double reached_share(const VertexShape& shape, const Partition& d);
/// The cells that a kernel call visits: of an access those of its free labels, otherwise all of the join.
double visited_cells(const VertexShape& shape, const Partition& d);
/// Of the calls for a tile of a result that consists of rows, the share that has some, if these lie anywhere.
double share_with_rows(const VertexShape& shape, const Partition& d);

/// ceil(extent / parts), the size of the largest part along one dimension, as costs count it.
double part_extent(std::int64_t extent, std::int64_t parts);
/// Elements of the largest tile over the labels at the given places of a shape that d cuts.
double tile_elements(const VertexShape& shape, const Partition& d, const std::vector<std::size_t>& places);

/// The parts in which calls read an input, and the elements of such a tile. A label of it whose index in an access
/// follows from one label that d cuts is cut as that one is, with a halo (plan/halo); others as d says.
Partition read_partition(const VertexShape& shape, const Partition& d, std::size_t input);
double read_elements(const VertexShape& shape, const Partition& d, std::size_t input);

/// The `transfers` cost model (EinDecomp, section 7): an upper bound on the elements moved between kernel calls. All
/// results are numbers of elements, as doubles. The formulas reproduce the figures of the paper and of its example
/// chains, read as follows:
/// - p in cost_join and cost_agg is N(d), the calls that d really makes. It differs from the wanted p where the extents
///   allow fewer calls, and under strategy sqrt, which makes more.
/// - N(d) counts every distinct label, broadcast labels included; an input's tile has only the labels it is read with.
/// - A part of extent b cut d ways counts as ceil(b / d). (For the chains with s = 400 this equals b / d, since their
///   best partition vectors cut evenly.)
/// Example, Z[i,k] = SUM(X[i,j] Y[j,k]) on 8 x 8: d = [4,1,4] over i, j, k moves 512 into the join and none into the
/// aggregation; d = [2,2,4] moves 64 into the aggregation.

/// N(d), the product of all parts.
double kernel_calls(const Partition& d);
/// N(d) (n_X + n_Y), with n_X the elements of one tile of X; generalised to the sum over all inputs, except those at
/// hand.
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

/// The cost of a labelling in one unit: the sum over all vertices and edges. Implementations are immutable; any number
/// of threads may call them.
class CostModel {
 public:
  virtual ~CostModel() = default;

  virtual std::string_view name() const = 0;
  /// The cost of bringing tiles to the kernel calls of a vertex, and of the calls themselves.
  virtual double join(const VertexShape& shape, const Partition& d) const = 0;
  /// The cost of combining the partial results of kernel calls.
  virtual double aggregation(const VertexShape& shape, const Partition& d) const = 0;
  /// The cost of moving a tensor from its producer's partition to its consumer's. Never negative; zero if both are
  /// equal.
  virtual double repartition(const Partition& producer, const Partition& consumer,
                             const std::vector<std::int64_t>& extents, std::size_t element_bytes) const = 0;
};

/// The model `transfers`: numbers of elements, by the functions above.
const CostModel& transfers_model();

}  // namespace eindb
