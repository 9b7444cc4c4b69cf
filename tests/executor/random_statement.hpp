#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/executor/stored_tensors.hpp"
#include "tests/optimizer/graph_builder.hpp"

namespace eindb::testing {

/// One to four vertices in sequence, each reading the previous one and stored tensors, with labels of all extents,
/// epilogues, label values, selections and every aggregate.
class RandomStatement {
 public:
  /// `bound`: as the binder produces it, without epilogues, which only passes create.
  RandomStatement(std::mt19937& random, double absent, std::pair<int, int> values, bool bound = false)
      : random_(random), bound_(bound) {
    for (int l = 0; l < 4; ++l) all_.push_back(builder.label("l" + std::to_string(l), 1 + any(6)));
    const auto type = kTypes[any(4)];
    const auto vertices = 1 + any(4);
    std::optional<GraphBuilder::Read> previous;
    for (std::int64_t v = 0; v < vertices; ++v) {
      std::vector<GraphBuilder::Read> reads;
      if (previous) reads.push_back(*previous);
      const auto inputs = previous ? any(2) : any(3);
      for (std::int64_t n = 0; n <= inputs; ++n)
        reads.push_back(
            input("X" + std::to_string(v) + std::to_string(n), any(3) == 0 ? kTypes[any(4)] : type, absent, values));
      previous = vertex("Z" + std::to_string(v), reads, absent == 0);
    }
  }

  /// Makes some intermediate vertices outputs too, and possibly one of them again, transposed; in random order.
  void want_several() {
    std::vector<VertexId> outputs{made_.back()};
    for (std::size_t n = 0; n + 1 < made_.size(); ++n)
      if (any(2) == 0) outputs.push_back(made_[n]);
    if (any(2) == 0) {
      auto twin =
          builder.graph.vertex(outputs[static_cast<std::size_t>(any(static_cast<std::int64_t>(outputs.size())))]);
      twin.name += "t";
      std::reverse(twin.einsum.output.begin(), twin.einsum.output.end());
      twin.bound = Shape(builder.graph.labels().extents(twin.einsum.output));
      outputs.push_back(builder.graph.add(std::move(twin)));
    }
    std::shuffle(outputs.begin(), outputs.end(), random_);
    builder.graph.set_outputs(std::move(outputs));
  }

  GraphBuilder builder;
  StoredTensors tensors;

  /// By output.
  std::vector<DenseTensor> expected() const {
    return evaluate_outputs(builder.graph, [&](const Vertex& vertex) { return dense(*vertex.stored); });
  }

 private:
  std::int64_t any(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  // The tensor, or the selection from it.
  DenseTensor dense(const InputTensor& tensor) const {
    const auto& whole = tensors.dense(tensor.name);
    auto out = Tile::uninitialized(tensor.dtype, tensor.grid.shape());
    const auto strides = whole.shape().row_major_strides();
    std::vector<std::int64_t> free;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      if (tensor.selection && tensor.selection->at[d]) offset += *tensor.selection->at[d] * strides[d];
      else free.push_back(strides[d]);
    }
    const auto size = size_of(tensor.dtype);
    copy_block(out.mutable_bytes().data(), out.shape().row_major_strides(),
               whole.bytes().data() + static_cast<std::size_t>(offset) * size, free, out.shape().extents(), size);
    return out;
  }

  GraphBuilder::Read input(const std::string& name, DType type, double absent, std::pair<int, int> values) {
    Labels labels;
    for (const auto label : all_)
      if (any(2) == 0) labels.push_back(label);
    if (!labels.empty() && any(8) == 0) labels.push_back(labels[0]);  // a diagonal
    const auto extents = builder.graph.labels().extents(labels);
    auto stored = extents;
    std::vector<std::optional<std::int64_t>> at(extents.size());
    if (any(4) == 0) {
      stored.insert(stored.begin(), 5);
      at.insert(at.begin(), any(5));
    }
    Partition parts;
    for (const auto extent : stored) parts.push_back(1 + any(extent));
    const TileGrid grid(Shape(stored), parts);
    tensors.add(name, random_tensor(random_, grid, type, absent, values), grid);
    InputTensor tensor{name, type, grid};
    if (stored.size() > extents.size()) tensor = held_at(tensor, at);
    return {builder.graph.add(make_input(tensor)), labels};
  }

  GraphBuilder::Read vertex(const std::string& name, const std::vector<GraphBuilder::Read>& reads, bool plain) {
    EinSum e;
    std::vector<VertexId> inputs;
    Labels used;
    bool complex = false;
    bool stored = true;
    for (const auto& read : reads) {
      inputs.push_back(read.vertex);
      e.inputs.push_back(read.labels);
      append_distinct(used, read.labels);
      complex = complex || is_complex(builder.graph.vertex(read.vertex).dtype);
      stored = stored && builder.graph.vertex(read.vertex).is_input();
    }
    e.expression = product(reads.size());
    if (!plain && any(3) == 0) {
      e.expression = call(ScalarOp::Add, {e.expression, index(all_[0])});
      append_distinct(used, {all_[0]});
      stored = false;
    }
    for (const auto label : used) (any(2) == 0 ? e.output : e.aggregated).push_back(label);
    if (any(4) == 0)
      for (const auto label : difference(all_, used)) e.output.push_back(label);
    if (!e.aggregated.empty()) {
      const Aggregate kinds[] = {Aggregate::Sum, Aggregate::Sum, stored ? Aggregate::Prod : Aggregate::Sum,
                                 complex ? Aggregate::Sum : Aggregate::Min, complex ? Aggregate::Sum : Aggregate::Max};
      e.aggregate = plain ? Aggregate::Sum : kinds[any(5)];
      if (!plain && any(3) == 0 && !bound_) e.epilogue = call(ScalarOp::Add, {op(0), number(any(2))});
    }
    const auto output = e.output;
    const auto id = builder.graph.add(make_vertex(builder.graph, name, inputs, std::move(e)));
    builder.graph.set_output(id);
    made_.push_back(id);
    return {id, output};
  }

  static constexpr DType kTypes[] = {DType::Int64, DType::Float64, DType::Float32, DType::Complex128};

  std::mt19937& random_;
  const bool bound_;
  Labels all_;
  std::vector<VertexId> made_;
};

}  // namespace eindb::testing
