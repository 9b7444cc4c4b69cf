#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/arrow/arrow_batches.hpp"
#include "engine/arrow/arrow_type.hpp"
#include "engine/results/row_loader.hpp"

namespace eindb {

/// A column's values. It points into them and their type, which must live as long.
class ArrowColumn {
 public:
  /// Checks the values against their type, and the sizes of buffers where they are known. `parent_offset` and `length`
  /// are the part of them that their parent has. Error{Corrupt}.
  ArrowColumn(const ArrowType& type, const ArrowValues& values, std::int64_t parent_offset = 0,
              std::optional<std::int64_t> length = std::nullopt);

  const ArrowType& type() const { return *type_; }
  std::int64_t length() const { return length_; }
  bool has_nulls() const { return valid_ != nullptr; }
  bool is_null(std::int64_t row) const;
  /// A value as SQL has it: an integer, a real, a text, or nothing. Error{Value} for an integer beyond INT64,
  /// Error{Corrupt} for positions that are not in order, and for text that is not UTF-8.
  Cell cell(std::int64_t row) const;
  /// The first value of a column of numbers, where it lies.
  const std::byte* numbers() const { return values_ + offset_ * type_->size; }
  /// The elements of lists, the columns of a struct.
  const std::vector<ArrowColumn>& parts() const { return parts_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;
  void take_buffers(const ArrowValues& values);
  void take_parts(const ArrowValues& values);
  void check_size(const ArrowBytes& buffer, std::int64_t wanted) const;
  std::int64_t integer(std::int64_t row) const;
  double real(std::int64_t row) const;
  Cell decimal(std::int64_t row) const;
  std::string_view text(std::int64_t row) const;
  std::string_view text_view(std::int64_t row) const;
  std::string date(std::int64_t row) const;

  const ArrowType* type_;
  std::int64_t offset_ = 0;
  std::int64_t length_ = 0;
  const std::byte* valid_ = nullptr;   // null: no value is missing
  const std::byte* values_ = nullptr;  // numbers, positions of texts, or views
  ArrowBytes bytes_;                   // of texts
  std::vector<ArrowBytes> more_;       // of views
  std::vector<ArrowColumn> parts_;
};

/// The names of the columns of rows. Error{Type} for a type that is no struct.
std::vector<std::string> arrow_columns(const ArrowType& rows);

/// Adds all rows to a loader that was asked for all of their columns; these are found by name, ignoring case.
void load_batches(ArrowBatchSource& batches, RowLoader& loader);

}  // namespace eindb
