#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/ein_graph.hpp"

namespace eindb::bench {

using Extents = std::vector<std::int64_t>;

/// The graph of a query as the optimizer passes it to EinDecomp: bound, rewritten, contractions ordered. Its tensors
/// are FLOAT32, with their default partitions. `keep_dead` keeps vertices that the output does not need.
EinGraph planned_graph(std::string_view query, const std::vector<std::pair<std::string, Extents>>& tensors,
                       bool keep_dead = false);

/// (A B) + (C (D E)), EinDecomp's first experiment: all matrices s x s, or the skewed ones.
EinGraph matrix_chain(std::int64_t s, bool skewed);

/// One step of gradient descent of EinDecomp's second experiment: `features` inputs, 8192 hidden neurons, 14,588
/// labels; both weights are updated.
EinGraph classifier_step(std::int64_t batch, std::int64_t features);

/// The prefill of LLaMA's model of 7 billion parameters (bench/llama_prefill).
EinGraph llama_graph(std::int64_t batch, std::int64_t sequence);

}  // namespace eindb::bench
