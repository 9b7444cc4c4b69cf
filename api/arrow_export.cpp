#include "api/arrow_export.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/arrow_build.hpp"
#include "api/arrow_owned.hpp"
#include "api/translation.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "parser/utf8.hpp"

namespace eindb {
namespace {

/// Bytes of one buffer of a column, which is handed over as it is.
class ArrowBuffer {
 public:
  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_->insert(bytes_->end(), bytes, bytes + sizeof value);
  }
  void put_text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_->insert(bytes_->end(), bytes, bytes + text.size());
  }
  void put_bit(std::int64_t at, bool value) {
    const auto byte = static_cast<std::size_t>(at / 8);
    if (byte >= bytes_->size()) bytes_->resize(byte + 1);
    if (value) (*bytes_)[byte] |= std::byte{1} << static_cast<unsigned>(at % 8);
  }
  std::size_t size() const { return bytes_->size(); }
  /// A buffer of no bytes has an address all the same, which some consumers ask for.
  ArrowBytes take() {
    if (bytes_->capacity() == 0) bytes_->reserve(1);
    auto owner = std::exchange(bytes_, std::make_shared<std::vector<std::byte>>());
    return {owner->data(), owner};
  }

 private:
  std::shared_ptr<std::vector<std::byte>> bytes_ = std::make_shared<std::vector<std::byte>>();
};

/// How the values of a column are laid out.
enum class ArrowLayout : std::uint8_t {
  Null,
  Bool,
  Int64,
  Float32,
  Float64,
  Complex64,
  Complex128,
  Text,
  Bytes,
  Day,
  Moment
};

ArrowField field_of(const std::string& name, ArrowLayout layout, bool nullable) {
  const auto plain = [&](const char* format) { return ArrowField{name, format, nullable}; };
  switch (layout) {
    case ArrowLayout::Null: return plain("n");
    case ArrowLayout::Bool: return plain("b");
    case ArrowLayout::Int64: return plain("l");
    case ArrowLayout::Float32: return plain("f");
    case ArrowLayout::Float64: return plain("g");
    case ArrowLayout::Text: return plain("U");
    case ArrowLayout::Bytes: return plain("Z");
    case ArrowLayout::Day: return plain("tdD");
    case ArrowLayout::Moment: return plain("tss:");
    default: break;
  }
  auto field = plain("+w:2");
  field.children.push_back({"item", layout == ArrowLayout::Complex64 ? "f" : "g"});
  return field;
}

/// The days since 1970 of YYYY-MM-DD, and the seconds with HH:MM:SS behind it; nullopt for another text.
std::optional<std::int64_t> moment_of(const std::string& text, bool with_time) {
  if (text.size() != (with_time ? 19 : 10)) return std::nullopt;
  const auto number = [&](std::size_t at, std::size_t count) {
    int value = 0;
    for (auto n = at; n < at + count; ++n) value = 10 * value + (text[n] - '0');
    return value;
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const std::int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  if (!with_time) return days;
  return days * 86400 + number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2);
}

/// Gathers the values of one column.
class ColumnBuilder {
 public:
  ColumnBuilder(std::string name, ArrowLayout layout) : name_(std::move(name)), layout_(layout) { begin(); }

  ArrowField field() const { return field_of(name_, layout_, true); }

  void add(const Cell& cell) {
    const bool is_null = std::holds_alternative<std::monostate>(cell);
    valid_.put_bit(length_, !is_null);
    if (is_null) ++nulls_;
    if (is_null) add_nothing();
    else add_value(cell);
    ++length_;
  }

  ArrowValues take() {
    ArrowValues out{.length = length_, .null_count = nulls_, .buffers = {}};
    if (layout_ != ArrowLayout::Null) out.buffers.push_back(nulls_ > 0 ? valid_.take() : ArrowBytes{});
    if (is_text()) out.buffers.push_back(offsets_.take());
    if (is_pair()) out.children.push_back({.length = 2 * length_, .null_count = 0, .buffers = {{}, values_.take()}});
    else if (layout_ != ArrowLayout::Null) out.buffers.push_back(values_.take());
    begin();
    return out;
  }

