#include "sqlite/einsum_table.hpp"

#include <array>

#include "sqlite/einsum_call.hpp"
#include "sqlite/values.hpp"

namespace eindb_sqlite {
namespace {

constexpr int kKey = 0;  // the numbers of columns
constexpr int kValue = 1;
constexpr int kSubscripts = 2;
constexpr int kOperands = 8;
constexpr int kTooMany = kSubscripts + kOperands + 1;  // where an argument too many would arrive
constexpr int kFirstLetter = kTooMany + 1;
constexpr std::size_t kLetters = 26;

/// The first letter of idxStr where rows of value 0 are left out.
constexpr char kNoZeros = 'n';

void plan_zeros(sqlite3_index_info& info, int value) {
  // SQLite does not change it, nor free it.
  static char no_zeros[] = "nonzero";
  static char all[] = "all";
  info.idxStr = excludes_zeros(info, value) ? no_zeros : all;
}

class EinsumCursor final : public Cursor {
 public:
  using Cursor::Cursor;

  void start(int given, const char* plan, std::span<sqlite3_value*> values) override {
    constexpr auto kWhat = "the arguments of einsum() are texts: the subscripts, then the name of each operand";
    if (values.size() < 2 || (given & (given + 1)) != 0) throw HostError(kWhat);
    std::vector<std::string> operands;
    for (auto* value : values.subspan(1)) operands.push_back(text_of(value, kWhat));
    auto computed = compute_einsum(database(), hold_state(), text_of(values[0], kWhat), operands, *plan == kNoZeros);
    show(std::move(computed.rows), std::move(computed.operands));
    places_.fill(-1);
    const auto& columns = this->columns();
    for (std::size_t n = 0; n + 1 < columns.size(); ++n) {
      const char letter = columns[n].size() == 1 ? columns[n][0] : '.';
      if (letter >= 'a' && letter <= 'z') places_.at(static_cast<std::size_t>(letter - 'a')) = static_cast<int>(n);
    }
  }

  void give_column(sqlite3_context* context, int column) override {
    const auto row = this->row();
    if (column == kKey) return give_key(context, row);
    if (column == kValue) return give(context, row.value(row.size() - 1));
    const int place = column < kFirstLetter ? -1 : places_.at(static_cast<std::size_t>(column - kFirstLetter));
    if (place < 0) sqlite3_result_null(context);
    else give(context, row.value(static_cast<std::size_t>(place)));
  }

 private:
  static void give_key(sqlite3_context* context, const eindb::RowView& row) {
    std::string text = "[";
    for (std::size_t n = 0; n + 1 < row.size(); ++n) {
      if (n > 0) text += ',';
      append_json(text, row.value(n));
    }
    give(context, text + ']');
  }

  std::array<int, kLetters> places_{};  // of each letter among the result's columns; -1: it has none such
};

class EinsumTable final : public Table {
 public:
  explicit EinsumTable(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  std::string declaration() const override {
    std::string text = "CREATE TABLE x(key TEXT, val NUMERIC, subscripts HIDDEN";
    for (int n = 1; n <= kOperands; ++n) text += ", operand" + std::to_string(n) + " HIDDEN";
    text += ", excess HIDDEN";
    for (char letter = 'a'; letter <= 'z'; ++letter) text += std::string(", ") + letter + " NUMERIC HIDDEN";
    return text + ")";
  }

  bool plan(sqlite3_index_info& info) override {
    for (const auto& constraint : std::span(info.aConstraint, static_cast<std::size_t>(info.nConstraint))) {
      if (constraint.iColumn == kTooMany)
        throw HostError("einsum() takes subscripts and at most " + std::to_string(kOperands) + " operands");
    }
    plan_zeros(info, kValue);
    return plan_arguments(info, kSubscripts, kOperands + 1);
  }

  std::unique_ptr<Cursor> open() override { return std::make_unique<EinsumCursor>(database_); }

 private:
  std::shared_ptr<Database> database_;
};

class CreatedEinsumCursor final : public Cursor {
 public:
  CreatedEinsumCursor(std::shared_ptr<Database> database, const std::vector<std::string>& arguments)
      : Cursor(std::move(database)), arguments_(arguments) {}

  void start(int /*number*/, const char* plan, std::span<sqlite3_value*> /*values*/) override {
    auto computed = compute_einsum(database(), hold_state(), arguments_.front(),
                                   {arguments_.begin() + 1, arguments_.end()}, *plan == kNoZeros);
    show(std::move(computed.rows), std::move(computed.operands));
  }
  void give_column(sqlite3_context* context, int column) override {
    give(context, row().value(static_cast<std::size_t>(column)));
  }

 private:
  std::vector<std::string> arguments_;
};

class CreatedEinsumTable final : public Table {
 public:
  CreatedEinsumTable(std::shared_ptr<Database> database, std::vector<std::string> arguments)
      : database_(std::move(database)), arguments_(std::move(arguments)) {
    if (arguments_.size() < 2)
      throw HostError(
          "CREATE VIRTUAL TABLE ... USING einsum('SUBSCRIPTS', OPERAND, ...) takes subscripts and operands");
  }

  std::string declaration() const override {
    std::vector<eindb::ColumnInfo> columns;
    for (const auto& label : result_labels(arguments_.front())) columns.push_back({.name = label, .type = "NUMERIC"});
    columns.push_back({.name = "val", .type = "NUMERIC"});
    return declaration_of(columns);
  }

  bool plan(sqlite3_index_info& info) override {
    plan_zeros(info, static_cast<int>(result_labels(arguments_.front()).size()));
    info.estimatedCost = 1e6;
    info.estimatedRows = 1000;
    return true;
  }

  std::unique_ptr<Cursor> open() override { return std::make_unique<CreatedEinsumCursor>(database_, arguments_); }

 private:
  std::shared_ptr<Database> database_;
  std::vector<std::string> arguments_;
};

class EinsumMaker final : public TableMaker {
 public:
  explicit EinsumMaker(std::shared_ptr<Database> database) : database_(std::move(database)) {}

  std::unique_ptr<Table> make(const std::optional<CreatedTable>& created) override {
    if (!created) return std::make_unique<EinsumTable>(database_);
    // Functions that a file from elsewhere must not call could be in the query of an operand.
    for (const auto& operand : created->arguments) {
      if (!created->is_temporary && operand.starts_with('(')) {
        throw HostError(
            "a query as an operand is for temporary tables\n  hint: CREATE VIRTUAL TABLE temp.Z, or a view of the "
            "query");
      }
    }
    return std::make_unique<CreatedEinsumTable>(database_, created->arguments);
  }
  // An operand may be a query with functions of the program's.
  int use() const override { return SQLITE_VTAB_DIRECTONLY; }

 private:
  std::shared_ptr<Database> database_;
};

}  // namespace

void add_einsum_module(const std::shared_ptr<Database>& database) {
  add_module(database->host(), "einsum", std::make_unique<EinsumMaker>(database), Creation::ByStatement);
}

}  // namespace eindb_sqlite
