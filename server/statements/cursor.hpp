#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engine/results/result.hpp"
#include "server/protocol/frontend_message.hpp"
#include "server/sessions/client_quota.hpp"
#include "server/statements/client_command.hpp"
#include "server/statements/cursor_declaration.hpp"
#include "server/statements/kept_bytes.hpp"

namespace eindb {

/// A cursor of a client: the rows of a query that has run, and a position among them.
///
///     0: before the first row     1, 2, ...: on that row     last + 1: behind the last row
///
/// Rows are read from the query as they are fetched. A cursor with SCROLL keeps those it has read, and keep_rest()
/// makes any cursor keep those it has not; all kept rows count in the client's quota. Used by the client's thread.
/// Until keep_rest() the session that ran the query must outlive it.
class Cursor : public std::enable_shared_from_this<Cursor> {
 public:
  /// `result` has rows. `text` is the statement that declared the cursor. `quota` must outlive the cursor.
  Cursor(CursorDeclaration declaration, std::string text, Result result, ClientQuota& quota);
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  const CursorDeclaration& declaration() const { return declaration_; }
  const std::string& text() const { return text_; }
  const std::vector<Column>& columns() const { return columns_; }
  /// The formats of its rows for a simple query, which names none.
  std::vector<frontend::Format> formats() const {
    if (!declaration_.binary) return {};
    return {frontend::Format::Binary};
  }
  /// Whether its rows may come from tables, which later statements may change.
  bool reads_tables() const { return result_.rows != nullptr && result_.tensor == nullptr; }
  /// Whether rows come from the session that ran the query.
  bool reads_session() const { return result_.rows != nullptr; }

  /// The rows of a FETCH, one after the other; the position follows them. Until all are read, or the source is
  /// destroyed, the cursor takes no other command. Throws CodedError if the cursor cannot go there, or has failed.
  std::unique_ptr<RowSource> fetch(const command::Fetch& fetch);
  /// Goes where fetch() would go, and returns how many rows it would give.
  std::int64_t move(const command::Fetch& fetch);
  /// Reads all rows that are left, so that it needs neither the session nor the state of its tables. Throws the errors
  /// of reading, and CodedError if the quota has no room.
  void keep_rest();

 private:
  class FetchedRows;

  /// Rows to give: `count` of them from row `first` on, up or down.
  struct Run {
    std::int64_t first = 1;
    std::int64_t count = 0;
    int step = 1;
  };

  Run find_run(const command::Fetch& fetch);
  Run absolute(std::int64_t row);
  void begin_command();
  void require_scroll() const;
  bool is_on_row() const { return position_ > 0 && position_ <= read_; }
  bool row(std::int64_t number, Row& row);
  bool next_of_run(Run& run, Row& row);
  bool read(Row& row);
  void keep(Row row);
  std::int64_t last_row();

  const CursorDeclaration declaration_;
  const std::string text_;
  std::vector<Column> columns_;
  Result result_;  // without rows once all are read
  ClientQuota::Share share_;
  KeptBytes bytes_;

  std::int64_t position_ = 0;
  std::deque<Row> kept_;
  std::int64_t first_kept_ = 1;  // number of the first kept row; all rows up to `read_` from there on are kept
  std::int64_t read_ = 0;        // number of rows read from the query
  bool fetching_ = false;        // a FetchedRows has rows to give
  Run owed_;                     // rows that a FETCH was asked for, and that nobody has read
  bool failed_ = false;
};

}  // namespace eindb
