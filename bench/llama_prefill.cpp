#include "bench/llama_prefill.hpp"

namespace eindb::bench {
namespace {

// One layer, from X<n> to X<n + 1>; the first layer reads X.
std::string layer(std::int64_t n, std::int64_t head_features) {
  const auto k = std::to_string(n);
  const auto in = n == 0 ? std::string("X") : "X" + k;
  const auto projected = [&](const std::string& to, const std::string& weight) {
    return to + k + "[b,s,h,p,r] = SUM(N" + k + "[b,s,a] * " + weight + k + "[a,h,p,r]),\n     ";
  };
  const auto turned = [&](const std::string& to, const std::string& from) {
    return to + k + "[b,s,h,p,q] = SUM(" + from + k + "[b,s,h,p,r] * ROPE[s,p,q,r]),\n     ";
  };
  return "N" + k + "[b,s,a] = rmsnorm(" + in + "[b,s,a], a) * G" + k + "[a],\n     " + projected("QP", "WQ") +
         projected("KP", "WK") + projected("V", "WV") + turned("Q", "QP") + turned("K", "KP") +  //
         "T" + k + "[b,h,s,t] = SUM(Q" + k + "[b,s,h,p,q] * K" + k + "[b,t,h,p,q]) / SQRT(" +
         std::to_string(head_features) + "),\n     " +  //
         "P" + k + "[b,h,s,t] = softmax(CASE WHEN t <= s THEN T" + k + "[b,h,s,t] ELSE -INFINITY END, t),\n     " +
         "O" + k + "[b,s,h,p,r] = SUM(P" + k + "[b,h,s,t] * V" + k + "[b,t,h,p,r]),\n     " +  //
         "A" + k + "[b,s,a] = " + in + "[b,s,a] + SUM(O" + k + "[b,s,h,p,r] * WO" + k + "[h,p,r,a]),\n     " + "M" + k +
         "[b,s,a] = rmsnorm(A" + k + "[b,s,a], a) * H" + k + "[a],\n     " +  //
         "U" + k + "[b,s,f] = silu(SUM(M" + k + "[b,s,a] * WG" + k + "[a,f])) * SUM(M" + k + "[b,s,a] * WU" + k +
         "[a,f]),\n     " +  //
         "X" + std::to_string(n + 1) + "[b,s,a] = A" + k + "[b,s,a] + SUM(U" + k + "[b,s,f] * WD" + k +
         "[f,a]),\n     ";
}

}  // namespace

std::vector<LlamaTensor> llama_tensor_list(const LlamaShape& shape) {
  const std::pair<std::string, std::int64_t> a{"a", shape.features()};
  const std::pair<std::string, std::int64_t> h{"h", shape.heads};
  const std::pair<std::string, std::int64_t> p{"p", shape.head_pairs};
  const std::pair<std::string, std::int64_t> r{"r", 2};
  const std::pair<std::string, std::int64_t> f{"f", shape.feed_forward};
  std::vector<LlamaTensor> out{{"X", {{"b", shape.batch}, {"s", shape.sequence}, a}},
                               {"ROPE", {{"s", shape.sequence}, p, {"q", 2}, r}},
                               {"GV", {a}},
                               {"WV", {a, {"v", shape.vocabulary}}}};
  for (std::int64_t n = 0; n < shape.layers; ++n) {
    const auto k = std::to_string(n);
    for (const auto* name : {"WQ", "WK", "WV"}) out.push_back({name + k, {a, h, p, r}});
    out.push_back({"WO" + k, {h, p, r, a}});
    for (const auto* name : {"WG", "WU"}) out.push_back({name + k, {a, f}});
    out.push_back({"WD" + k, {f, a}});
    for (const auto* name : {"G", "H"}) out.push_back({name + k, {a}});
  }
  return out;
}

std::string llama_tensors(const LlamaShape& shape) {
  std::string out;
  for (const auto& tensor : llama_tensor_list(shape)) {
    std::string dimensions;
    for (const auto& [label, extent] : tensor.dimensions)
      dimensions += (dimensions.empty() ? "" : ", ") + label + " " + std::to_string(extent);
    out += "CREATE TENSOR " + tensor.name + " (" + dimensions + ") FLOAT32;\n";
  }
  return out;
}

std::string llama_query(const LlamaShape& shape) {
  std::string out = "WITH ";
  for (std::int64_t n = 0; n < shape.layers; ++n) out += layer(n, 2 * shape.head_pairs);
  const auto last = "X" + std::to_string(shape.layers);
  return out + "LAST[b,a] = " + last + "[b," + std::to_string(shape.sequence - 1) + ",a],\n     " +
         "NV[b,a] = rmsnorm(LAST[b,a], a) * GV[a]\n" + "EINSUM L[b,v] = SUM(NV[b,a] * WV[a,v])";
}

}  // namespace eindb::bench
