#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.hpp"
#include "tensor/einsum.hpp"

namespace eindb {

/// Throws an Error{Internal} with the violated invariant and its place.
class Checker {
 public:
  explicit Checker(std::string place) : place_(std::move(place)) {}
  /// The place is "`kind``name`"; the name must outlive the checker.
  Checker(std::string_view kind, std::string_view name) : kind_(kind), name_(name) {}
  void operator()(bool holds, const char* invariant) const {
    CHECK(holds, place_ + std::string(kind_) + std::string(name_) + ": " + invariant);
  }

 private:
  std::string place_;
  std::string_view kind_;
  std::string_view name_;
};

/// Checks the EinSum's own invariants (tensor/einsum.hpp).
void check_einsum(const EinSum& einsum, const LabelTable& table, const Checker& check);
/// Checks that the types fit operands of the given types. The EinSum must satisfy check_einsum.
void check_types(const EinSum& einsum, const std::vector<DType>& operands, DType compute, DType result,
                 const Checker& check);

}  // namespace eindb
