#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace eindb {

/// A table in the bytes of a FlatBuffer that may be hostile: every access is checked, and Error{Corrupt} thrown for one
/// that leaves the bytes. Fields go by their numbers in the schema. A value, which points into the bytes.
class FlatTable {
 public:
  /// The root of a buffer. `name` begins messages, and lives as long as this.
  static FlatTable root(std::span<const std::byte> bytes, const std::string& name);

  bool has(int field) const { return place(field).has_value(); }
  /// The value of a field; `missing` where it is not there.
  template <class T>
  T scalar(int field, T missing) const {
    const auto at = place(field);
    return at ? load<T>(*at) : missing;
  }
  /// The table that a field refers to.
  std::optional<FlatTable> table(int field) const;
  std::string text(int field) const;

  /// A list of structs of `size` bytes, or of tables.
  class List {
   public:
    std::size_t count() const { return count_; }
    /// A number in struct `n`, at byte `offset` of it.
    template <class T>
    T scalar(std::size_t n, std::size_t offset) const {
      return of_.load<T>(begin_ + n * size_ + offset);
    }
    FlatTable table(std::size_t n) const;

   private:
    friend class FlatTable;
    List(const FlatTable& of, std::size_t begin, std::size_t count, std::size_t size)
        : of_(of), begin_(begin), count_(count), size_(size) {}
    const FlatTable& of_;
    std::size_t begin_;
    std::size_t count_;
    std::size_t size_;
  };
  /// Of no elements where the field is not there. Must not outlive the table.
  List structs(int field, std::size_t size) const;
  List tables(int field) const { return structs(field, 4); }

 private:
  FlatTable(std::span<const std::byte> bytes, std::size_t at, const std::string& name);
  [[noreturn]] void fail() const;
  template <class T>
  T load(std::size_t at) const {
    if (at > bytes_.size() || sizeof(T) > bytes_.size() - at) fail();
    T value{};
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::optional<std::size_t> place(int field) const;
  std::size_t target(std::size_t at) const;

  std::span<const std::byte> bytes_;
  std::size_t at_;
  const std::string* name_;
  std::size_t vtable_ = 0;
  std::size_t vtable_size_ = 0;
};

}  // namespace eindb
