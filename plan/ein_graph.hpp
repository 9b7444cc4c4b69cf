#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/strong_id.hpp"
#include "tensor/cell_spread.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"
#include "tensor/stored_type.hpp"

namespace eindb {

using VertexId = StrongId<struct VertexTag>;

/// The number of an index that is counted from the end where it is negative: -1 is the last one. nullopt outside.
constexpr std::optional<std::int64_t> index_within(std::int64_t index, std::int64_t extent) {
  if (index < 0) index += extent;
  return index >= 0 && index < extent ? std::optional(index) : std::nullopt;
}

/// X[3,j]: a selection from a stored tensor, with some dimensions held at one index.
struct Selection {
  TileGrid stored;                              ///< the grid of the whole tensor
  std::vector<std::optional<std::int64_t>> at;  ///< one entry per stored dimension: the index it is held at, if any
  /// Dimensions held at the value that a parameter (numbered as in ScalarExpression::parameter) has when the plan runs,
  /// any index within the extent, also counted from the end. `at` has its value at planning time, on which only
  /// predictions may depend.
  std::map<std::size_t, std::size_t> parameters = {};
  /// About how many cells the whole tensor has; nullopt if that is not known.
  std::optional<double> stored_cells = {};
  /// Whether stored tiles are read as tiles of cells, of which what is selected becomes plain values. A choice of the
  /// plan for one process.
  bool as_cells = false;

  /// The tile of the stored tensor that contains the selection's tile `key`.
  std::int64_t stored_tile(const TileKey& key) const;
  /// The grid of the free dimensions, cut as they are stored.
  TileGrid grid() const;
  /// "(3,:)"; "($1,:)" if parameter 0 gives the index.
  std::string to_string() const;

  friend bool operator==(const Selection&, const Selection&) = default;
};

/// The density of a tensor: the share of tiles that are present, and the partition of these tiles. Known for stored
/// tensors, estimated for results.
struct TileDensity {
  double present = 1;
  Partition parts = {};  ///< one entry per dimension; irrelevant if all tiles are present

  bool is_sparse() const { return present < 1; }
  friend auto operator<=>(const TileDensity&, const TileDensity&) = default;
};

/// A tensor of the catalog or of a program's memory as a plan sees it: name, type and grid.
struct InputTensor {
  std::string name;
  DType dtype = DType::Float64;
  TileGrid grid;                            ///< of the selection, if there is one, else of the tensor
  std::optional<Selection> selection = {};  ///< nullopt: the whole tensor
  bool attached = false;                    ///< in the program's memory: the whole tensor can be read in any partition
  double present = 1;                       ///< the approximate share of its tiles that are stored
  Encoding encoding = Encoding::Plain;      ///< of the stored tiles
  /// About how many cells are stored; nullopt if that is not known.
  std::optional<CellEstimate> cells = {};
  /// Whether tiles are read as tiles of cells (Tile::is_of_cells), which can be in any partition. The planner's choice,
  /// for tensors whose `cells` are known and without a selection.
  bool as_cells = false;
  DimensionNames names = {};  ///< of the dimensions of `grid`
  /// Computed earlier in the same run, and not stored: its tiles are there, in its own partition.
  bool is_computed = false;

  /// Whether the whole tensor can be read in any partition, at no more cost than in its own.
  bool reads_in_any_partition() const { return (as_cells && !is_computed) || (attached && !selection); }
  /// The grid of the whole tensor, as it is stored.
  const TileGrid& stored_grid() const { return selection ? selection->stored : grid; }

  friend bool operator==(const InputTensor&, const InputTensor&) = default;
};

/// The bytes of tiles of cells relative to those of dense ones.
double share_of_cells(double cells, DType type, const Shape& shape);
/// The same where they are stored or sent.
double packed_share_of_cells(double cells, DType type, const Shape& shape);

/// The selection from `tensor` with the set dimensions of `at` held at their index: X(3,:) held at 5 is X(3,5). `at`
/// has one entry per remaining dimension of `tensor`, within its extent; `parameters` as in Selection, for these
/// dimensions.
InputTensor held_at(const InputTensor& tensor, const std::vector<std::optional<std::int64_t>>& at,
                    const std::map<std::size_t, std::size_t>& parameters = {});

/// One vertex of an EinGraph: (bound, EinSum, inputs) of the EinDecomp paper, section 5.
struct Vertex {
  std::string name;                   ///< the head's name, or the input tensor's
  std::optional<InputTensor> stored;  ///< set exactly for inputs of the computation, which have no EinSum
  std::vector<VertexId> inputs;       ///< operand n of the EinSum is the result of inputs[n]
  EinSum einsum;
  Shape bound;                           ///< extents of the result
  DType dtype = DType::Float64;          ///< element type of the result
  DType compute_dtype = DType::Float64;  ///< type of the expression's value, which is aggregated
  TileDensity density = {};              ///< filled in after all rewrites
  /// Set where the tiles of its tensor are tiles of cells: about how many cells they have. The planner's choice.
  std::optional<CellEstimate> cells = {};
  bool keeps_order = false;          ///< a step of an order of contraction that the statement gives
  bool is_compared = false;          ///< an extreme whose derivative looks for values that are equal to it
  bool is_part_of_adapting = false;  ///< cells of an operand that adapts, without computation

