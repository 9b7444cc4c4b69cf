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

/// The variable of a loop while a round of it runs.
struct LoopVariableValue {
  std::string name;
  std::int64_t value = 0;
};

/// What belongs to the statement that runs, and to no other: the values of its parameters, the loops and the
/// transaction that it is a part of, the file that it copies, who may stop it and who is told how far it is. The scopes
/// of engine/session/statement_scopes.hpp alone change it, and each of them restores what it found.
/// Threads: one at a time, but for the cancellation.
class StatementContext {
 public:
  /// `user` outlives it.
  explicit StatementContext(const SessionUser& user) : user_(user) {}
  StatementContext(const StatementContext&) = delete;
  StatementContext& operator=(const StatementContext&) = delete;

  /// Whether the statement is to stop.
  const Cancellation& cancellation() const { return cancellation_; }
  Cancellation& cancellation() { return cancellation_; }

  /// Value n is that of $n + 1: those of the prepared statement that runs, then those of the loops around it.
  const std::vector<ParameterValue>& parameters() const { return parameters_; }
  /// Of the loops around the statement, the innermost last.
  const std::vector<LoopVariableValue>& loop_variables() const { return loop_variables_; }
  bool is_in_loop() const { return loop_depth_ > 0; }
  /// Whether the statement is a part of a transaction that goes on after it.
  bool is_in_transaction() const { return is_in_transaction_; }

  /// The file that a COPY names, as far as the user may have it, or the one that it is given in its place.
  FilePath file_to_read(const std::string& path) const;
  FilePath file_to_write(const std::string& path) const;

  /// Tells the user's callback, if there is one and the setting progress is on. Statements of a loop say nothing, and
  /// of loops inside each other only the outermost does.
  void report(std::string_view stage, std::int64_t done, std::int64_t total) const;
  void report_rounds(std::int64_t done, std::int64_t total) const;
  /// Tells the user something that is no error, if there is a callback for it.
  void tell(const std::string& notice) const;

 private:
  friend class ParameterValues;
  friend class LoopScope;
  friend class LoopRound;
  friend class TransferScope;
  friend class TransactionPart;

  void show_progress(std::string_view stage, std::int64_t done, std::int64_t total) const;

  const SessionUser& user_;
  Cancellation cancellation_;
  std::vector<ParameterValue> parameters_;
  std::vector<LoopVariableValue> loop_variables_;
  int loop_depth_ = 0;  // loops around the statement
  bool is_in_transaction_ = false;
  std::string transfer_;  // StatementInputs::file
};

}  // namespace eindb