 private:
  bool is_text() const { return layout_ == ArrowLayout::Text || layout_ == ArrowLayout::Bytes; }
  bool is_pair() const { return layout_ == ArrowLayout::Complex64 || layout_ == ArrowLayout::Complex128; }

  void begin() {
    valid_ = {};
    offsets_ = {};
    values_ = {};
    length_ = nulls_ = 0;
    if (is_text()) offsets_.put(std::int64_t{0});
  }

  void add_nothing() {
    switch (layout_) {
      case ArrowLayout::Null: return;
      case ArrowLayout::Bool: return values_.put_bit(length_, false);
      case ArrowLayout::Float32: return values_.put(0.0F);
      case ArrowLayout::Day: return values_.put(std::int32_t{0});
      case ArrowLayout::Complex64: return values_.put(std::complex<float>());
      case ArrowLayout::Complex128: return values_.put(std::complex<double>());
      case ArrowLayout::Text:
      case ArrowLayout::Bytes: return offsets_.put(static_cast<std::int64_t>(values_.size()));
      default: return values_.put(std::int64_t{0});
    }
  }

  [[noreturn]] void refuse(const char* what) const {
    throw Error(ErrorKind::Type, "column " + name_ + " has a value that is no " + what + ", unlike those before it",
                std::nullopt, "columns of Arrow have one type: CAST(" + name_ + " AS TEXT) or AS REAL in the query");
  }

  void add_value(const Cell& cell) {
    const auto* integer = std::get_if<std::int64_t>(&cell);
    switch (layout_) {
      case ArrowLayout::Bool:
        if (integer == nullptr) refuse("truth value");
        return values_.put_bit(length_, *integer != 0);
      case ArrowLayout::Int64:
        if (integer == nullptr) refuse("integer");
        return values_.put(*integer);
      case ArrowLayout::Float32: return values_.put(static_cast<float>(real_of_cell(cell)));
      case ArrowLayout::Float64: return values_.put(real_of_cell(cell));
      case ArrowLayout::Complex64: return values_.put(std::complex<float>(complex_of_cell(cell)));
      case ArrowLayout::Complex128: return values_.put(complex_of_cell(cell));
      case ArrowLayout::Text:
      case ArrowLayout::Bytes: return add_text(cell);
      case ArrowLayout::Day: return values_.put(static_cast<std::int32_t>(moment_of_cell(cell, false)));
      case ArrowLayout::Moment: return values_.put(moment_of_cell(cell, true));
      case ArrowLayout::Null: break;
    }
    refuse("NULL");
  }

  double real_of_cell(const Cell& cell) const {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<float>(&cell)) return *real;
    if (const auto* real = std::get_if<double>(&cell)) return *real;
    refuse("real number");
  }
  std::complex<double> complex_of_cell(const Cell& cell) const {
    if (const auto* number = std::get_if<std::complex<float>>(&cell)) return *number;
    if (const auto* number = std::get_if<std::complex<double>>(&cell)) return *number;
    return real_of_cell(cell);
  }
  std::int64_t moment_of_cell(const Cell& cell, bool with_time) const {
    const auto* text = std::get_if<std::string>(&cell);
    const auto moment = text == nullptr ? std::nullopt : moment_of(*text, with_time);
    if (!moment) refuse("day or time");
    return *moment;
  }
  void add_text(const Cell& cell) {
    const auto* text = std::get_if<std::string>(&cell);
    if (text == nullptr) refuse("text");
    if (layout_ == ArrowLayout::Text && !is_utf8(*text)) refuse("text in UTF-8");
    values_.put_text(*text);
    offsets_.put(static_cast<std::int64_t>(values_.size()));
  }

  std::string name_;
  ArrowLayout layout_;
  ArrowBuffer valid_;
  ArrowBuffer offsets_;
  ArrowBuffer values_;
  std::int64_t length_ = 0;
  std::int64_t nulls_ = 0;
};

/// A source of batches: the schema of a row, and the values of the next rows.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  virtual ArrowField schema() = 0;
  virtual std::optional<ArrowValues> next() = 0;
};