  bool is_input() const { return stored.has_value(); }
  /// The bytes of its tiles relative to those of dense ones; 1 unless they are of cells.
  double stored_share() const { return cells ? share_of_cells(cells->cells, dtype, bound) : 1; }
  /// The same where they are stored or sent.
  double packed_share() const { return cells ? packed_share_of_cells(cells->cells, dtype, bound) : 1; }
  /// Whether its values, which are INT64, take the type of what they meet, as constants do: those of stored integers of
  /// at most 16 bits.
  bool adapts() const { return is_part_of_adapting || (stored && eindb::adapts(stored->encoding)); }
};

/// Vertices in a list whose copies share them: copying costs a pointer for each vertex. A vertex that is shared never
/// changes; `change` makes the list's own copy of it first.
class VertexList {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Vertex;
    using difference_type = std::ptrdiff_t;
    using pointer = const Vertex*;
    using reference = const Vertex&;

    Iterator() = default;
    explicit Iterator(const std::shared_ptr<Vertex>* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    const std::shared_ptr<Vertex>* at_ = nullptr;
  };

  std::size_t size() const { return vertices_.size(); }
  const Vertex& operator[](std::size_t n) const { return *vertices_[n]; }
  const Vertex& back() const { return *vertices_.back(); }
  Iterator begin() const { return Iterator(vertices_.data()); }
  Iterator end() const { return Iterator(vertices_.data() + vertices_.size()); }

  void push_back(Vertex vertex) { vertices_.push_back(std::make_shared<Vertex>(std::move(vertex))); }
  /// Adds vertex n of another list, without a copy.
  void push_back(const VertexList& from, std::size_t n) { vertices_.push_back(from.vertices_[n]); }
  void set(std::size_t n, Vertex vertex) { vertices_[n] = std::make_shared<Vertex>(std::move(vertex)); }
  Vertex& change(std::size_t n) {
    if (vertices_[n].use_count() > 1) vertices_[n] = std::make_shared<Vertex>(*vertices_[n]);
    return *vertices_[n];
  }
  /// Whether vertex n is the same object as vertex n of the other list, and therefore equal to it.
  bool shares(std::size_t n, const VertexList& other) const {
    return n < other.size() && vertices_[n] == other.vertices_[n];
  }

 private:
  std::vector<std::shared_ptr<Vertex>> vertices_;  // those with several owners are not changed
};

/// A label whose range is processed in `parts` slices, one after the other, as if it were cut.
struct SlicedLabel {
  Label label;
  std::int64_t parts = 1;

  friend bool operator==(const SlicedLabel&, const SlicedLabel&) = default;
};

/// Vertices that are computed slice by slice, so that only one slice of each is held. The whole body runs once for
/// every combination of parts of `labels`, restricted to these parts. Values that slices give for the same cell of the
/// result are aggregated; if a sliced label is in the result's head, slices fill the result part by part.
///
/// Example: T[i,k] = SUM(A[i,j] * B[j,k]), Z[] = SUM(T[i,k] * C[k,i]) with i in 4 parts holds a quarter of T at a time.
/// Invariants (plan/validator): the body is in the order of computation and ends in `result`; every other vertex of the
/// body is read only within it and is no output; every vertex of the body depends on a sliced label.
struct SlicedContraction {
  VertexId result;
  std::vector<VertexId> body;
  std::vector<SlicedLabel> labels;  ///< each in more than one part
  /// Combines several slices' values of one cell; None if there is only one value.
  Aggregate aggregate = Aggregate::None;
  bool streamed = false;  ///< every slice reads stored tensors that have a sliced label again

