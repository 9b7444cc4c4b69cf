#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/llama_prefill.hpp"
#include "plan/ein_graph.hpp"

namespace eindb::bench {

using Extents = std::vector<std::int64_t>;

/// How the tensors of a query are stored: by default partitions for tiles of so many bytes, and for so many workers.
struct StoredInputs {
  DType dtype = DType::Float32;
  std::int64_t tile_bytes = 1 << 20;
  std::int64_t workers = 1;
};

/// The graph of a query as the optimizer passes it to EinDecomp: bound, rewritten, contractions ordered. `keep_dead`
/// keeps vertices that the output does not need.
EinGraph planned_graph(std::string_view query, const std::vector<std::pair<std::string, Extents>>& tensors,
                       bool keep_dead = false, const StoredInputs& stored = {});

/// (A B) + (C (D E)), EinDecomp's first experiment: all matrices s x s, or the skewed ones.
EinGraph matrix_chain(std::int64_t s, bool skewed, const StoredInputs& stored = {});

/// One step of gradient descent of EinDecomp's second experiment: `features` inputs, 8192 hidden neurons, 14,588
/// labels; both weights are updated.
EinGraph classifier_step(std::int64_t batch, std::int64_t features, const StoredInputs& stored = {});

/// The prefill of a model of LLaMA's family.
EinGraph llama_graph(const LlamaShape& shape, const StoredInputs& stored = {});
/// Of the model of 7 billion parameters.
EinGraph llama_graph(std::int64_t batch, std::int64_t sequence);

}  // namespace eindb::bench
