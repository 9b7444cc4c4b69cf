#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/strong_id.hpp"
#include "tensor/einsum.hpp"
#include "tensor/partition.hpp"

namespace eindb {

using VertexId = StrongId<struct VertexTag>;

/// X[3,j]: a stored tensor with some dimensions held at one index.
struct Selection {
  TileGrid stored;                              ///< of the whole tensor
  std::vector<std::optional<std::int64_t>> at;  ///< one entry per stored dimension; set: the index it is held at
  /// Dimensions that are held at the value that a parameter (numbered as in ScalarExpression::parameter) has when the
  /// plan runs, any in the extent; `at` has the one that the plan was made with, which nothing but predictions may
  /// depend on.
  std::map<std::size_t, std::size_t> parameters = {};

  /// The tile of the stored tensor that holds the selection's tile of `key`.
  std::int64_t stored_tile(const TileKey& key) const;
  /// Grid of what is left: the free dimensions, cut as they are stored.
  TileGrid grid() const;
  /// "(3,:)", "($1,:)" where parameter 0 gives the index.
  std::string to_string() const;

  friend bool operator==(const Selection&, const Selection&) = default;
};

/// How much of a tensor is there: the share of tiles that are not absent, and the partition that these tiles are of.
/// Known of stored tensors, estimated of results.
struct TileDensity {
  double present = 1;
  Partition parts = {};  ///< as many as dimensions; of no account where all tiles are there

  bool is_sparse() const { return present < 1; }
  friend auto operator<=>(const TileDensity&, const TileDensity&) = default;
};

/// A tensor of the catalog, or one in a program's memory, as a plan sees it: name, type, extents and how it is cut.
struct InputTensor {
  std::string name;
  DType dtype = DType::Float64;
  TileGrid grid;                            ///< of what is read: of the selection, if there is one
  std::optional<Selection> selection = {};  ///< absent: the whole tensor
  bool attached = false;                    ///< in memory: as a whole it can be read in any partition
  double present = 1;                       ///< the share of its tiles that are stored, about

  friend bool operator==(const InputTensor&, const InputTensor&) = default;
};

/// What is left of `tensor` with the set dimensions of `at` held at their index: X(3,:) held at 5 is X(3,5). `at` has
/// one entry per dimension that the tensor still has, within its extent; `parameters` as Selection's, of these.
InputTensor held_at(const InputTensor& tensor, const std::vector<std::optional<std::int64_t>>& at,
                    const std::map<std::size_t, std::size_t>& parameters = {});

/// One vertex of an EinGraph: (bound, EinSum, inputs) of the EinDecomp paper, section 5.
struct Vertex {
  std::string name;                   ///< the head's name, or the input tensor's
  std::optional<InputTensor> stored;  ///< set exactly for vertices without an EinSum: inputs of the computation
  std::vector<VertexId> inputs;       ///< operand n of the EinSum is the result of inputs[n]
  EinSum einsum;
  Shape bound;                           ///< extents of the result
  DType dtype = DType::Float64;          ///< element type of the result
  DType compute_dtype = DType::Float64;  ///< of the expression's value, which is aggregated
  TileDensity density = {};              ///< found out when all rewrites are done

  bool is_input() const { return stored.has_value(); }
};

/// A label whose range is worked through part by part: in `parts` slices, as if it were cut so.
struct SlicedLabel {
  Label label;
  std::int64_t parts = 1;

  friend bool operator==(const SlicedLabel&, const SlicedLabel&) = default;
};

/// Vertices that are computed slice by slice, so that no more than one slice of each is held: for every combination of
/// parts of `labels` the whole body once, over these parts alone. What the slices give for the same cell of the result
/// is aggregated; where a sliced label is in the result's head, slices fill it part by part.
///
/// Example: T[i,k] = SUM(A[i,j] * B[j,k]), Z[] = SUM(T[i,k] * C[k,i]) with i in 4 parts holds a quarter of T at a time.
/// Invariants (plan/validator): the body is in the order of computation and ends in `result`; what another vertex of
/// the body reads no vertex outside of it does, nor is it an output; every vertex of it depends on a sliced label.
struct SlicedContraction {
  VertexId result;
  std::vector<VertexId> body;
  std::vector<SlicedLabel> labels;        ///< each in more than one part
  Aggregate aggregate = Aggregate::None;  ///< of several slices' values for one cell; None if there is but one
  bool streamed = false;                  ///< stored tensors that have a sliced label are read anew by every slice