  /// The number of times that the body runs.
  double slices() const;
};

/// Vertices that are computed together, strip by strip: the whole body runs for some indices of `rows`, then for the
/// next, so that intermediate values stay in the caches and are never stored.
///
/// Example: M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), T[i] = SUM(E[i,j]), Z[i,j] = E[i,j] / T[i] have the rows
/// i. Invariants (plan/validator): the body is in the order of computation and ends in `result`; every other vertex of
/// the body is read only within it, with the labels of its head, and is no output; every head has all of `rows`, but
/// for those of windows (is_window_of), which are not computed.
struct FusedChain {
  VertexId result;
  std::vector<VertexId> body;
  Labels rows;  ///< in the order in which they are best cut
};

/// The logical plan: a DAG of EinSum vertices over the labels of one statement. Invariants (plan/validator): the inputs
/// of a vertex precede it; there is at least one output; outputs are distinct vertices with an EinSum, and may have
/// readers; extents agree with labels. After the contraction-order pass every vertex has at most two inputs. A value
/// type: passes map one graph to another, and share the vertices that they leave as they are.
class EinGraph {
 public:
  VertexId add(Vertex vertex);
  /// Adds vertex n of a list, whose inputs are vertices of this graph, without a copy.
  VertexId add(const VertexList& from, std::size_t n);
  void set_output(VertexId output) { outputs_ = {output}; }
  void set_outputs(std::vector<VertexId> outputs) { outputs_ = std::move(outputs); }
  /// Puts another vertex in the place of one that nothing reads yet.
  void replace(VertexId id, Vertex vertex) { vertices_.set(id.index(), std::move(vertex)); }
  void rename(VertexId id, std::string name) { vertices_.change(id.index()).name = std::move(name); }
  /// Overrides the element type of a vertex's result. Must be called before anything reads the vertex.
  void set_dtype(VertexId id, DType type) { vertices_.change(id.index()).dtype = type; }
  void set_density(VertexId id, TileDensity density);
  /// Decides whether the tiles of a vertex's tensor are of cells (Vertex::cells, for an input InputTensor::as_cells).
  void hold_as_cells(VertexId id, std::optional<CellEstimate> cells);
  /// Says that values are compared with this extreme of them, so that both must be computed in the same order.
  void set_compared(VertexId id) { vertices_.change(id.index()).is_compared = true; }

  /// Must come last, since passes that build a new graph drop slices.
  void slice(SlicedContraction contraction) { sliced_.push_back(std::move(contraction)); }
  /// Disjoint, in the order of their results.
  const std::vector<SlicedContraction>& sliced() const { return sliced_; }
  /// Must come last too. If the partition vectors of a chain disagree, or slices need one of its vertices, it is
  /// computed vertex by vertex after all.
  void fuse(FusedChain chain) { chains_.push_back(std::move(chain)); }
  void drop_chains() { chains_.clear(); }
  /// Disjoint.
  const std::vector<FusedChain>& chains() const { return chains_; }

  /// The sliced contraction whose body has the vertex, or null.
  const SlicedContraction* sliced_with(VertexId id) const;
  /// The number of slices of each label of a vertex's EinSum, in the order of einsum.labels(); the vertex's partition
  /// vector has multiples of these.
  std::vector<std::int64_t> slices_of(VertexId id) const;

  const Vertex& vertex(VertexId id) const { return vertices_[id.index()]; }
  const VertexList& vertices() const { return vertices_; }
  std::size_t size() const { return vertices_.size(); }
  /// The results of the statement, in its order. Passes preserve their number and order.
  const std::vector<VertexId>& outputs() const { return outputs_; }
  /// The index of the vertex among the outputs; nullopt if it is none.
  std::optional<std::size_t> output_number(VertexId id) const;
  bool is_output(VertexId id) const { return output_number(id).has_value(); }
  /// The only output of the graph.
  VertexId output() const { return outputs_.front(); }
  const LabelTable& labels() const { return labels_; }
  LabelTable& labels() { return labels_; }

  /// For each vertex, the number of operands that read it; an output counts one more.
  std::vector<int> use_counts() const;
  /// The vertex as text: "Z[i,k] = SUM(X[i,j] * Y[j,k])", "X" for an input.
  std::string describe(VertexId id) const;

 private:
  LabelTable labels_;
  VertexList vertices_;
  std::vector<VertexId> outputs_;
  std::vector<SlicedContraction> sliced_;
  std::vector<FusedChain> chains_;
};

/// The outputs of a graph in one derived from it, where now[n] replaces VertexId(n).
std::vector<VertexId> outputs_now(const EinGraph& graph, const std::vector<VertexId>& now);

/// The input vertex of a stored tensor or of a selection, named "X" or "X(3,:)".
Vertex make_input(InputTensor tensor);

/// Fills in bound, dtype and compute_dtype of a vertex from its EinSum and inputs, and types the expression
/// (tensor/scalar_types). Its value has the type `wanted` if given, otherwise its natural type.
Vertex make_vertex(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum,
                   std::optional<DType> wanted = std::nullopt);
/// The same in the smallest type that holds both the value and `type`; a value without a type of its own gets `type`.
Vertex make_vertex_in(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum, DType type);

/// Whether the vertex is a window (window_form in tensor/access_form) whose cells have the type of its operand's.
bool is_window_of(const EinGraph& graph, const Vertex& vertex);

/// The element types of the given inputs.
std::vector<DType> input_types(const EinGraph& graph, const std::vector<VertexId>& inputs);

/// The partition vector d of a vertex: the number of parts of each distinct label, so equal labels have equal parts.
struct LabelPartition {
  Labels labels;
  std::vector<std::int64_t> parts;

  std::int64_t of(Label label) const;
  /// d[labels; all labels]: the entries for `wanted`, in its order.
  Partition project(const Labels& wanted) const;
  /// N(d), the number of kernel calls: the product of all parts.
  std::int64_t kernel_calls() const;
  /// "i:4 j:1 k:4".
  std::string to_string(const LabelTable& table) const;

  friend bool operator==(const LabelPartition&, const LabelPartition&) = default;
};

}  // namespace eindb
