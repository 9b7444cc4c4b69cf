#include "bench/llama_prefill.hpp"

#include <initializer_list>

namespace eindb::bench {
namespace {

struct Dimension {
  const char* label;
  std::int64_t extent;
};

std::string tensor(const std::string& name, std::initializer_list<Dimension> dimensions) {
  std::string list;
  for (const auto& d : dimensions)
    list += (list.empty() ? "" : ", ") + std::string(d.label) + " " + std::to_string(d.extent);
  return "CREATE TENSOR " + name + " (" + list + ") FLOAT32;\n";
}

// One layer: from X<n> to X<n + 1>; the first reads X.
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
         "A" + k + "[b,s,a] = " + in + "[b,s,a] + SUM(O" + k + "[b,s,h,p,r] * WO" + k + "[h,p,r,a]),\n     " +
         "M" + k + "[b,s,a] = rmsnorm(A" + k + "[b,s,a], a) * H" + k + "[a],\n     " +  //
         "U" + k + "[b,s,f] = silu(SUM(M" + k + "[b,s,a] * WG" + k + "[a,f])) * SUM(M" + k + "[b,s,a] * WU" + k +
         "[a,f]),\n     " +  //
         "X" + std::to_string(n + 1) + "[b,s,a] = A" + k + "[b,s,a] + SUM(U" + k + "[b,s,f] * WD" + k +
         "[f,a]),\n     ";
}

}  // namespace

std::string llama_tensors(const LlamaShape& shape) {
  const Dimension a{"a", shape.features()};
  const Dimension h{"h", shape.heads};
  const Dimension p{"p", shape.head_pairs};
  const Dimension r{"r", 2};
  const Dimension f{"f", shape.feed_forward};
  std::string out = tensor("X", {{"b", shape.batch}, {"s", shape.sequence}, a}) +
                    tensor("ROPE", {{"s", shape.sequence}, p, {"q", 2}, r}) + tensor("GV", {a}) +
                    tensor("WV", {a, {"v", shape.vocabulary}});
  for (std::int64_t n = 0; n < shape.layers; ++n) {
    const auto k = std::to_string(n);
    for (const auto* name : {"WQ", "WK", "WV"}) out += tensor(name + k, {a, h, p, r});
    out += tensor("WO" + k, {h, p, r, a}) + tensor("WG" + k, {a, f}) + tensor("WU" + k, {a, f}) +
           tensor("WD" + k, {f, a}) + tensor("G" + k, {a}) + tensor("H" + k, {a});
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
