#pragma once

#include <eindb/eindb.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sqlite/database.hpp"
#include "sqlite/host.hpp"

namespace eindb_sqlite {

/// An exception as SQLite is told of it.
struct Failure {
  int code = SQLITE_ERROR;
  std::string message;  ///< eindb's whole text, with the place and the hint
};
/// Of the exception that is being handled.
Failure current_failure();

/// A scan: rows of one statement of eindb's after the other.
class Cursor : public sqlite3_vtab_cursor {
 public:
  explicit Cursor(std::shared_ptr<Database> database) : sqlite3_vtab_cursor{}, database_(std::move(database)) {}
  virtual ~Cursor() = default;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// Begins again; the plan is that of Table::plan().
  virtual void start(int number, const char* plan, std::span<sqlite3_value*> values) = 0;
  virtual void give_column(sqlite3_context* context, int column) = 0;

  void next();
  bool is_at_end() const { return !has_row_; }
  /// The rowid: the same whenever the row is found.
  virtual std::int64_t number() const { return number_; }

 protected:
  /// The rows of the result, from the first one; `source` is kept until they have been read.
  void show(eindb::QueryResult result, std::shared_ptr<const void> source = nullptr);
  /// The same of a statement that may run long: `execute` runs on another thread, while interrupts of the host are
  /// watched for.
  void run(eindb::Connection& connection, const std::function<eindb::QueryResult()>& execute);
  Database& database() const { return *database_; }
  /// What the scan reads from, and to its end the state of the file that it begins with.
  eindb::Connection& reading() {
    hold_state();
    return state_ == nullptr ? database_->reading() : state_->connection();
  }
  const FileStatePtr& hold_state() {
    if (state_ == nullptr) state_ = database_->hold_state();
    return state_;
  }
  eindb::RowView row() const { return result_->row(); }
  const std::vector<std::string>& columns() const { return result_->columns(); }

 private:
  std::shared_ptr<Database> database_;
  FileStatePtr state_;                  // before the result, which is of it
  std::shared_ptr<const void> source_;  // before the result, which reads it
  std::optional<eindb::QueryResult> result_;
  bool has_row_ = false;
  std::int64_t number_ = 0;
};

/// A virtual table as SQLite has opened it.
class Table : public sqlite3_vtab {
 public:
  Table() : sqlite3_vtab{} {}
  virtual ~Table() = default;
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// CREATE TABLE x(...), with its columns.
  virtual std::string declaration() const = 0;
  /// As xBestIndex; false if other constraints have to be usable.
  virtual bool plan(sqlite3_index_info& info) = 0;
  virtual std::unique_ptr<Cursor> open() = 0;
};

/// A table as CREATE VIRTUAL TABLE has it.
struct CreatedTable {
  /// Whether it is in schema temp, and so of this connection's making. Others may come with a file from elsewhere.
  bool is_temporary = false;
  std::vector<std::string> arguments;  ///< without quotation marks
};

/// Makes the tables of one module.
class TableMaker {
 public:
  TableMaker() = default;
  virtual ~TableMaker() = default;
  TableMaker(const TableMaker&) = delete;
  TableMaker& operator=(const TableMaker&) = delete;

  /// `created`: what CREATE VIRTUAL TABLE ... USING module(...) says; nullopt for the table with the module's own name.
  virtual std::unique_ptr<Table> make(const std::optional<CreatedTable>& created) = 0;
  /// SQLITE_VTAB_INNOCUOUS: views and triggers of any database may use its tables; SQLITE_VTAB_DIRECTONLY: none may.
  virtual int use() const = 0;
};

enum class Creation { Never, ByStatement };

/// Registers the maker as a module of the host's connection, which owns it from here on; it takes the place of an
/// earlier one of this name. Its table is there without CREATE VIRTUAL TABLE; `creation` says whether others can be
/// created.
void add_module(sqlite3* host, const std::string& name, std::unique_ptr<TableMaker> maker, Creation creation);
/// Statements that were compiled before keep the module.
void remove_module(sqlite3* host, const std::string& name);

/// Whether a condition on column `value` holds for no zero, as val <> 0 and val > 1.5. A result of few values in large
/// extents can be read only so. SQLite tells the numbers that stand in the statement since 3.38.
bool excludes_zeros(sqlite3_index_info& info, int value);

/// Plans the arguments of a table function: hidden columns, the first of which is `first`. Their values come in order,
/// and the n-th bit of idxNum tells whether the n-th is there. False: see Table::plan().
bool plan_arguments(sqlite3_index_info& info, int first, int count);

}  // namespace eindb_sqlite
