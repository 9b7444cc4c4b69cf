#pragma once

// eindb for C++ programs: one connection to a database of tensors, statements, and tensors in the program's own memory.
//
//     eindb::Connection db("my.db");
//     std::vector<float> weights = ...;                                        // 512 x 64, row-major
//     db.attach("W", eindb::TensorView::of(weights.data(), {512, 64}));        // no copy
//     db.execute("CREATE TENSOR Y AS EINSUM Y[i,k] = SUM(X[i,j] * W[j,k])");   // X is stored in my.db
//     for (const auto& row : db.execute("SELECT i, SUM(val) AS s FROM Y GROUP BY i"))
//       std::cout << row.get<int>(0) << " " << row.get<double>(1) << "\n";
//
// Threads: one thread at a time uses a connection, its statements and its results, except for cancel(). Several
// connections, even to one file, can be used concurrently by several threads. A TensorResult is independent; any
// number of threads may read it.
//
// Errors: every failure throws Exception. The database is then as it was before the statement.
//
// Needs C++20 and nothing but the standard library. Link with eindb::eindb (find_package(eindb)).

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <eindb/views.hpp>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// Arrow's C interfaces; eindb/arrow.hpp defines them.
struct ArrowSchema;
struct ArrowArray;
struct ArrowArrayStream;

namespace eindb {

/// The version of the library that the program runs with: "0.1.0".
EINDB_API std::string_view library_version() noexcept;

// ---- Errors --------------------------------------------------------------------------------------------------------

/// The kind of an error, coarse enough to decide what to do about it.
enum class ErrorCode : std::uint8_t {
  Syntax,         ///< the text is not a valid statement
  UnknownName,    ///< a tensor, label, function, setting or column does not exist
  DuplicateName,  ///< a name is already in use
  Label,          ///< labels do not fit: count, position, neither in the head nor aggregated
  Shape,          ///< extents do not fit, or a size overflows
  Type,           ///< types do not fit
  Value,          ///< a value out of its range
  NullValue,      ///< NULL where a value is required
  Unsupported,    ///< meaningful, but not supported by this version
  Io,             ///< the operating system refused
  Corrupt,        ///< a file is not what it claims to be
  ReadOnly,       ///< a write to something that cannot be written
  Busy,           ///< locked by another connection
  Conflict,       ///< another connection changed data that the transaction has read: run it again
  Cancelled,      ///< stopped by cancel() or by statement_timeout
  MemoryLimit,    ///< does not fit the setting memory_limit
  WorkerLost,     ///< a node of the cluster does not answer, or left
  Permission,     ///< not allowed for this user
  Sql,            ///< SQLite refused an ordinary SQL statement
  Internal,       ///< a bug in eindb
};

/// The kind in lower-case words: "syntax error", "unknown name", ...
EINDB_API std::string_view to_string(ErrorCode code) noexcept;

/// Thrown for every failure. what() is the complete text, with the place in the statement:
///
///     unknown name: there is no tensor Q
///       at line 1, column 30:
///         EINSUM Z[i,k] = SUM(X[i,j] * Q[j,k])
///                                      ^
///       hint: did you mean W?
class EINDB_API Exception : public std::runtime_error {
 public:
  /// The parts of the text.
  struct Details {
    ErrorCode code = ErrorCode::Internal;  ///< the kind
    std::string message;                   ///< the error alone
    std::string hint;                      ///< a suggestion; may be empty
    std::size_t line = 0;                  ///< in the statement, from 1; 0: the error has no place
    std::size_t column = 0;                ///< from 1, in Unicode code points; 0: the error has no place
  };

  Exception(const std::string& text, Details details);
  ~Exception() override;
  Exception(const Exception&) noexcept = default;
  Exception& operator=(const Exception&) noexcept = default;

