#include "engine/sql/attached_tables.hpp"

#include <algorithm>
#include <utility>

#include "common/letter_case.hpp"
#include "engine/sql/schema_objects.hpp"
#include "engine/sql/table_names.hpp"
#include "parser/statement_outline.hpp"

namespace eindb {
namespace {

/// The most levels of views in views of an attached database.
constexpr int kDeepestAttachedView = 20;

/// Whether the statement makes a view or trigger that other sessions read, too.
bool stores_for_others(std::string_view sql) {
  const auto outline = outline_of(sql);
  return outline.stores_text && !outline.temporary;
}

class Resolver {
 public:
  Resolver(const ast::Sql& sql, const NamesBesideAttached& names)
      : sql_(sql), names_(names), written_(sql), is_stored_(stores_for_others(sql.text)) {}

  std::vector<NameForSqlite> run() {
    refuse_writing();
    for (const auto& table : written_.tables()) resolve(table);
    for (const auto& table : written_.of_columns()) resolve_column(table);
    std::sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.span.begin < b.span.begin; });
    return std::move(out_);
  }

 private:
  SourceSpan place(const TableName& table) const {
    return {table.span.begin + sql_.span.begin, table.span.end + sql_.span.begin};
  }
  bool has_object(std::string_view schema, const std::string& name) const {
    return !kind_of_object(schema, name, names_.connection).empty();
  }
  bool is_of_sqlite(const std::string& name) const {
    const auto folded = to_lower(name);
    return folded.starts_with("pragma_") || names_.is_of_sqlite(folded);
  }
  bool is_own_tensor(const std::string& name) const {
    return names_.is_of_program(name) || names_.catalog.find_in(kMainSchema, name);
  }

  void refuse_writing() const;
  void resolve(const TableName& table);
  void resolve_own(const TableName& table);
  bool resolve_in(const std::string& schema, const TableName& table);
  void resolve_column(const TableName& table);
  bool keeps_schema(const std::string& schema, const std::string& name) const;
  void check_view(const std::string& schema, const std::string& view, const TableName& table, int depth) const;

  const ast::Sql& sql_;
  const NamesBesideAttached& names_;
  const TableNames written_;
  const bool is_stored_;
  std::vector<NameForSqlite> out_;
};

void Resolver::refuse_writing() const {
  const auto target = written_.written();
  if (!target) return;
  const auto schema = names_.connection.attached_schema(target->schema);
  if (schema) throw refused_as_attached(*schema + "." + target->name, place(*target));
  if (!target->schema.empty() || has_object(kTemporarySchema, target->name) || has_object(kMainSchema, target->name) ||
      is_own_tensor(target->name))
    return;
  for (const auto& [attached, path] : names_.connection.attached())
    if (has_object(attached, target->name) || names_.catalog.find_in(attached, target->name))
      throw refused_as_attached(attached + "." + target->name, place(*target));
}

void Resolver::resolve(const TableName& table) {
  if (!table.schema.empty()) {
    if (const auto schema = names_.connection.attached_schema(table.schema)) resolve_in(*schema, table);
    return;
  }
  if (is_stored_ || written_.is_common(table.name) || has_object(kTemporarySchema, table.name) ||
      has_object(kMainSchema, table.name))
    return;
  if (is_own_tensor(table.name)) return resolve_own(table);
  if (is_of_sqlite(table.name)) return;
  for (const auto& [schema, path] : names_.connection.attached())
    if (resolve_in(schema, table)) return;
}

// SQLite would rather take a table of an attached database than the tensor.
void Resolver::resolve_own(const TableName& table) {
  const auto attached = names_.connection.attached();
  if (std::any_of(attached.begin(), attached.end(),
                  [&](const auto& each) { return has_object(each.schema, table.name); }))
    out_.push_back({table.span, "main." + quote_identifier(table.name)});
}