// ---- Rows of SQL ---------------------------------------------------------------------------------------------------

/// SQLite's values have types of their own, so that a column whose type nothing says has that of the rows of the first
/// batch.
class RowBatches final : public BatchSource {
 public:
  RowBatches(Result result, std::int64_t rows_per_batch) : result_(std::move(result)), most_(rows_per_batch) {}

  ArrowField schema() override {
    read_first();
    ArrowField row{"", "+s"};
    for (const auto& column : builders_) row.children.push_back(column.field());
    return row;
  }

  std::optional<ArrowValues> next() override {
    read_first();
    if (first_.empty() && !read(first_)) return std::nullopt;
    const auto rows = std::exchange(first_, {});
    ArrowValues out{.length = static_cast<std::int64_t>(rows.size()), .null_count = 0, .buffers = {{}}};
    for (std::size_t c = 0; c < builders_.size(); ++c) {
      for (const auto& row : rows) builders_[c].add(row[c]);
      out.children.push_back(builders_[c].take());
    }
    return out;
  }

 private:
  bool read(std::vector<Row>& rows) {
    Row row;
    while (result_.rows != nullptr && std::cmp_less(rows.size(), most_)) {
      if (result_.rows->next(row)) rows.push_back(row);
      else result_.rows.reset();
    }
    return !rows.empty();
  }

  void read_first() {
    if (std::exchange(is_begun_, true)) return;
    read(first_);
    for (std::size_t c = 0; c < result_.columns.size(); ++c)
      builders_.emplace_back(result_.columns[c].name, layout_of(c));
  }

  ArrowLayout layout_of(std::size_t c) const {
    switch (result_.columns[c].type) {
      case ColumnType::Integer: return found_layout(c, ArrowLayout::Int64);
      case ColumnType::Float32: return found_layout(c, ArrowLayout::Float32);
      case ColumnType::Float64: return found_layout(c, ArrowLayout::Float64);
      case ColumnType::Complex64: return ArrowLayout::Complex64;
      case ColumnType::Complex128: return ArrowLayout::Complex128;
      case ColumnType::Text: return found_layout(c, ArrowLayout::Text);
      case ColumnType::Boolean: return ArrowLayout::Bool;
      case ColumnType::Blob: return ArrowLayout::Bytes;
      case ColumnType::Any: break;
    }
    return found_layout(c, ArrowLayout::Null);
  }

  /// That of the column's type, unless the first rows have others, as SQLite allows.
  ArrowLayout found_layout(std::size_t c, ArrowLayout declared) const {
    auto layout = declared;
    for (const auto& row : first_) layout = joined(layout, row[c]);
    return layout;
  }

  static ArrowLayout joined(ArrowLayout layout, const Cell& cell) {
    if (std::holds_alternative<std::monostate>(cell)) return layout;
    if (const auto* text = std::get_if<std::string>(&cell)) {
      const bool is_bytes = layout == ArrowLayout::Bytes || !is_utf8(*text);
      return is_bytes ? ArrowLayout::Bytes : ArrowLayout::Text;
    }
    const bool is_integer = std::holds_alternative<std::int64_t>(cell);
    if (layout == ArrowLayout::Null) return is_integer ? ArrowLayout::Int64 : ArrowLayout::Float64;
    if (layout == ArrowLayout::Int64 && !is_integer) return ArrowLayout::Float64;
    return layout;
  }

  Result result_;
  std::int64_t most_;
  bool is_begun_ = false;
  std::vector<Row> first_;  // rows that were read before the schema was known
  std::vector<ColumnBuilder> builders_;
};

// ---- Tensors -------------------------------------------------------------------------------------------------------

/// Cells as rows: labels, which are counted, and `val`, which lies in the memory of the tensor where its strips do.
class TensorBatches final : public BatchSource {
 public:
  TensorBatches(TensorStrips strips, std::int64_t rows_per_batch) : strips_(std::move(strips)), most_(rows_per_batch) {
    const auto& tensor = strips_.tensor();
    for (std::size_t d = 0; d < tensor.labels.size(); ++d)
      layouts_.push_back(layout_of_label(tensor.names.at(d).get()));
    index_.resize(tensor.labels.size());
  }