  /// Details::code.
  ErrorCode code() const noexcept { return details_->code; }
  /// Details::message.
  const std::string& message() const noexcept { return details_->message; }
  /// Details::hint.
  const std::string& hint() const noexcept { return details_->hint; }
  /// Details::line.
  std::size_t line() const noexcept { return details_->line; }
  /// Details::column.
  std::size_t column() const noexcept { return details_->column; }

 private:
  std::shared_ptr<const Details> details_;
};

// ---- Results -------------------------------------------------------------------------------------------------------

/// One value of a row; monostate is SQL's NULL, bytes are those of a BLOB.
using Value = std::variant<std::monostate, std::int64_t, float, double, std::complex<float>, std::complex<double>,
                           std::string, std::vector<std::byte>>;

namespace detail {
// Converts the value to a C++ type; Exception{Type} or {Value} names the column.
EINDB_API std::int64_t integer_of(const Value& value, const std::string& column);
EINDB_API double real_of(const Value& value, const std::string& column);
EINDB_API std::complex<double> complex_of(const Value& value, const std::string& column);
EINDB_API const std::string& text_of(const Value& value, const std::string& column);
EINDB_API std::span<const std::byte> bytes_of(const Value& value, const std::string& column);
[[noreturn]] EINDB_API void fail_range(std::int64_t value, const std::string& column);
[[noreturn]] EINDB_API void fail_element_type(ElementType is, ElementType asked);
EINDB_API std::size_t checked_column(std::size_t column, std::size_t count);

template <std::integral T>
constexpr bool fits(std::int64_t value) {
  if constexpr (std::is_signed_v<T>) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  } else {
    return value >= 0 && static_cast<std::uint64_t>(value) <= std::numeric_limits<T>::max();
  }
}

template <class T>
struct Convert {
  static T from(const Value& value, const std::string& column) {
    if constexpr (std::integral<T>) {
      const auto integer = integer_of(value, column);
      if (!fits<T>(integer)) fail_range(integer, column);
      return static_cast<T>(integer);
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(real_of(value, column));
    } else if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>) {
      return T(complex_of(value, column));
    } else if constexpr (std::same_as<T, std::span<const std::byte>> || std::same_as<T, std::vector<std::byte>>) {
      const auto bytes = bytes_of(value, column);
      return T(bytes.begin(), bytes.end());
    } else {
      static_assert(std::same_as<T, std::string> || std::same_as<T, std::string_view>,
                    "get<T>: an integer, a real or complex number, a string, bytes, or an optional of these");
      return T(text_of(value, column));
    }
  }
};
template <class T>
struct Convert<std::optional<T>> {
  static std::optional<T> from(const Value& value, const std::string& column) {
    if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
    return Convert<T>::from(value, column);
  }
};
}  // namespace detail

/// One row of a result; valid until the next row is read.
class RowView {
 public:
  RowView(const std::vector<Value>& values, const std::vector<std::string>& columns)
      : values_(&values), columns_(&columns) {}

  /// How many columns there are.
  std::size_t size() const noexcept { return values_->size(); }
  /// The value of a column, counted from 0. Exception{Value} beyond the last.
  const Value& value(std::size_t column) const { return (*values_)[detail::checked_column(column, size())]; }
  /// Whether the value of a column is SQL's NULL. Exception{Value} beyond the last.
  bool is_null(std::size_t column) const { return std::holds_alternative<std::monostate>(value(column)); }
  /// The value as T: any integer type (from integers in its range), float or double (from integers and reals),
  /// std::complex of them (from any number), std::string or string_view (from text), a vector or span of std::byte
  /// (from a BLOB), or std::optional of one of these, which accepts NULL. Views are valid as long as the row. Nothing
  /// is rounded or parsed: Exception{Type} for any other combination. Call it with the template argument:
  /// get<double>(2).
  template <class T>
  T get(std::size_t column) const {
    const auto& found = value(column);
    return detail::Convert<T>::from(found, (*columns_)[column]);
  }

