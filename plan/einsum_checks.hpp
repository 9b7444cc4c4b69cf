#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Throws an Error{Internal} with the violated invariant and its place.
class Checker {
 public:
  explicit Checker(std::string place) : place_(std::move(place)) {}
  void operator()(bool holds, const char* invariant) const { CHECK(holds, place_ + ": " + invariant); }

 private:
  std::string place_;
};

/// Checks the EinSum's own invariants (tensor/einsum.hpp).
void check_einsum(const EinSum& einsum, const LabelTable& table, const Checker& check);
/// Checks that the types fit operands of the given types. The EinSum must satisfy check_einsum.
void check_types(const EinSum& einsum, const std::vector<DType>& operands, DType compute, DType result,
                 const Checker& check);

}  // namespace eindb