  /// How often the body is run.
  double slices() const;
};

/// Vertices that are computed together, strip by strip: for some indices of `rows` all of the body, then for the next,
/// so that what one vertex of it makes for another stays in the caches and is never stored.
///
/// Example: M[i] = MAX(X[i,j]), E[i,j] = EXP(X[i,j] - M[i]), T[i] = SUM(E[i,j]), Z[i,j] = E[i,j] / T[i] have the rows
/// i. Invariants (plan/validator): the body is in the order of computation and ends in `result`; what another vertex of
/// the body reads no vertex outside of it does, it is no output, and it is read with the labels of its head; every head
/// has all of `rows`.
struct FusedChain {
  VertexId result;
  std::vector<VertexId> body;
  Labels rows;  ///< those that are best cut first come first
};

/// The logical plan: a DAG of EinSum vertices over the labels of one statement.
/// Invariants (plan/validator): inputs of a vertex come before it; there is an output; outputs are vertices with an
/// EinSum, none of them twice, and may be read by other vertices; extents agree with labels.
/// After the contraction-order pass every vertex has at most two inputs.
/// A value: passes take one graph and give another.
class EinGraph {
 public:
  VertexId add(Vertex vertex);
  void set_output(VertexId output) { outputs_ = {output}; }
  void set_outputs(std::vector<VertexId> outputs) { outputs_ = std::move(outputs); }
  void rename(VertexId id, std::string name) { vertices_[id.index()].name = std::move(name); }
  /// Overrides the element type of a vertex's result. Only before anything reads the vertex.
  void set_dtype(VertexId id, DType type) { vertices_[id.index()].dtype = type; }
  void set_density(VertexId id, TileDensity density) { vertices_[id.index()].density = std::move(density); }

  /// Last of all: passes that make another graph do not carry slices over.
  void slice(SlicedContraction contraction) { sliced_.push_back(std::move(contraction)); }
  /// No vertex is in two of them; in the order of their results.
  const std::vector<SlicedContraction>& sliced() const { return sliced_; }
  /// Last of all, too. Where the partition vectors of a chain do not agree, or slices need one of its vertices, it is
  /// computed vertex by vertex after all.
  void fuse(FusedChain chain) { chains_.push_back(std::move(chain)); }
  /// No vertex is in two of them.
  const std::vector<FusedChain>& chains() const { return chains_; }

  /// The contraction that has the vertex in its body, or null.
  const SlicedContraction* sliced_with(VertexId id) const;
  /// Into how many parts slices cut each label of a vertex's EinSum, in the order of einsum.labels(): a partition
  /// vector of the vertex has multiples of these.
  std::vector<std::int64_t> slices_of(VertexId id) const;

  const Vertex& vertex(VertexId id) const { return vertices_[id.index()]; }
  const std::vector<Vertex>& vertices() const { return vertices_; }
  std::size_t size() const { return vertices_.size(); }
  /// The results of the statement, in its order. Passes keep their number and their order.
  const std::vector<VertexId>& outputs() const { return outputs_; }
  /// Which output the vertex is, if it is one.
  std::optional<std::size_t> output_number(VertexId id) const;
  bool is_output(VertexId id) const { return output_number(id).has_value(); }
  /// Of a graph with one.
  VertexId output() const { return outputs_.front(); }
  const LabelTable& labels() const { return labels_; }
  LabelTable& labels() { return labels_; }

  /// How many vertices read each vertex (a vertex that reads one twice counts twice); an output counts one more.
  std::vector<int> use_counts() const;
  /// The vertex as text: "Z[i,k] = SUM(X[i,j] * Y[j,k])", "X" for an input.
  std::string describe(VertexId id) const;

 private:
  LabelTable labels_;
  std::vector<Vertex> vertices_;
  std::vector<VertexId> outputs_;
  std::vector<SlicedContraction> sliced_;
  std::vector<FusedChain> chains_;
};

/// The outputs of a graph in another one made of it, in which now[n] is what VertexId(n) became.
std::vector<VertexId> outputs_now(const EinGraph& graph, const std::vector<VertexId>& now);

/// The vertex of a stored tensor or of a selection from one: named "X" or "X(3,:)".
Vertex make_input(InputTensor tensor);

/// Fills bound, dtype and compute_dtype of a vertex from its EinSum and the vertices it reads, and gives the expression
/// its types (tensor/scalar_types): the value is in `wanted` if that is given, otherwise in the type that it has.
Vertex make_vertex(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum,
                   std::optional<DType> wanted = std::nullopt);
/// The same in the smallest type that holds the value and `type`; of what adapts in `type`.
Vertex make_vertex_in(const EinGraph& graph, std::string name, std::vector<VertexId> inputs, EinSum einsum, DType type);

/// Element types of what a vertex reads.
std::vector<DType> input_types(const EinGraph& graph, const std::vector<VertexId>& inputs);

/// The partition vector d of a vertex: one number of parts per distinct label, so equal labels have equal parts.
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
