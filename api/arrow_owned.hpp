#pragma once

#include <eindb/arrow.hpp>
#include <utility>

namespace eindb {

/// Owns a struct of Arrow's: it is moved in, which leaves its source released, and released at the end.
template <class T>
class ArrowOwned {
 public:
  ArrowOwned() = default;
  explicit ArrowOwned(T& source) : held_(source) { source.release = nullptr; }
  ~ArrowOwned() { reset(); }
  ArrowOwned(ArrowOwned&& other) noexcept : held_(std::exchange(other.held_, T{})) {}
  ArrowOwned& operator=(ArrowOwned&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ArrowOwned(const ArrowOwned&) = delete;
  ArrowOwned& operator=(const ArrowOwned&) = delete;

  T* raw() { return &held_; }
  const T& operator*() const { return held_; }
  const T* operator->() const { return &held_; }
  explicit operator bool() const { return held_.release != nullptr; }
  void reset() {
    if (held_.release != nullptr) held_.release(&held_);
    held_ = {};
  }

 private:
  T held_{};
};

}  // namespace eindb