 private:
  const std::vector<Value>* values_;
  const std::vector<std::string>* columns_;
};

/// A tile of a result: a row-major block.
struct TileView {
  std::span<const std::int64_t> begin;    ///< position of its first element in the tensor
  std::span<const std::int64_t> extents;  ///< of the block
  const void* data = nullptr;             ///< null: all zero
};

/// The cells of a tensor that are not zero, in row-major order; NaN is not zero.
struct TensorCells {
  std::int64_t count = 0;
  std::vector<std::vector<std::int64_t>> indices;  ///< a list for each dimension, of an index for each cell
  std::vector<std::byte> values;                   ///< one for each cell, of the tensor's type
};

/// The tensor that a query returned, in memory of its own: it needs neither the connection nor attached tensors.
/// Immutable, thread-safe; copies share the memory.
class EINDB_API TensorResult {
 public:
  struct Impl;
  explicit TensorResult(std::shared_ptr<const Impl> impl);
  ~TensorResult();
  TensorResult(const TensorResult&);
  TensorResult& operator=(const TensorResult&);
  TensorResult(TensorResult&&) noexcept;
  TensorResult& operator=(TensorResult&&) noexcept;

  /// The name of the query's head: "Z".
  const std::string& name() const noexcept;
  /// Those of the query's head, one for each dimension.
  const std::vector<std::string>& labels() const noexcept;
  /// That of data().
  ElementType type() const noexcept;
  /// One for each dimension; empty for a scalar.
  const std::vector<std::int64_t>& extents() const noexcept;
  /// The product of the extents.
  std::int64_t element_count() const noexcept;

  /// All elements, row-major. If the result has several tiles that were not made side by side, the first call makes a
  /// buffer of the whole tensor, which lives as long as the result.
  const void* data() const;
  /// Whether nobody but this result and its copies reads the memory of data(), such as the cache of a stored tensor
  /// that a query hands on: who lets them go but one may change the elements. Errors as data().
  bool owns_data() const;
  /// The same; Exception{Type} if T is not the element type.
  template <Element T>
  std::span<const T> values() const {
    require(element_type_of<T>());
    return {static_cast<const T*>(data()), static_cast<std::size_t>(element_count())};
  }
  /// Copies all elements to the program's memory, row-major or with strides (in elements, one per dimension; negative
  /// ones as in TensorView). No two elements may have the same address. Exception{Type} if T is not the element type.
  template <Element T>
  void copy_to(T* target) const {
    copy_to(target, TensorView::of(target, extents()).strides);
  }
  /// With strides. Exception{Value} unless there is one for each dimension.
  template <Element T>
  void copy_to(T* target, const std::vector<std::int64_t>& strides) const {
    require(element_type_of<T>());
    copy_elements(target, strides);
  }
  /// Calls `f` with one tile after the other, in row-major order of tiles. For results too large for data().
  void for_each_tile(const std::function<void(const TileView&)>& f) const;

  /// Copies the cells that are not zero, at the cost of the tiles that are there: extents may have a product of which
  /// memory holds no array. Exception{MemoryLimit} where tiles of these do not fit.
  TensorCells cells() const;

  /// All cells as rows of Arrow, in row-major order and in batches of at most `rows_per_batch`: a column for each label
  /// (INT64, of names text, of calendars date32 or timestamps in seconds), then val. Complex numbers are lists of two
  /// numbers. val lies in the memory of the result wherever a tile is in this order; what is not, and labels, are
  /// made batch by batch. The stream needs nothing else to live; one thread at a time uses it.
  void to_arrow(ArrowArrayStream& stream, std::int64_t rows_per_batch = 65536) const;
  /// The whole tensor as one array of the extension arrow.fixed_shape_tensor, on the memory of data(): a cell for each
  /// index of the first dimension. Exception{Unsupported} for cells of 2^31 elements and more.
  void to_arrow(ArrowSchema& schema, ArrowArray& array) const;

