#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace eindb {

/// A list of a trie that nobody changes. Either copies of it share its memory and keep it, or it is a view of a list in
/// a program's memory, which must stay and be unchanged while anybody reads it. Thread-safe, as it is immutable.
template <class T>
class TrieList {
 public:
  using value_type = T;

  TrieList() = default;
  /// Takes the vector's memory.
  TrieList(std::vector<T> values) {  // NOLINT(google-explicit-constructor): lists are made as vectors
    if (!values.empty()) own(std::make_shared<const std::vector<T>>(std::move(values)));
  }
  /// A view.
  static TrieList of_program(std::span<const T> values) {
    TrieList list;
    list.data_ = values.data();
    list.size_ = values.size();
    return list;
  }

  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T& operator[](std::size_t n) const { return data_[n]; }
  const T& back() const { return data_[size_ - 1]; }

  /// Whether it is a view.
  bool is_borrowed() const { return size_ > 0 && owner_ == nullptr; }
  /// The same list, of memory that it keeps.
  TrieList kept() const {
    if (!is_borrowed()) return *this;
    TrieList list;
    list.own(std::make_shared<const std::vector<T>>(begin(), end()));
    return list;
  }

  friend bool operator==(const TrieList& a, const TrieList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void own(std::shared_ptr<const std::vector<T>> values) {
    data_ = values->data();
    size_ = values->size();
    owner_ = std::move(values);
  }

  const T* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<const void> owner_;  // null in a view, and without elements
};

}  // namespace eindb
