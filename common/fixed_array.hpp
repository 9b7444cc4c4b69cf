#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace eindb {

/// An array whose length is fixed when it is made. Up to N elements lie in the object itself, more are allocated. They
/// begin as T{}, and need not be movable: they may be atomics.
template <class T, std::size_t N>
class FixedArray {
 public:
  explicit FixedArray(std::size_t size) : size_(size), many_(size > N ? std::make_unique<T[]>(size) : nullptr) {}
  FixedArray(const FixedArray&) = delete;
  FixedArray& operator=(const FixedArray&) = delete;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return many_ != nullptr ? many_.get() : few_.data(); }
  T* end() { return begin() + size_; }
  const T* begin() const { return many_ != nullptr ? many_.get() : few_.data(); }
  const T* end() const { return begin() + size_; }
  T& operator[](std::size_t n) { return begin()[n]; }
  const T& operator[](std::size_t n) const { return begin()[n]; }

 private:
  std::size_t size_;
  std::array<T, N> few_{};
  std::unique_ptr<T[]> many_;
};

}  // namespace eindb
