#pragma once

#include <cstddef>
#include <cstdint>
#include <eindb/arrow.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/arrow_owned.hpp"
#include "engine/results/row_loader.hpp"

namespace eindb {

// Structs of Arrow's come from other libraries of the program. What they say of themselves is checked: formats, numbers
// of buffers and children, lengths and offsets, positions of texts. How long a buffer is they do not say, so that one
// that is too short cannot be seen.

/// How values of a column lie in its buffers.
enum class ArrowKind : std::uint8_t {
  Null,
  Bool,
  Signed,
  Unsigned,
  Float,
  Decimal,
  Text,
  LargeText,
  TextView,
  Date,
  Timestamp,
  Dictionary,
  List,
  Struct
};

/// The type of a column, by its schema.
struct ArrowType {
  std::string name;
  std::string format;
  ArrowKind kind = ArrowKind::Null;
  int size = 0;                     ///< bytes of a number, a day or a time
  std::int64_t per_unit = 1;        ///< units of a date in a day, of a time in a second, or of a decimal number in 1
  std::int64_t list_size = 0;       ///< of a list of fixed size
  std::vector<ArrowType> parts;     ///< a dictionary, the elements of a list, the columns of a struct
  std::vector<std::int64_t> shape;  ///< of an extension arrow.fixed_shape_tensor: of an element
  std::vector<std::string> dim_names;
};

/// Reads a schema. Error{Corrupt} for one that is not as the specification says, Error{Unsupported} for types that
/// neither numbers nor texts nor times are made of.
ArrowType arrow_type(const ArrowSchema& schema);

/// A column's values. It points into the array, which must live as long.
class ArrowColumn {
 public:
  /// Checks the array against its type. `parent_offset` and `length` are the part of it that its parent has.
  /// Error{Corrupt}.
  ArrowColumn(const ArrowType& type, const ArrowArray& array, std::int64_t parent_offset,
              std::optional<std::int64_t> length);

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
  void take_buffers(const ArrowArray& array);
  std::int64_t integer(std::int64_t row) const;
  double real(std::int64_t row) const;
  Cell decimal(std::int64_t row) const;
  std::string_view text(std::int64_t row) const;
  std::string_view text_view(std::int64_t row) const;
  std::string date(std::int64_t row) const;

  const ArrowType* type_;
  std::int64_t offset_ = 0;
  std::int64_t length_ = 0;
  const std::byte* valid_ = nullptr;    // null: no value is missing
  const std::byte* values_ = nullptr;   // numbers, positions of texts, or views
  const std::byte* bytes_ = nullptr;    // of texts
  std::vector<const std::byte*> more_;  // bytes of views
  std::vector<ArrowColumn> parts_;
};

/// Batches of a stream, which it owns.
class ArrowBatches {
 public:
  /// Takes over the stream. Error{Corrupt} if its schema is wrong or it gives none.
  explicit ArrowBatches(ArrowArrayStream& stream);

  const ArrowType& type() const { return type_; }
  /// The next batch; an array that holds nothing after the last. Error{Io} with the stream's own message.
  ArrowOwned<ArrowArray> next();

 private:
  [[noreturn]] void fail(int code);

  ArrowOwned<ArrowArrayStream> stream_;
  ArrowType type_;
};

/// Adds all rows of a stream of structs to a loader, column by column in the loader's order; columns are found by name,
/// ignoring case. Error{UnknownName} for a column that one side lacks.
void load_batches(ArrowBatches& batches, RowLoader& loader);
/// The names of the columns of a stream of structs. Error{Type} for another one.
std::vector<std::string> columns_of_batches(const ArrowBatches& batches);

}  // namespace eindb