 private:
  void require(ElementType asked) const {
    if (asked != type()) detail::fail_element_type(type(), asked);
  }
  void copy_elements(void* target, const std::vector<std::int64_t>& strides) const;

  std::shared_ptr<const Impl> impl_;
};

/// The result of a statement: rows, which can be read once from first to last; for an EINSUM also the whole tensor; for
/// a statement without rows a status, such as "CREATE TENSOR". It keeps its database open. Rows of SQL are read from
/// the database on demand.
class EINDB_API QueryResult {
 public:
  struct Impl;
  explicit QueryResult(std::unique_ptr<Impl> impl);
  ~QueryResult();
  QueryResult(QueryResult&&) noexcept;
  QueryResult& operator=(QueryResult&&) noexcept;

  /// The statement's command tag: "CREATE TENSOR", ...
  const std::string& status() const noexcept;
  /// Rows that INSERT, UPDATE or DELETE changed, or cells that UPDATE TENSOR or INSERT INTO TENSOR changed; else 0.
  std::int64_t rows_changed() const noexcept;
  /// Empty for a statement without rows. For an EINSUM: its labels, then val.
  const std::vector<std::string>& columns() const noexcept;
  /// The index of the column of this name, ignoring case. Exception{UnknownName}.
  std::size_t column(std::string_view name) const;

  /// Advances to the next row, at the first call to the first one; false after the last. Rows of SQL are those of the
  /// state that the statement found, whatever the connection has changed since.
  bool next();
  /// The current row.
  RowView row() const;

  /// Iterates over the remaining rows: for (const auto& row : result) ...
  class Iterator {
   public:
    using value_type = RowView;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(QueryResult* result) : result_(result) { ++*this; }
    RowView operator*() const { return result_->row(); }
    Iterator& operator++() {
      if (!result_->next()) result_ = nullptr;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.result_ == nullptr; }

   private:
    QueryResult* result_ = nullptr;
  };
  /// At the next row that next() has not given.
  Iterator begin() { return Iterator(this); }
  /// Behind the last row.
  std::default_sentinel_t end() const noexcept { return {}; }

  /// Whether the statement was an EINSUM.
  bool is_tensor() const noexcept;
  /// The whole tensor, however many rows have been read. Exception{Type} unless is_tensor().
  TensorResult tensor() const;

  /// The rows that are left as a stream of Arrow, in batches of at most `rows_per_batch`; this result has no rows any
  /// more. Columns have their type, and missing values bits that say so: INTEGER is int64, REAL float64, TEXT utf8 of
  /// 64 bits, BLOB binary; one whose type SQL does not know has that of the rows of the first batch. A later value of
  /// another type is an error of get_next(). The stream keeps the database open; one thread at a time uses it, and the
  /// connection meanwhile runs nothing else.
  void to_arrow(ArrowArrayStream& stream, std::int64_t rows_per_batch = 65536) &&;

 private:
  std::unique_ptr<Impl> impl_;
};

/// A column of the rows that a statement gives, as it is known before the statement runs.
struct ColumnInfo {
  std::string name;  ///< as columns() of the result has it
  std::string type;  ///< "INTEGER", "REAL", "TEXT", "BLOB", "COMPLEX"; empty: unknown, or not the same in all rows
};

// ---- Arrow ---------------------------------------------------------------------------------------------------------

/// Elements that came by Arrow, in the memory of whoever handed them over, or, where they lie otherwise than a
/// tensor's, in a copy. Copies of this object share them. Immutable, thread-safe.
class EINDB_API ArrowTensor {
 public:
  struct Impl;
  explicit ArrowTensor(std::shared_ptr<const Impl> impl);
  ~ArrowTensor();
  ArrowTensor(const ArrowTensor&);
  ArrowTensor& operator=(const ArrowTensor&);

