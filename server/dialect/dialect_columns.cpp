#include "server/dialect/dialect_columns.hpp"

#include "common/error.hpp"
#include "engine/dialect/sql_type.hpp"

namespace eindb {
namespace {

dialect::SqlType type_of(const TypedColumn& column) {
  if (column.complex) return dialect::SqlType::Any;  // the engine checks what is done with them
  if (const auto declared = dialect::type_of_declared(column.declared); declared != dialect::SqlType::Any)
    return declared;
  switch (column.type) {
    case ValueType::Boolean: return dialect::SqlType::Bool;
    case ValueType::Integer: return dialect::SqlType::Integer;
    case ValueType::Real: return dialect::SqlType::Float;
    case ValueType::Number: return dialect::SqlType::Numeric;
    case ValueType::Text: return dialect::SqlType::Text;
    case ValueType::Blob: return dialect::SqlType::Bytea;
    default: return dialect::SqlType::Any;
  }
}

dialect::SqlType type_of(ColumnType type) {
  switch (type) {
    case ColumnType::Boolean: return dialect::SqlType::Bool;
    case ColumnType::Integer: return dialect::SqlType::Integer;
    case ColumnType::Float32:
    case ColumnType::Float64: return dialect::SqlType::Float;
    default: return dialect::SqlType::Any;
  }
}

/// The columns of a query of eindb's language. nullopt if they are not known before it runs, have complex numbers,
/// which SQL sees in parts, or if the query is wrong: then the statement says why, with the place.
std::optional<std::vector<dialect::Column>> columns_of_einsum(Session& session, const std::string& query) {
  try {
    const auto prepared = session.prepare(query);
    const auto description = session.describe(*prepared, {});
    std::vector<dialect::Column> columns;
    for (const auto& column : description.columns) {
      if (is_complex(column.type)) return std::nullopt;
      columns.push_back({.name = column.name, .type = type_of(column.type)});
    }
    return columns;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::vector<dialect::Column>> columns_for_dialect(Session& session, const std::string& schema,
                                                                const std::string& table) {
  if (schema == dialect::kEinsumSchema) return columns_of_einsum(session, table);
  const auto known = session.columns_of(schema, table);
  if (!known) return std::nullopt;
  std::vector<dialect::Column> columns;
  for (const auto& column : *known)
    columns.push_back({.name = column.name,
                       .type = type_of(column),
                       .declared = std::string(dialect::without_quotes(column.declared)),
                       .hidden = column.hidden});
  return columns;
}

}  // namespace eindb
