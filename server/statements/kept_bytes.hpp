#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "server/sessions/client_quota.hpp"

namespace eindb {

/// The bytes of rows that are kept for a client, as they grow: their part of its quota, which must outlive the object.
/// Used by the client's thread.
class KeptBytes {
 public:
  explicit KeptBytes(ClientQuota& quota) : quota_(quota) {}

  /// Counts `bytes` more. CodedError if the quota has no room.
  void add(std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= reserved_) return;
    const auto more = std::max({kLeast, bytes_ - reserved_, reserved_ / 2});
    shares_.push_back(quota_.take(more));
    reserved_ += more;
  }

 private:
  /// The least that is reserved at a time.
  static constexpr std::size_t kLeast = std::size_t{64} << 10U;

  ClientQuota& quota_;
  std::size_t bytes_ = 0;
  std::size_t reserved_ = 0;
  std::vector<ClientQuota::Share> shares_;
};

}  // namespace eindb
