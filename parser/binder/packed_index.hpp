#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/ein_graph.hpp"
#include "tensor/scalar_expression.hpp"

namespace eindb {

/// Labels of a tensor whose indices one element of INT64 holds, each in as many bits as an index of its extent and one
/// outside (all ones) need, the first label in the highest. tensor/access_form reads cells by such elements. Immutable.
class PackedIndex {
 public:
  /// `labels` with their extents, which are not negative.
  explicit PackedIndex(std::vector<std::pair<Label, std::int64_t>> labels);

  /// Whether the bits of one element are enough.
  bool fits() const;
  /// `before` holds the labels before the n-th, n > 0: the same and the index of that label. An index outside becomes
  /// all ones.
  ScalarPtr appended(const ScalarPtr& before, const ScalarPtr& index, std::size_t n) const;
  /// label = its bits of `element`, for all of the labels.
  ScalarPtr condition(const ScalarPtr& element) const;

 private:
  static std::int64_t width_of(std::int64_t extent);

  std::vector<std::pair<Label, std::int64_t>> labels_;
};

}  // namespace eindb
