#include "api/query_result.hpp"

#include <algorithm>
#include <utility>

#include "api/arrow_export.hpp"
#include "api/tensor_result.hpp"
#include "api/translation.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"

namespace eindb {
namespace {

static_assert(std::is_same_v<Value, Cell>, "rows are handed on as they are");

[[noreturn]] void fail(ErrorKind kind, const std::string& message, const std::string& hint = "") {
  throw_exception(Error(kind, message, std::nullopt, hint), "", 0);
}

struct TypeName {
  std::string operator()(std::monostate) const { return "NULL"; }
  std::string operator()(std::int64_t) const { return "an integer"; }
  std::string operator()(float) const { return "a real number"; }
  std::string operator()(double) const { return "a real number"; }
  std::string operator()(std::complex<float>) const { return "a complex number"; }
  std::string operator()(std::complex<double>) const { return "a complex number"; }
  std::string operator()(const std::string&) const { return "text"; }
  std::string operator()(const std::vector<std::byte>&) const { return "bytes"; }
};

[[noreturn]] void fail_type(const Value& value, const std::string& column, const std::string& wanted) {
  const bool null = std::holds_alternative<std::monostate>(value);
  fail(ErrorKind::Type, "column " + column + " holds " + std::visit(TypeName{}, value) + ", not " + wanted,
       null ? "get a std::optional, or look at is_null() first" : "");
}

}  // namespace

struct QueryResult::Impl {
  SharedSession session;  // first, so that it outlives the rows
  std::string text;
  std::size_t offset = 0;
  Result result;
  std::vector<std::string> columns;
  Row row;
};

QueryResult query_result(SharedSession session, std::string text, std::size_t offset, Result result) {
  auto impl = std::make_unique<QueryResult::Impl>();
  impl->columns.reserve(result.columns.size());
  for (const auto& column : result.columns) impl->columns.push_back(column.name);
  impl->session = std::move(session);
  impl->text = std::move(text);
  impl->offset = offset;
  impl->result = std::move(result);
  return QueryResult(std::move(impl));
}

QueryResult::QueryResult(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
QueryResult::~QueryResult() = default;
QueryResult::QueryResult(QueryResult&&) noexcept = default;
QueryResult& QueryResult::operator=(QueryResult&&) noexcept = default;

const std::string& QueryResult::status() const noexcept { return impl_->result.status; }
std::int64_t QueryResult::rows_changed() const noexcept { return impl_->result.rows_changed; }
const std::vector<std::string>& QueryResult::columns() const noexcept { return impl_->columns; }

std::size_t QueryResult::column(std::string_view name) const {
  const auto& columns = impl_->columns;
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const std::string& column) { return equal_ignoring_case(column, name); });
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  const auto nearest = nearest_name(name, std::span<const std::string>(columns));
  fail(ErrorKind::UnknownName, "the result has no column " + std::string(name),
       nearest ? "did you mean " + *nearest + "?" : "");
}

bool QueryResult::next() {
  auto& rows = impl_->result.rows;
  if (rows == nullptr) return false;
  const bool has_row = translated(
      impl_->text, [&] { return rows->next(impl_->row); }, impl_->offset);
  // After the last row the statement's resources are released.
  if (!has_row) {
    rows.reset();
    impl_->row.clear();
  }
  return has_row;
}

RowView QueryResult::row() const { return {impl_->row, impl_->columns}; }

bool QueryResult::is_tensor() const noexcept { return impl_->result.tensor != nullptr; }

TensorResult QueryResult::tensor() const {
  if (!is_tensor()) fail(ErrorKind::Type, "the statement gives no tensor", "only an EINSUM does");
  return tensor_result(impl_->result.tensor);
}

void QueryResult::to_arrow(ArrowArrayStream& stream, std::int64_t rows_per_batch) && {
  auto& held = *impl_;
  auto result = std::exchange(held.result.rows, nullptr);
  translated(
      held.text,
      [&] {
        Result rows{.columns = held.result.columns, .rows = std::move(result), .status = {}, .tensor = nullptr};
        export_rows(held.session, held.text, held.offset, std::move(rows), rows_per_batch, stream);
      },
      held.offset);
}

namespace detail {

std::int64_t integer_of(const Value& value, const std::string& column) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  fail_type(value, column, "an integer");
}

double real_of(const Value& value, const std::string& column) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<float>(&value)) return *real;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  fail_type(value, column, "a real number");
}

std::complex<double> complex_of(const Value& value, const std::string& column) {
  if (const auto* number = std::get_if<std::complex<float>>(&value)) return *number;
  if (const auto* number = std::get_if<std::complex<double>>(&value)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<float>(&value)) return *real;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  fail_type(value, column, "a number");
}

const std::string& text_of(const Value& value, const std::string& column) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  fail_type(value, column, "text");
}

std::span<const std::byte> bytes_of(const Value& value, const std::string& column) {
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) return *bytes;
  fail_type(value, column, "bytes");
}

void fail_range(std::int64_t value, const std::string& column) {
  fail(ErrorKind::Value, "column " + column + " holds " + std::to_string(value) + ", which the type asked for cannot");
}

void fail_element_type(ElementType is, ElementType asked) {
  fail(ErrorKind::Type,
       "the tensor has elements of type " + std::string(to_string(is)) + ", not " + std::string(to_string(asked)),
       "CAST(... AS " + std::string(to_string(asked)) + ") in the query converts them");
}

std::size_t checked_column(std::size_t column, std::size_t count) {
  if (column < count) return column;
  fail(ErrorKind::Value, "there is no column " + std::to_string(column) + " in a row of " + std::to_string(count),
       "columns are counted from 0; next() goes to the first row");
}

}  // namespace detail

}  // namespace eindb
