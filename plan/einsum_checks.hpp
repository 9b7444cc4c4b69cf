#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Throws with the invariant in words and the place where it does not hold.
class Checker {
 public:
  explicit Checker(std::string place) : place_(std::move(place)) {}
  void operator()(bool holds, const char* invariant) const { CHECK(holds, place_ + ": " + invariant); }

 private:
  std::string place_;
};

/// The EinSum's own invariants (tensor/einsum.hpp), whatever its labels and operands are numbered.
void check_einsum(const EinSum& einsum, const LabelTable& table, const Checker& check);
/// That the types fit operands of the given ones; of an EinSum that check_einsum accepts.
void check_types(const EinSum& einsum, const std::vector<DType>& operands, DType compute, DType result,
                 const Checker& check);

}  // namespace eindb
