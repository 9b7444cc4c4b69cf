#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancellation.hpp"
#include "engine/session/session_user.hpp"
#include "parser/binder/name_source.hpp"
#include "storage/files/file_path.hpp"

namespace eindb {

struct QueryKey;  // engine/plans/query_key.hpp

/// The value of a loop's variable during one round.
struct LoopVariableValue {
  std::string name;
  std::int64_t value = 0;
};

/// The state of the running statement: the values of its parameters, the loops and the transaction around it, the file
/// of a COPY, cancellation and progress reports. Only the scopes of engine/session/statement_scopes.hpp change it, and
/// each restores the previous state. Used by one thread at a time, except for the cancellation.
class StatementContext {
 public:
  /// `user` must outlive the context.
  explicit StatementContext(const SessionUser& user) : user_(user) {}
  StatementContext(const StatementContext&) = delete;
  StatementContext& operator=(const StatementContext&) = delete;

  /// Tells whether the statement must stop.
  const Cancellation& cancellation() const { return cancellation_; }
  Cancellation& cancellation() { return cancellation_; }

  /// Element n is the value of $n + 1: first the parameters of the prepared statement, then the variables of the loops
  /// around it.
  const std::vector<ParameterValue>& parameters() const { return parameters_; }
  /// The variables of the loops around the statement, the innermost last.
  const std::vector<LoopVariableValue>& loop_variables() const { return loop_variables_; }
  bool is_in_loop() const { return loop_depth_ > 0; }
  /// Whether the statement is a part of another one, whose text is as the user wrote it, also where the front end
  /// translates SQL.
  bool is_part() const { return is_part_; }
  /// The key of a query that was prepared; null if it is not known.
  const QueryKey* key_of_prepared(const ast::Query& query) const { return &query == prepared_ ? key_ : nullptr; }
  /// The types that PREPARE states of the statement's parameters, as CREATE TABLE names them.
  const std::vector<std::string>& stated_types() const { return stated_types_; }
  /// Whether the statement belongs to a transaction that continues after it.
  bool is_in_transaction() const { return is_in_transaction_; }

  /// The file of a COPY: the substitute that the session was given, or else the named file if the user may access it.
  FilePath file_to_read(const std::string& path) const;
  FilePath file_to_write(const std::string& path) const;

  /// Calls the progress callback, if there is one and the setting progress is on. Inside a loop report() does nothing,
  /// and among nested loops only the outermost reports its rounds.
  void report(std::string_view stage, std::int64_t done, std::int64_t total) const;
  void report_rounds(std::int64_t done, std::int64_t total) const;
  /// Calls the notice callback, if there is one.
  void tell(const std::string& notice) const;

 private:
  friend class ParameterValues;
  friend class LoopScope;
  friend class PartOfStatement;
  friend class WholeStatement;
  friend class LoopRound;
  friend class TransferScope;
  friend class KnownKey;
  friend class TransactionPart;

  void show_progress(std::string_view stage, std::int64_t done, std::int64_t total) const;

  const SessionUser& user_;
  Cancellation cancellation_;
  std::vector<ParameterValue> parameters_;
  std::vector<LoopVariableValue> loop_variables_;
  int loop_depth_ = 0;  // number of loops around the statement
  bool is_in_transaction_ = false;
  bool is_part_ = false;
  std::vector<std::string> stated_types_;
  std::string transfer_;                  // StatementInputs::file
  const ast::Query* prepared_ = nullptr;  // null: the key of no query is known
  const QueryKey* key_ = nullptr;
};

}  // namespace eindb
