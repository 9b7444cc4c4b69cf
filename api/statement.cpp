#include "api/statement.hpp"

#include <map>

#include "api/element_types.hpp"
#include "api/translation.hpp"

namespace eindb {
namespace {

using Parameter = decltype(StatementInputs::parameters)::value_type;

std::string type_name(ColumnType type) {
  switch (type) {
    case ColumnType::Integer:
    case ColumnType::Boolean: return "INTEGER";
    case ColumnType::Float32:
    case ColumnType::Float64: return "REAL";
    case ColumnType::Complex64:
    case ColumnType::Complex128: return "COMPLEX";
    case ColumnType::Text: return "TEXT";
    case ColumnType::Blob: return "BLOB";
    case ColumnType::Any: break;
  }
  return "";
}

}  // namespace

struct Statement::Impl {
  Impl(SharedSession shared, std::shared_ptr<const PreparedStatement> made)
      : session(std::move(shared)), prepared(std::move(made)) {}

  void bind(std::size_t number, Parameter value) {
    if (number < 1 || number > prepared->parameter_count) {
      fail("the statement has no parameter $" + std::to_string(number),
           prepared->parameter_count == 0 ? "it has none"
                                          : "its parameters are $1 to $" + std::to_string(prepared->parameter_count));
    }
    parameters[number] = std::move(value);
  }

  // The parameters in the order of their numbers.
  std::vector<Parameter> all_parameters() const {
    std::vector<Parameter> values;
    for (const auto& [number, value] : parameters) {
      if (number != values.size() + 1) break;
      values.push_back(value);
    }
    if (values.size() != prepared->parameter_count)
      fail("no value is bound to parameter $" + std::to_string(values.size() + 1), "bind() gives it one");
    return values;
  }

  [[noreturn]] void fail(const std::string& message, const std::string& hint) const {
    throw_exception(Error(ErrorKind::Value, message, std::nullopt, hint), prepared->text, 0);
  }

  SharedSession session;
  std::shared_ptr<const PreparedStatement> prepared;
  std::map<std::size_t, Parameter> parameters;  // keyed by number, since a text may use $1000000000
  std::map<std::string, MemoryTensor> tensors;
};

Statement statement(SharedSession session, std::shared_ptr<const PreparedStatement> prepared) {
  return Statement(std::make_unique<Statement::Impl>(std::move(session), std::move(prepared)));
}

Statement::Statement(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Statement::~Statement() = default;
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;

std::size_t Statement::parameter_count() const noexcept { return impl_->prepared->parameter_count; }

std::vector<ColumnInfo> Statement::columns() const {
  const auto described = translated(impl_->prepared->text, [&] { return impl_->session->describe(*impl_->prepared); });
  std::vector<ColumnInfo> columns;
  for (const auto& column : described.columns) columns.push_back({.name = column.name, .type = type_name(column.type)});
  return columns;
}

Statement& Statement::bind_integer(std::size_t number, std::int64_t value) {
  impl_->bind(number, value);
  return *this;
}

Statement& Statement::bind_real(std::size_t number, double value) {
  impl_->bind(number, value);
  return *this;
}

Statement& Statement::bind(std::size_t number, std::complex<double> value) {
  impl_->bind(number, value);
  return *this;
}

Statement& Statement::bind(std::size_t number, std::string_view value) {
  impl_->bind(number, std::string(value));
  return *this;
}

Statement& Statement::bind(std::size_t number, std::span<const std::byte> value) {
  impl_->bind(number, std::vector<std::byte>(value.begin(), value.end()));
  return *this;
}

Statement& Statement::bind(std::size_t number, std::nullptr_t) {
  impl_->bind(number, std::monostate());
  return *this;
}

void Statement::fail_integer(std::size_t number) {
  throw_exception(Error(ErrorKind::Value, "the value for parameter $" + std::to_string(number) + " is beyond INT64"),
                  "", 0);
}

Statement& Statement::bind(std::string_view name, TensorView tensor) {
  translated(impl_->prepared->text, [&] { impl_->tensors[std::string(name)] = memory_tensor(tensor); });
  return *this;
}

Statement& Statement::bind(std::string_view name, const CellsView& tensor) {
  translated(impl_->prepared->text, [&] { impl_->tensors[std::string(name)] = memory_tensor(tensor); });
  return *this;
}

void Statement::clear_bindings() noexcept {
  impl_->parameters.clear();
  impl_->tensors.clear();
}

QueryResult Statement::execute() {
  const auto& prepared = *impl_->prepared;
  const StatementInputs inputs{.parameters = impl_->all_parameters(), .tensors = impl_->tensors};
  auto result = translated(prepared.text, [&] { return impl_->session->execute(prepared, inputs); });
  return query_result(impl_->session, prepared.text, 0, std::move(result));
}

}  // namespace eindb