  ArrowField schema() override {
    const auto& tensor = strips_.tensor();
    ArrowField row{"", "+s"};
    for (std::size_t d = 0; d < layouts_.size(); ++d)
      row.children.push_back(field_of(tensor.labels[d], layouts_[d], false));
    row.children.push_back(field_of("val", layout_of_values(), false));
    return row;
  }

  std::optional<ArrowValues> next() override {
    while (strip_ == nullptr || at_ == strip_->shape().element_count()) {
      strip_ = strips_.next();
      at_ = 0;
      if (strip_ == nullptr) return std::nullopt;
    }
    const auto count = std::min(most_, strip_->shape().element_count() - at_);
    ArrowValues out{.length = count, .null_count = 0, .buffers = {{}}, .children = labels(count)};
    const auto size = size_of(strip_->dtype());
    const ArrowBytes values{strip_->bytes().data() + static_cast<std::size_t>(at_) * size, strip_};
    if (is_complex(strip_->dtype()))
      out.children.push_back({.length = count,
                              .null_count = 0,
                              .buffers = {{}},
                              .children = {{.length = 2 * count, .null_count = 0, .buffers = {{}, values}}}});
    else out.children.push_back({.length = count, .null_count = 0, .buffers = {{}, values}});
    at_ += count;
    return out;
  }

 private:
  static ArrowLayout layout_of_label(const IndexNames* names) {
    if (names == nullptr) return ArrowLayout::Int64;
    if (!names->is_calendar()) return ArrowLayout::Text;
    return names->first().size() == 10 ? ArrowLayout::Day : ArrowLayout::Moment;
  }

  ArrowLayout layout_of_values() const {
    switch (strips_.tensor().dtype) {
      case DType::Float32: return ArrowLayout::Float32;
      case DType::Float64: return ArrowLayout::Float64;
      case DType::Complex64: return ArrowLayout::Complex64;
      case DType::Complex128: return ArrowLayout::Complex128;
      case DType::Int64: break;
    }
    return ArrowLayout::Int64;
  }

  std::vector<ArrowValues> labels(std::int64_t count) {
    const auto& tensor = strips_.tensor();
    std::vector<ColumnBuilder> columns;
    for (std::size_t d = 0; d < layouts_.size(); ++d) columns.emplace_back(tensor.labels[d], layouts_[d]);
    for (std::int64_t n = 0; n < count; ++n) {
      for (std::size_t d = 0; d < layouts_.size(); ++d) {
        const auto& names = tensor.names.at(d);
        columns[d].add(names == nullptr ? Cell{index_[d]} : Cell{names->name(index_[d])});
      }
      next_index(index_, tensor.grid.shape().extents());
    }
    std::vector<ArrowValues> out;
    for (auto& column : columns) out.push_back(column.take());
    return out;
  }

  TensorStrips strips_;
  std::int64_t most_;
  std::vector<ArrowLayout> layouts_;  // of the labels
  std::vector<std::int64_t> index_;   // of the next cell
  TilePtr strip_;
  std::int64_t at_ = 0;  // in the strip
};

// ---- The stream ----------------------------------------------------------------------------------------------------

struct HeldStream {
  std::shared_ptr<const void> session;  // first, so that it outlives the rows
  std::string text;
  std::size_t offset = 0;
  std::unique_ptr<BatchSource> batches;
  std::string error;
  bool is_broken = false;
};

/// Runs `f`; an exception becomes the stream's error and a number of errno.
template <class F>
int guarded(ArrowArrayStream* stream, const F& f) noexcept {
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  try {
    try {
      translated(held.text, f, held.offset);
      return 0;
    } catch (const Exception& error) {
      held.is_broken = true;
      held.error = error.what();
      if (error.code() == ErrorCode::Cancelled) return ECANCELED;
      if (error.code() == ErrorCode::MemoryLimit) return ENOMEM;
      return error.code() == ErrorCode::Io ? EIO : EINVAL;
    } catch (const std::bad_alloc&) {
      held.is_broken = true;
      held.error = "out of memory";
      return ENOMEM;
    } catch (const std::exception& error) {
      held.is_broken = true;
      held.error = error.what();
      return EIO;
    }
  } catch (...) {
    return ENOMEM;
  }
}

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  out->release = nullptr;
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  return guarded(stream, [&] { hand_over(held.batches->schema(), *out); });
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  *out = {};
  auto& held = *static_cast<HeldStream*>(stream->private_data);
  if (held.is_broken) return EINVAL;
  return guarded(stream, [&] {
    if (auto values = held.batches->next()) hand_over(*std::move(values), *out);
  });
}

