#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "common/check.hpp"

namespace eindb {

/// How many connections have no session yet, in all and of each address: one address gets half of the places at most,
/// so that a single machine does not keep all others out. Not thread-safe.
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
  /// Of an address that was added.
  void remove(const std::string& address) {
    const auto found = of_address_.find(address);
    if (--found->second == 0) of_address_.erase(found);
    --total_;
  }

 private:
  const std::size_t most_;
  std::size_t total_ = 0;
  std::map<std::string, std::size_t> of_address_;  // none is zero
};

}  // namespace eindb
