#include "engine/sql/dialect_columns.hpp"

#include "common/error.hpp"
#include "engine/dialect/originals.hpp"
#include "engine/dialect/sql_type.hpp"
#include "engine/dialect/translate.hpp"

namespace eindb {
namespace {

dialect::SqlType type_of(const TypedColumn& column) {
  if (column.complex) return dialect::SqlType::Complex;
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

/// The columns of a query of eindb's language, with the parts of complex numbers. nullopt if they are not known before
/// it runs, or if the query is wrong: then the statement says why, with the place.
std::optional<std::vector<dialect::Column>> columns_of_einsum(const SchemaLookups& lookups, const std::string& query) {
  try {
    std::vector<dialect::Column> columns;
    for (const auto& column : lookups.query_columns(query)) {
      const bool complex = is_complex(column.type);
      columns.push_back({.name = column.name, .type = complex ? dialect::SqlType::Complex : type_of(column.type)});
      if (!complex) continue;
      for (const char* part : {"re", "im"})
        columns.push_back({.name = part, .type = dialect::SqlType::Float, .hidden = true});
    }
    return columns;
  } catch (const Error&) {
    return std::nullopt;
  }
}

constexpr int kDeepestTypedView = 8;

std::optional<std::vector<dialect::Column>> columns_at(const SchemaLookups& lookups, const std::string& schema,
                                                       const std::string& table, int depth);

/// Gives the columns of a view the types that its query has for PostgreSQL; without a view, leaves them.
void find_types_of_view(const SchemaLookups& lookups, const std::string& schema, const std::string& view, int depth,
                        std::vector<dialect::Column>& columns) {
  const auto text = depth < kDeepestTypedView ? lookups.view_text(schema, view) : std::nullopt;
  if (!text) return;
  try {
    const auto find = [&](const std::string& of, const std::string& table) {
      return columns_at(lookups, of, table, depth + 1);
    };
    const auto translated = dialect::translate(dialect::query_of_view(*text), find);
    if (!translated || translated->columns.size() != columns.size()) return;
    for (std::size_t n = 0; n < columns.size(); ++n) {
      if (!columns[n].declared.empty() || translated->columns[n].empty()) continue;
      columns[n].declared = translated->columns[n];
      columns[n].type = dialect::type_of_declared(columns[n].declared);
    }
  } catch (const Error&) {  // a view of SQLite's own SQL
  }
}

std::optional<std::vector<dialect::Column>> columns_at(const SchemaLookups& lookups, const std::string& schema,
                                                       const std::string& table, int depth) {
  if (schema == dialect::kEinsumSchema) return columns_of_einsum(lookups, table);
  const auto known = lookups.columns(schema, table);
  if (!known) return std::nullopt;
  std::vector<dialect::Column> columns;
  bool has_computed = false;
  for (const auto& column : *known) {
    columns.push_back({.name = column.name,
                       .type = type_of(column),
                       .declared = std::string(dialect::without_quotes(column.declared)),
                       .hidden = column.hidden,
                       .key = column.key,
                       .always_counts = column.always_counts});
    has_computed = has_computed || (column.declared.empty() && !column.complex);
  }
  if (has_computed) find_types_of_view(lookups, schema, table, depth, columns);
  return columns;
}

}  // namespace

std::optional<std::vector<dialect::Column>> columns_for_dialect(const SchemaLookups& lookups, const std::string& schema,
                                                                const std::string& table) {
  return columns_at(lookups, schema, table, 0);
}

}  // namespace eindb
