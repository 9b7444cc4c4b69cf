#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tensor/cell_spread.hpp"

namespace eindb {

/// The cells that runs of a statement have found where others were expected, for the next plan of the same statement.
/// Plans alone depend on it. Not thread-safe.
class ObservedCells {
 public:
  static constexpr std::size_t kMost = 64;  ///< more than a statement has intermediates that matter

  /// Of a product of tensors by its key (plan/cell_product); the spread is in the order of the key's
  /// labels, or empty. Takes the place of what was found before.
  void put(const std::string& key, CellEstimate cells) {
    const auto* known = find(key);
    if (known == nullptr ? by_key_.size() >= kMost : *known == cells) return;
    by_key_.insert_or_assign(key, std::move(cells));
    ++version_;
  }
  /// Null if nothing was found of it. Valid until the next put().
  const CellEstimate* find(const std::string& key) const {
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : &found->second;
  }
  bool empty() const { return by_key_.empty(); }
  /// Increases with each put() that changes something.
  std::uint64_t version() const { return version_; }

 private:
  std::map<std::string, CellEstimate> by_key_;
  std::uint64_t version_ = 0;
};

}  // namespace eindb