bool Resolver::resolve_in(const std::string& schema, const TableName& table) {
  const auto full_name = schema + "." + table.name;
  const auto kind = kind_of_object(schema, table.name, names_.connection);
  const bool is_tensor = names_.catalog.find_in(schema, table.name).has_value();
  if (is_tensor && !kind.empty()) {
    throw Error(ErrorKind::DuplicateName, full_name + " is a " + kind + " and a tensor", place(table),
                "open that file by itself, and give one of them another name");
  }
  if (kind == "view") check_view(schema, table.name, table, 0);
  if (!is_tensor) return !kind.empty();
  if (is_stored_) throw refused_in_view(full_name, place(table));
  with_place(place(table), [&] { return names_.catalog.get(full_name); });
  const bool has_alias = table.is_listed && !keeps_schema(schema, table.name);
  out_.push_back({table.span, quote_identifier(full_name), has_alias ? table.name : ""});
  return true;
}

// Whether columns are told apart by the schema: SELECT main.X.val, other.X.val FROM main.X JOIN other.X USING (i).
bool Resolver::keeps_schema(const std::string& schema, const std::string& name) const {
  const auto is_same = [&](const TableName& table) {
    return equal_ignoring_case(table.schema, schema) && equal_ignoring_case(table.name, name);
  };
  const auto is_namesake = [&](const TableName& table) {
    return equal_ignoring_case(table.name, name) && !equal_ignoring_case(table.schema, schema);
  };
  const auto& columns = written_.of_columns();
  const auto& tables = written_.tables();
  return std::any_of(columns.begin(), columns.end(), is_same) && std::any_of(tables.begin(), tables.end(), is_namesake);
}

void Resolver::resolve_column(const TableName& table) {
  const auto schema = names_.connection.attached_schema(table.schema);
  if (!schema || !names_.catalog.find_in(*schema, table.name)) return;
  const bool keeps = keeps_schema(*schema, table.name);
  out_.push_back({table.span, quote_identifier(keeps ? *schema + "." + table.name : table.name)});
}

void Resolver::check_view(const std::string& schema, const std::string& view, const TableName& table, int depth) const {
  if (depth > kDeepestAttachedView) return;  // SQLite tells of views that read themselves
  auto select = names_.connection.prepare("SELECT sql FROM " + quote_identifier(schema) +
                                          ".sqlite_schema WHERE type = 'view' AND name = ? COLLATE NOCASE");
  select.bind(1, view);
  if (!select.step()) return;
  const ast::Sql text{select.text(0), {}, {0, 0}};
  const TableNames read(text);
  for (const auto& each : read.tables()) {
    if (read.is_common(each.name) || (is_of_sqlite(each.name) && !is_own_tensor(each.name))) continue;
    const auto kind = kind_of_object(schema, each.name, names_.connection);
    if (kind == "view") check_view(schema, each.name, table, depth + 1);
    if (!kind.empty() || to_lower(each.name).starts_with("sqlite_")) continue;
    throw Error(ErrorKind::Unsupported,
                "the view " + schema + "." + view + " reads " + each.name +
                    ", and views of an attached database read its tables alone",
                place(table), "write its SELECT into the statement, with " + schema + "." + each.name);
  }
}

}  // namespace

std::optional<AttachedName> attached_name(std::string_view name, const SqliteConnection& connection) {
  const auto point = name.find('.');
  if (point == std::string_view::npos) return std::nullopt;
  auto schema = connection.attached_schema(name.substr(0, point));
  if (!schema) return std::nullopt;
  return AttachedName{std::move(*schema), std::string(name.substr(point + 1))};
}

Error refused_as_attached(const std::string& what, std::optional<SourceSpan> place) {
  return {ErrorKind::ReadOnly, what + " is in an attached database, which statements only read", place,
          "open that file by itself to change it, or copy what it has: CREATE TENSOR X AS EINSUM X[i] = other.X[i], or "
          "CREATE TABLE t AS SELECT * FROM other.t"};
}

Error refused_in_view(const std::string& tensor, SourceSpan place) {
  return {ErrorKind::Unsupported,
          "a view or trigger of the database cannot read " + tensor + ", which is attached by this session alone",
          place, "make it the session's own: CREATE TEMP VIEW"};
}

std::vector<NameForSqlite> names_for_sqlite(const ast::Sql& sql, const NamesBesideAttached& names) {
  if (!names.connection.has_attached()) return {};
  return Resolver(sql, names).run();
}

}  // namespace eindb
