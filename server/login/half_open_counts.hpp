#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/check.hpp"

namespace eindb {

/// Counts connections without a session, in total and per address. One address gets at most half of the places, so that
/// a single machine cannot keep all others out. Not thread-safe.
class HalfOpenCounts {
 public:
  explicit HalfOpenCounts(std::size_t most) : most_(most) {}

  bool is_full() const { return total_ >= most_; }
  bool is_full_for(const std::string& address) const {
    const auto found = of_address_.find(address);
    return found != of_address_.end() && found->second >= (most_ + 1) / 2;
  }
  void add(const std::string& address) {
    CHECK(!is_full(), "who is counted has a place");
    ++of_address_[address];
    ++total_;
  }
  /// The address must have been added.
  void remove(const std::string& address) {
    const auto found = of_address_.find(address);
    CHECK(found != of_address_.end(), "who is counted no more was counted");
    if (--found->second == 0) of_address_.erase(found);
    --total_;
  }

 private:
  const std::size_t most_;
  std::size_t total_ = 0;
  std::map<std::string, std::size_t> of_address_;  // all counts are positive
};

}  // namespace eindb