const char* stream_error(ArrowArrayStream* stream) {
  const auto& held = *static_cast<HeldStream*>(stream->private_data);
  return held.error.empty() ? nullptr : held.error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<HeldStream*>(stream->private_data);
  stream->private_data = nullptr;
  stream->release = nullptr;
}

void begin_stream(std::unique_ptr<HeldStream> held, ArrowArrayStream& out) {
  out = {.get_schema = stream_schema,
         .get_next = stream_next,
         .get_last_error = stream_error,
         .release = release_stream,
         .private_data = held.release()};
}

void check_batch(std::int64_t rows) {
  if (rows < 1) throw Error(ErrorKind::Value, "a batch has one row at least");
}

}  // namespace

void export_rows(std::shared_ptr<const void> session, std::string text, std::size_t offset, Result result,
                 std::int64_t rows_per_batch, ArrowArrayStream& out) {
  check_batch(rows_per_batch);
  auto held = std::make_unique<HeldStream>();
  held->batches = std::make_unique<RowBatches>(std::move(result), rows_per_batch);
  held->session = std::move(session);
  held->text = std::move(text);
  held->offset = offset;
  begin_stream(std::move(held), out);
}

void export_cells(std::shared_ptr<const TensorRelation> tensor, std::int64_t rows_per_batch, ArrowArrayStream& out) {
  check_batch(rows_per_batch);
  auto held = std::make_unique<HeldStream>();
  held->batches = std::make_unique<TensorBatches>(TensorStrips(std::move(tensor)), rows_per_batch);
  begin_stream(std::move(held), out);
}
void export_tensor(const TensorRelation& tensor, ArrowBytes values, ArrowSchema& schema, ArrowArray& array) {
  auto extents = tensor.grid.shape().extents();
  const std::int64_t length = extents.empty() ? 1 : extents.front();
  if (!extents.empty()) extents.erase(extents.begin());
  nlohmann::ordered_json about;
  about["shape"] = extents;
  if (is_complex(tensor.dtype)) about["shape"].push_back(2);
  std::vector<std::string> names(tensor.labels.begin() + (tensor.labels.empty() ? 0 : 1), tensor.labels.end());
  if (is_complex(tensor.dtype)) names.emplace_back("part");
  if (!names.empty()) about["dim_names"] = names;
  const auto cells = checked_product(extents);
  const auto numbers = is_complex(tensor.dtype) ? checked_multiply(cells, 2) : cells;
  const bool is_single = tensor.dtype == DType::Float32 || tensor.dtype == DType::Complex64;
  if (numbers > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::Unsupported,
                "a list of Arrow has at most 2^31 - 1 elements, and this tensor's slices " + std::to_string(numbers),
                std::nullopt, "hand over its rows instead");
  ArrowField field{tensor.name, "+w:" + std::to_string(numbers)};
  field.metadata = {{"ARROW:extension:name", "arrow.fixed_shape_tensor"}, {"ARROW:extension:metadata", about.dump()}};
  field.children.push_back({"item", tensor.dtype == DType::Int64 ? "l" : is_single ? "f" : "g"});
  ArrowOwned<ArrowSchema> made;
  hand_over(field, *made.get());
  hand_over(ArrowValues{.length = length,
                        .null_count = 0,
                        .buffers = {{}},
                        .children = {{.length = checked_multiply(length, numbers),
                                      .null_count = 0,
                                      .buffers = {{}, std::move(values)}}}},
            array);
  schema = std::exchange(*made.get(), {});
}

}  // namespace eindb
