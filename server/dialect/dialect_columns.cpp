#include "server/dialect/dialect_columns.hpp"

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

}  // namespace

std::optional<std::vector<dialect::Column>> columns_for_dialect(Session& session, const std::string& schema,
                                                                const std::string& table) {
  const auto known = session.columns_of(schema, table);
  if (!known) return std::nullopt;
  std::vector<dialect::Column> columns;
  for (const auto& column : *known)
    columns.push_back(
        {.name = column.name, .type = type_of(column), .declared = column.declared, .hidden = column.hidden});
  return columns;
}

}  // namespace eindb
