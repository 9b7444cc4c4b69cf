#include "engine/sql/sql_names.hpp"

#include <algorithm>
#include <utility>

#include "common/letter_case.hpp"
#include "engine/dialect/names.hpp"

namespace eindb {
namespace {

/// The most levels of views in views that are inspected.
constexpr int kDeepestView = 10;
/// The most tables whose columns are kept.
constexpr std::size_t kMostTables = 200;

/// The value in pragma_table_xinfo of columns of virtual tables that * does not show.
constexpr std::int64_t kHidden = 1;

/// Marks the val of a complex tensor, which alone has hidden columns re and im behind it (storage/cells/tensor_table).
void mark_complex(std::vector<TypedColumn>& columns) {
  const auto count = columns.size();
  if (count < 3) return;
  const auto is = [&](std::size_t from_end, std::string_view name, bool hidden) {
    const auto& column = columns[count - from_end];
    return column.name == name && column.hidden == hidden;
  };
  columns[count - 3].complex = is(3, "val", false) && is(2, "re", true) && is(1, "im", true);
}

}  // namespace

void KnownNames::add_function(std::string_view name, std::string_view declared) {
  if (!declared.empty()) functions_[to_lower(name)] = declared_type(declared);
}

SqlNames KnownNames::names() {
  return {.columns = [this](const std::string& schema, const std::string& table) { return columns(schema, table); },
          .function =
              [this](const std::string& function) {
                const auto found = functions_.find(to_lower(function));
                return found == functions_.end() ? ValueType::Unknown : found->second;
              }};
}

std::optional<KnownNames::Columns> KnownNames::columns(const std::string& schema, const std::string& table) {
  // Another connection may have changed the schema.
  if (const auto version = connection_.schema_version(); std::exchange(schema_version_, version) != version)
    tables_.clear();
  const auto key = to_lower(schema) + '.' + to_lower(table);
  if (const auto found = tables_.find(key); found != tables_.end()) return found->second;
  if (tables_.size() >= kMostTables) tables_.clear();
  auto found = look_up(schema, table);
  const auto known = found.empty() ? std::nullopt : std::optional(std::move(found));
  return tables_.insert_or_assign(key, known).first->second;
}

KnownNames::Columns KnownNames::look_up(const std::string& schema, const std::string& table) {
  auto select = connection_.prepare("SELECT name, type, hidden, pk FROM pragma_table_xinfo(?1, ?2)");
  select.bind(1, table);
  if (!schema.empty()) select.bind(2, schema);
  Columns columns;
  std::vector<std::size_t> keys;
  while (select.step()) {
    if (select.integer(3) > 0) keys.push_back(columns.size());
    columns.push_back({.name = select.text(0),
                       .type = declared_type(select.text(1)),
                       .hidden = select.integer(2) == kHidden,
                       .declared = select.text(1),
                       .key = select.integer(3) > 0});
  }
  mark_complex(columns);
  if (keys.size() == 1 && equal_ignoring_case(columns[keys[0]].declared, "INTEGER"))
    columns[keys[0]].always_counts = definition_has(schema, table, dialect::kAlwaysIdentity);
  const auto is_open = [](const TypedColumn& column) {
    return column.type == ValueType::Unknown || (column.type == ValueType::Text && !column.complex);
  };
  if (std::any_of(columns.begin(), columns.end(), is_open)) infer_view(schema, table, columns);
  return columns;
}

bool KnownNames::definition_has(const std::string& schema, const std::string& table, std::string_view part) {
  auto select = connection_.prepare("SELECT 1 FROM " + quote_identifier(schema.empty() ? kMainSchema : schema) +
                                    ".sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE"
                                    " AND instr(sql, ?2) > 0");
  select.bind(1, table);
  select.bind(2, part);
  return select.step();
}

std::optional<std::string> KnownNames::view_text(const std::string& schema, const std::string& view) {
  if (!schema.empty() && !equal_ignoring_case(schema, "main")) return std::nullopt;
  auto select = connection_.prepare(
      "SELECT sql, type FROM (SELECT sql, type, name, 0 AS place FROM temp.sqlite_schema"
      " UNION ALL SELECT sql, type, name, 1 FROM main.sqlite_schema)"
      " WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view') AND place >= ?2 ORDER BY place LIMIT 1");
  select.bind(1, view);
  select.bind(2, std::int64_t{schema.empty() ? 0 : 1});
  if (!select.step() || select.text(1) != "view") return std::nullopt;
  return select.text(0);
}

// Computed columns of a view have no declared type, and none says that it has complex numbers: both are inferred from
// its text.
void KnownNames::infer_view(const std::string& schema, const std::string& view, Columns& columns) {
  if (views_ >= kDeepestView) return;
  const auto text = view_text(schema, view);
  if (!text) return;
  class Deeper {
   public:
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    int& depth_;
  };
  const auto types = [&] {
    const Deeper scope(views_);
    return infer_types(*text, names(), {});
  }();
  if (types.columns.size() != columns.size()) return;
  for (std::size_t n = 0; n < columns.size(); ++n) {
    if (columns[n].type == ValueType::Unknown) columns[n].type = types.columns[n];
    columns[n].complex = types.complex[n];
  }
}

}  // namespace eindb