  /// For attach() and bind(), as long as this object lives.
  const TensorView& view() const noexcept;
  /// False if the elements are read where they lay: one batch of FLOAT32, FLOAT64 or INT64 without missing values.
  bool is_copy() const noexcept;

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Rows of columns, or an array of numbers, that another library of the program hands over by Arrow's C interfaces
/// (eindb/arrow.hpp). All that it says of itself is checked, with Exception{Corrupt} and {Unsupported}; that its
/// buffers are as long as that cannot be. Used once, by one thread.
class EINDB_API ArrowInput {
 public:
  struct Impl;
  /// Takes over the stream, and later releases it; the source then counts as released. Exception{Io} with the stream's
  /// own message where it fails.
  explicit ArrowInput(ArrowArrayStream& stream);
  /// The same for one batch.
  ArrowInput(ArrowSchema& schema, ArrowArray& array);
  ~ArrowInput();
  ArrowInput(ArrowInput&&) noexcept;
  ArrowInput& operator=(ArrowInput&&) noexcept;

  /// Whether it is rows of columns: structs, as tables and record batches are.
  bool has_rows() const noexcept;
  /// The names of the columns; none without rows.
  const std::vector<std::string>& columns() const noexcept;
  /// With the types of SQL that hold their values: "INTEGER", "REAL", "TEXT"; empty for lists and structs.
  std::vector<ColumnInfo> column_infos() const;
  /// An array of numbers or truth values as a tensor of rank 1. Lists of a fixed size add dimensions, as the extension
  /// arrow.fixed_shape_tensor says. Integers become INT64, and floats of 16 bits FLOAT32; a missing float is NaN, and a
  /// missing integer Exception{NullValue}. Exception{Type} for rows and other values.
  ArrowTensor tensor() &&;

 private:
  friend class Connection;
  std::unique_ptr<Impl> impl_;
};

// ---- Connections ---------------------------------------------------------------------------------------------------

/// A statement that is parsed once and executed with different values and tensors. Names are looked up at each
/// execution. It keeps its database open.
class EINDB_API Statement {
 public:
  struct Impl;
  explicit Statement(std::unique_ptr<Impl> impl);
  ~Statement();
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;

  /// The highest number of a parameter $1, $2, ... in the text.
  std::size_t parameter_count() const noexcept;
  /// The columns of its rows, for an EINSUM its labels and val; empty for a statement without rows. It does not run,
  /// but names are looked up, with the errors that execute() has then. Tensors that are bound to it are not known here.
  std::vector<ColumnInfo> columns() const;

  /// Sets parameter $`number` to a whole or a real number, until it is set again. Exception{Value} for a parameter that
  /// the text lacks, or an integer beyond 63 bits.
  template <std::integral T>
  Statement& bind(std::size_t number, T value) {
    if constexpr (!std::is_signed_v<T>)
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) fail_integer(number);
    return bind_integer(number, static_cast<std::int64_t>(value));
  }
  template <std::floating_point T>
  Statement& bind(std::size_t number, T value) {
    return bind_real(number, static_cast<double>(value));
  }
  /// A complex number.
  Statement& bind(std::size_t number, std::complex<double> value);
  /// A complex number.
  Statement& bind(std::size_t number, std::complex<float> value) { return bind(number, std::complex<double>(value)); }
  /// A text, which is copied.
  Statement& bind(std::size_t number, std::string_view value);
  /// The bytes of a BLOB, which are copied; only SQL accepts them.
  Statement& bind(std::size_t number, std::span<const std::byte> value);
  /// Sets the parameter to NULL; only SQL accepts it.
  Statement& bind(std::size_t number, std::nullptr_t);

  /// Makes a tensor in the program's memory visible to this statement while it executes, like Connection::attach. The
  /// memory must stay unchanged while execute() runs and while rows of SQL are read from its result.
  Statement& bind(std::string_view name, TensorView tensor);
  /// The same of a tensor of few cells, whose indices are checked now and stay unchanged as long as it is bound. Throws
  /// as Connection::attach does.
  Statement& bind(std::string_view name, const CellsView& tensor);
  /// Removes all values and tensors.
  void clear_bindings() noexcept;

