#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace eindb::bench {

/// A decoder-only transformer of the LLaMA family; the defaults are those of its model of 7 billion parameters.
struct LlamaShape {
  std::int64_t layers = 32;
  std::int64_t batch = 8;
  std::int64_t sequence = 4096;
  std::int64_t heads = 32;
  std::int64_t head_pairs = 64;  ///< half of a head's features: rotary embeddings turn them in pairs
  std::int64_t feed_forward = 11008;
  std::int64_t vocabulary = 32000;

  std::int64_t features() const { return heads * head_pairs * 2; }
};

struct LlamaTensor {
  std::string name;
  std::vector<std::pair<std::string, std::int64_t>> dimensions;  ///< label and extent
};
/// The embedded prompt X, the rotations ROPE and all weights.
std::vector<LlamaTensor> llama_tensor_list(const LlamaShape& shape);

/// CREATE TENSOR statements for all of them: FLOAT32, with no tile present.
std::string llama_tensors(const LlamaShape& shape);

/// WITH ... EINSUM: the logits of the first token after the prompt, L[b,v], from X. Layer after layer: RMS norm,
/// rotary causal attention, residual, RMS norm, SwiGLU, residual. Labels: b batch, s and t positions, a feature, h
/// head, p and q or r feature of a head (pair and place in it), f feed-forward, v vocabulary.
std::string llama_query(const LlamaShape& shape);

}  // namespace eindb::bench
