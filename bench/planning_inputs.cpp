#include "bench/planning_inputs.hpp"

#include <map>

#include "optimizer/passes.hpp"
#include "parser/binder/binder.hpp"
#include "parser/parser.hpp"

namespace eindb::bench {

EinGraph planned_graph(std::string_view query, const std::vector<std::pair<std::string, Extents>>& tensors,
                       bool keep_dead, const StoredInputs& stored) {
  std::map<std::string, InputTensor> inputs;
  for (const auto& [name, extents] : tensors) {
    const Shape shape(extents);
    inputs[name] = {name, stored.dtype,
                    TileGrid(shape, default_partition(shape, stored.dtype, stored.tile_bytes, stored.workers))};
  }
  NameSource names;
  names.find_tensor = [&](const std::string& name) {
    const auto found = inputs.find(name);
    return found == inputs.end() ? std::nullopt : std::optional(found->second);
  };
  names.tensor_names = [] { return std::vector<std::string>(); };
  const auto statement = parse_statement(query);
  auto bound = bind_query(std::get<ast::Query>(statement.node), names);
  std::vector<StageTiming> timings;
  PathSearch paths;
  const std::set<std::string> disabled = keep_dead ? std::set<std::string>{"dead_vertices"} : std::set<std::string>();
  return run_passes(std::move(bound.graph), disabled, timings, paths);
}

EinGraph matrix_chain(std::int64_t s, bool skewed, const StoredInputs& stored) {
  const auto thin = skewed ? s / 10 : s;
  const auto wide = skewed ? 10 * s : s;
  return planned_graph(
      "WITH AB[i,k] = SUM(A[i,j] * B[j,k]), DE[l,k] = SUM(D[l,m] * E[m,k]),"
      "     CDE[i,k] = SUM(C[i,l] * DE[l,k])"
      "EINSUM Z[i,k] = AB[i,k] + CDE[i,k]",
      {{"A", {s, thin}}, {"B", {thin, s}}, {"C", {s, thin}}, {"D", {thin, wide}}, {"E", {wide, s}}}, false, stored);
}

EinGraph classifier_step(std::int64_t batch, std::int64_t features, const StoredInputs& stored) {
  constexpr std::int64_t kHidden = 8192;
  constexpr std::int64_t kLabels = 14588;
  return planned_graph(
      "WITH P[b,h] = SUM(X[b,i] * W1[i,h]), H[b,h] = RELU(P[b,h]),"
      "     Q[b,l] = SUM(H[b,h] * W2[h,l]), D2[b,l] = SIGMOID(Q[b,l]) - T[b,l],"
      "     B[b,h] = SUM(D2[b,l] * W2[h,l]), D1[b,h] = CASE WHEN P[b,h] > 0 THEN B[b,h] ELSE 0 END,"
      "     G2[h,l] = SUM(H[b,h] * D2[b,l]), U2[h,l] = W2[h,l] - 1e-3 * G2[h,l],"
      "     G1[i,h] = SUM(X[b,i] * D1[b,h])"
      "EINSUM U1[i,h] = W1[i,h] - 1e-3 * G1[i,h]",
      {{"X", {batch, features}}, {"W1", {features, kHidden}}, {"W2", {kHidden, kLabels}}, {"T", {batch, kLabels}}},
      true, stored);
}

EinGraph llama_graph(std::int64_t batch, std::int64_t sequence) {
  LlamaShape shape;
  shape.batch = batch;
  shape.sequence = sequence;
  return llama_graph(shape);
}

EinGraph llama_graph(const LlamaShape& shape, const StoredInputs& stored) {
  std::vector<std::pair<std::string, Extents>> tensors;
  for (const auto& tensor : llama_tensor_list(shape)) {
    auto& extents = tensors.emplace_back(tensor.name, Extents{}).second;
    for (const auto& dimension : tensor.dimensions) extents.push_back(dimension.second);
  }
  return planned_graph(llama_query(shape), tensors, false, stored);
}

}  // namespace eindb::bench