  /// Runs the statement. Exception{Value} if a parameter has no value. Errors refer to the prepared text.
  QueryResult execute();

 private:
  [[noreturn]] static void fail_integer(std::size_t number);
  Statement& bind_integer(std::size_t number, std::int64_t value);
  Statement& bind_real(std::size_t number, double value);

  std::unique_ptr<Impl> impl_;
};

/// The progress of a long statement, reported now and then by the thread that executes it.
struct ProgressInfo {
  std::string_view stage;  ///< "join", "import", ...
  std::int64_t done = 0;   ///< of total, in units of the stage
  std::int64_t total = 0;  ///< 0: unknown
};

/// How a database is opened.
struct ConnectionOptions {
  bool read_only = false;  ///< statements that write are refused: Exception{ReadOnly}
};

/// One user's connection to a database: runs statements one after the other, in any number of transactions.
class EINDB_API Connection {
 public:
  /// Opens the database file, or creates it. ":memory:" is a private database that ends with the connection, its
  /// statements and its results.
  explicit Connection(const std::string& path, ConnectionOptions options = {});
  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;

  /// Runs one statement.
  QueryResult execute(std::string_view statement);
  /// Runs statements separated by semicolons, up to the first error, whose place refers to `script`. Returns the result
  /// of the last; rows of the others are not read.
  QueryResult execute_script(std::string_view script);
  /// Parses one statement, with parameters $1, $2, ..., to be executed any number of times. Exception{Syntax}.
  Statement prepare(std::string_view statement);

  /// True between BEGIN and COMMIT or ROLLBACK.
  bool in_transaction() const;

  /// Makes a tensor in the program's memory visible to all statements of this connection, EINSUM and SQL, under a name
  /// that no tensor, table or view has. Statements cannot change it; `CREATE TENSOR ... AS EINSUM` stores results
  /// computed from it. The memory must stay until detach(), and unchanged while statements run and until all rows of
  /// SQL that read it have been read; between statements its values may change, and the next one reads the new ones. If
  /// another connection later creates a tensor of this name, that tensor is hidden.
  void attach(const std::string& name, const TensorView& tensor);
  /// The same of a tensor of few cells: values may change between statements, indices not (CellsView). Exception{Value}
  /// for indices beyond the extents, or a cell that is given twice, and for null or misaligned pointers.
  void attach(const std::string& name, const CellsView& tensor);
  /// Puts a tensor in the place of the one that is attached under this name, as detach() and attach() would, in a tenth
  /// of their time. Plans are used again where extents, types and cuts are the same. Exception{UnknownName} if no
  /// tensor of that name is attached, and what attach() throws; the earlier one then stays.
  void replace(const std::string& name, const TensorView& tensor);
  void replace(const std::string& name, const CellsView& tensor);
  /// Exception{UnknownName} if no tensor of that name is attached.
  void detach(const std::string& name);

  /// Fills a stored tensor anew with the cells that the rows name, or adds the rows to a table: all of them or none.
  /// Columns are found by their names; those of a tensor are its labels and val, and cells without a row are 0. Names
  /// of indices are texts, days and times. Returns how many rows there were. Exception{UnknownName} for a table or
  /// column that is not there, {Value} for a cell outside the tensor or one that occurs twice, {Type} for values
  /// without rows.
  std::int64_t load(const std::string& name, ArrowInput rows);

  /// Asks the running statement to stop with Exception{Cancelled}. Safe from any thread and from signal handlers; the
  /// connection must outlive the call.
  void cancel() noexcept;
  /// Sets the receiver of progress; empty: none. It must not throw, nor execute statements.
  void on_progress(std::function<void(const ProgressInfo&)> callback);

  /// Stored tensors in alphabetical order.
  std::vector<std::string> tensor_names();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb
