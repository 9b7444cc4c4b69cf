#include "sqlite/tensor_table.hpp"

#include <algorithm>

#include "sqlite/values.hpp"

namespace eindb_sqlite {
namespace {

/// Assumptions on a tensor whose cells nobody has counted.
constexpr double kCells = 1e6;
constexpr double kEqualShare = 0.01;
constexpr double kRangeShare = 0.3;

struct ShownTensor {
  std::string name;
  std::vector<eindb::ColumnInfo> columns;  // labels, val, and for complex numbers re and im
  std::size_t visible = 0;                 // of the columns
};

bool is_same(const ShownTensor& a, const ShownTensor& b) {
  return std::equal(
      a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
      [](const eindb::ColumnInfo& x, const eindb::ColumnInfo& y) { return x.name == y.name && x.type == y.type; });
}

ShownTensor tensor_of(Database& database, const std::string& name) {
  auto& connection = database.reading();
  ShownTensor tensor{.name = name, .columns = connection.prepare("SELECT * FROM " + quoted(name)).columns()};
  if (tensor.columns.empty()) throw HostError("tensor " + name + " has no columns");
  tensor.visible = tensor.columns.size();
  auto description = connection.execute("DESCRIBE " + quoted(name));
  std::string type;
  while (description.next()) type = description.row().get<std::string>(1);
  if (type.starts_with("COMPLEX")) {
    tensor.columns.push_back({.name = "re", .type = "REAL"});
    tensor.columns.push_back({.name = "im", .type = "REAL"});
  }
  return tensor;
}

/// The statement of a scan in parts.
struct TensorPlan {
  std::string selection;
  std::string conditions;
  std::string order;
  friend bool operator==(const TensorPlan&, const TensorPlan&) = default;

  std::string text() const { return selection + conditions + order; }
};

class TensorCursor final : public Cursor {
 public:
  /// `plans` may grow, and outlives the cursor.
  TensorCursor(std::shared_ptr<Database> database, const std::vector<TensorPlan>& plans)
      : Cursor(std::move(database)), plans_(plans) {
    hold_state();
  }

  void start(int number, const char* /*plan*/, std::span<sqlite3_value*> values) override {
    const auto& plan = plans_.at(static_cast<std::size_t>(number));
    if (!statement_ || number_ != number) statement_.emplace(reading().prepare(plan.text()));
    number_ = number;
    for (std::size_t n = 0; n < values.size(); ++n) bind(*statement_, n + 1, values[n]);
    show(statement_->execute());
  }

  void give_column(sqlite3_context* context, int column) override {
    give(context, row().value(static_cast<std::size_t>(column)));
  }

  /// The number of the cell, by which SQLite knows rows that it finds by several conditions.
  std::int64_t number() const override { return row().get<std::int64_t>(row().size() - 1); }

 private:
  const std::vector<TensorPlan>& plans_;
  int number_ = 0;  // of the statement's plan
  std::optional<eindb::Statement> statement_;
};

class TensorTable final : public Table {
 public:
  TensorTable(std::shared_ptr<Database> database, ShownTensor tensor)
      : database_(std::move(database)), tensor_(std::move(tensor)) {}

  std::string declaration() const override {
    auto text = declaration_of(
        {tensor_.columns.begin(), tensor_.columns.begin() + static_cast<std::ptrdiff_t>(tensor_.visible)});
    if (tensor_.visible == tensor_.columns.size()) return text;
    text.pop_back();
    return text + ", re REAL HIDDEN, im REAL HIDDEN)";
  }

  bool plan(sqlite3_index_info& info) override;
  std::unique_ptr<Cursor> open() override;

 private:
  std::string selection(const sqlite3_index_info& info) const;
  std::string conditions(sqlite3_index_info& info) const;
  std::string order(sqlite3_index_info& info) const;

  std::shared_ptr<Database> database_;
  ShownTensor tensor_;
  std::vector<TensorPlan> plans_;
};

class TensorMaker final : public TableMaker {
 public:
  TensorMaker(std::shared_ptr<Database> database, std::string name)
      : database_(std::move(database)), name_(std::move(name)) {}

  std::unique_ptr<Table> make(const std::optional<CreatedTable>& /*created*/) override {
    return std::make_unique<TensorTable>(database_, tensor_of(*database_, name_));
  }
  // It only reads, and only from the same database.
  int use() const override { return SQLITE_VTAB_INNOCUOUS; }

 private:
  std::shared_ptr<Database> database_;
  std::string name_;
};

void add_tensor(const std::shared_ptr<Database>& database, const std::string& name) {
  add_module(database->host(), name, std::make_unique<TensorMaker>(database, name), Creation::Never);
}

/// The operator of a constraint; empty for those that only the host checks.
std::string_view operator_of(int op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ: return " = ";
    case SQLITE_INDEX_CONSTRAINT_GT: return " > ";
    case SQLITE_INDEX_CONSTRAINT_GE: return " >= ";
    case SQLITE_INDEX_CONSTRAINT_LT: return " < ";
    case SQLITE_INDEX_CONSTRAINT_LE: return " <= ";
    default: return "";
  }
}

/// The columns that the host reads, and the number of the cell. NULL stands for the others, so that eindb need not read
/// values, say.
std::string TensorTable::selection(const sqlite3_index_info& info) const {
  std::string text;
  for (std::size_t n = 0; n < tensor_.columns.size(); ++n) {
    const bool is_used = ((info.colUsed >> std::min<std::size_t>(n, 63)) & 1U) != 0;
    text += (n == 0 ? "SELECT " : ", ") + (is_used ? quoted(tensor_.columns[n].name) : "NULL");
  }
  return text + ", rowid FROM " + quoted(tensor_.name);
}

/// Those on indices, and whether zeros count. The host checks them again, so that what eindb's SQL takes for equal need
/// not be equal.
std::string TensorTable::conditions(sqlite3_index_info& info) const {
  std::string text;
  int given = 0;
  double share = 1;
  const auto labels = static_cast<int>(tensor_.visible) - 1;
  for (int n = 0; n < info.nConstraint; ++n) {
    const auto& constraint = info.aConstraint[n];
    const auto op = operator_of(constraint.op);
    if (constraint.usable == 0 || op.empty() || constraint.iColumn < 0 || constraint.iColumn >= labels) continue;
    const auto& column = tensor_.columns[static_cast<std::size_t>(constraint.iColumn)];
    const std::string_view collation = sqlite3_vtab_collation(&info, n);
    if (column.type != "INTEGER" && collation != "BINARY") continue;
    info.aConstraintUsage[n].argvIndex = ++given;
    text += text.empty() ? " WHERE " : " AND ";
    text += quoted(column.name);
    text += op;
    text += '$' + std::to_string(given);
    share *= constraint.op == SQLITE_INDEX_CONSTRAINT_EQ ? kEqualShare : kRangeShare;
  }
  // So eindb passes over what is zero.
  if (tensor_.columns[static_cast<std::size_t>(labels)].type != "TEXT" && excludes_zeros(info, labels)) {
    text +=
        (text.empty() ? " WHERE " : " AND ") + quoted(tensor_.columns[static_cast<std::size_t>(labels)].name) + " <> 0";
    share *= kRangeShare;
  }
  info.estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, kCells * share));
  info.estimatedCost = std::max(1.0, kCells * share) + 50;  // a statement takes as long as some rows
  return text;
}

std::string TensorTable::order(sqlite3_index_info& info) const {
  std::string text;
  for (const auto& term : std::span(info.aOrderBy, static_cast<std::size_t>(info.nOrderBy))) {
    if (term.iColumn < 0) return "";
    text += text.empty() ? " ORDER BY " : ", ";
    text += quoted(tensor_.columns[static_cast<std::size_t>(term.iColumn)].name);
    if (term.desc != 0) text += " DESC";
  }
  info.orderByConsumed = text.empty() ? 0 : 1;
  return text;
}

// SQLite is given the plan's number; the text is for its EXPLAIN.
bool TensorTable::plan(sqlite3_index_info& info) {
  TensorPlan plan{.selection = selection(info), .conditions = conditions(info), .order = order(info)};
  info.idxStr = sqlite3_mprintf("%s", plan.text().c_str());
  info.needToFreeIdxStr = 1;
  const auto known = std::find(plans_.begin(), plans_.end(), plan);
  info.idxNum = static_cast<int>(known - plans_.begin());
  if (known == plans_.end()) plans_.push_back(std::move(plan));
  return true;
}

// SQLite opens cursors when a statement begins, and compiles one that ends with SQLITE_SCHEMA again.
std::unique_ptr<Cursor> TensorTable::open() {
  auto cursor = std::make_unique<TensorCursor>(database_, plans_);
  if (!is_same(tensor_, tensor_of(*database_, tensor_.name))) {
    add_tensor(database_, tensor_.name);
    throw HostError("tensor " + tensor_.name + " has other columns now", SQLITE_SCHEMA);
  }
  return cursor;
}

std::set<std::string> modules_of(sqlite3* host) {
  std::set<std::string> names;
  HostStatement select(host, "SELECT lower(name) FROM pragma_module_list");
  while (select.step()) names.insert(select.text(0));
  return names;
}

std::string lower(std::string text) {
  for (auto& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::size_t TensorTables::refresh() {
  const auto names = database_->tensor_names();
  std::set<std::string> now;
  std::vector<std::string> added;
  std::optional<std::set<std::string>> modules;  // asked for where something is new
  for (const auto& name : names) {
    const auto key = lower(name);
    if (!shown_.contains(key)) {
      if (!modules) modules = modules_of(database_->host());
      if (modules->contains(key)) continue;
      added.push_back(name);
    }
    now.insert(key);
  }
  for (const auto& key : shown_)
    if (!now.contains(key)) remove_module(database_->host(), key);
  std::erase_if(shown_, [&](const std::string& key) { return !now.contains(key); });
  for (const auto& name : added) {
    add_tensor(database_, name);
    shown_.insert(lower(name));
  }
  return shown_.size();
}

}  // namespace eindb_sqlite
