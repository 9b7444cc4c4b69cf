#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/check.hpp"
#include "engine/session/prepared_statement.hpp"
#include "engine/session/statement_context.hpp"
#include "parser/ast.hpp"
#include "parser/loop_variable.hpp"

namespace eindb {

// Scopes that set a part of the statement's state and restore it. They must end in the reverse order of their begin;
// their destructors do not allocate.

/// Sets the values of $1, $2, ... for a statement and hides the variables of the loops around it.
class ParameterValues {
 public:
  ParameterValues(StatementContext& statement, std::vector<ParameterValue> values)
      : statement_(statement),
        saved_(std::exchange(statement.parameters_, std::move(values))),
        loop_variables_(std::exchange(statement.loop_variables_, {})) {
    DCHECK(loop_variables_.size() <= saved_.size(), "variables of loops are parameters of the statements in them");
  }
  ~ParameterValues() {
    statement_.parameters_ = std::move(saved_);
    statement_.loop_variables_ = std::move(loop_variables_);
  }
  ParameterValues(const ParameterValues&) = delete;
  ParameterValues& operator=(const ParameterValues&) = delete;

 private:
  StatementContext& statement_;
  std::vector<ParameterValue> saved_;
  std::vector<LoopVariableValue> loop_variables_;
};

/// Marks a running loop: only the outermost loop reports progress, and statements inside report none.
class LoopScope {
 public:
  explicit LoopScope(StatementContext& statement) : statement_(statement) {
    CHECK(statement_.loop_depth_ >= 0, "no more loops have ended than have begun");
    ++statement_.loop_depth_;
  }
  ~LoopScope() { --statement_.loop_depth_; }
  LoopScope(const LoopScope&) = delete;
  LoopScope& operator=(const LoopScope&) = delete;

 private:
  StatementContext& statement_;
};

/// One round of a loop. Its number is the value of the loop's variable, if there is one: :name in SQL, an additional
/// parameter in queries.
class LoopRound {
 public:
  LoopRound(StatementContext& statement, const std::optional<ast::Identifier>& name, std::int64_t number)
      : statement_(statement) {
    CHECK(statement_.loop_depth_ > 0, "a round is one of a loop");
    CHECK(statement_.loop_variables_.size() <= statement_.parameters_.size(),
          "every variable of a loop is a parameter");
    if (!name) return;
    variable_ = LoopVariable{.name = *name, .value = number, .parameter = statement_.parameters_.size() + 1};
    statement_.loop_variables_.push_back({name->text, number});
    try {
      statement_.parameters_.emplace_back(number);
    } catch (...) {
      statement_.loop_variables_.pop_back();
      throw;
    }
  }
  ~LoopRound() {
    if (!variable_) return;
    statement_.parameters_.pop_back();
    statement_.loop_variables_.pop_back();
  }
  LoopRound(const LoopRound&) = delete;
  LoopRound& operator=(const LoopRound&) = delete;

  const std::optional<LoopVariable>& variable() const { return variable_; }

 private:
  StatementContext& statement_;
  std::optional<LoopVariable> variable_;
};

/// Marks that a part of a statement runs: the body of a loop, a prepared statement, the query of CREATE TENSOR.
class PartOfStatement {
 public:
  explicit PartOfStatement(StatementContext& statement) : PartOfStatement(statement, statement.stated_types_) {}
  /// `stated_types`: those of PREPARE.
  PartOfStatement(StatementContext& statement, std::vector<std::string> stated_types)
      : statement_(statement),
        was_part_(std::exchange(statement.is_part_, true)),
        saved_(std::exchange(statement.stated_types_, std::move(stated_types))) {}
  ~PartOfStatement() {
    statement_.is_part_ = was_part_;
    statement_.stated_types_ = std::move(saved_);
  }
  PartOfStatement(const PartOfStatement&) = delete;
  PartOfStatement& operator=(const PartOfStatement&) = delete;

 private:
  StatementContext& statement_;
  const bool was_part_;
  std::vector<std::string> saved_;
};

/// Ends the mark of PartOfStatement, for a part whose text is translated already.
class WholeStatement {
 public:
  explicit WholeStatement(StatementContext& statement)
      : statement_(statement), was_part_(std::exchange(statement.is_part_, false)) {}
  ~WholeStatement() { statement_.is_part_ = was_part_; }
  WholeStatement(const WholeStatement&) = delete;
  WholeStatement& operator=(const WholeStatement&) = delete;

 private:
  StatementContext& statement_;
  const bool was_part_;
};

/// Sets the file that a COPY reads or writes in place of the named one. Empty: the named file.
class TransferScope {
 public:
  TransferScope(StatementContext& statement, std::string file)
      : statement_(statement), saved_(std::exchange(statement.transfer_, std::move(file))) {}
  ~TransferScope() { statement_.transfer_ = std::move(saved_); }
  TransferScope(const TransferScope&) = delete;
  TransferScope& operator=(const TransferScope&) = delete;

 private:
  StatementContext& statement_;
  std::string saved_;
};

/// Tells the key of a prepared query while it runs. The statement must outlive the scope.
class KnownKey {
 public:
  KnownKey(StatementContext& statement, const PreparedStatement& prepared)
      : statement_(statement), prepared_(statement.prepared_), key_(statement.key_) {
    statement.prepared_ = prepared.key == nullptr ? nullptr : std::get_if<ast::Query>(&prepared.statement->node);
    statement.key_ = prepared.key.get();
  }
  ~KnownKey() {
    statement_.prepared_ = prepared_;
    statement_.key_ = key_;
  }
  KnownKey(const KnownKey&) = delete;
  KnownKey& operator=(const KnownKey&) = delete;

 private:
  StatementContext& statement_;
  const ast::Query* const prepared_;
  const QueryKey* const key_;
};

/// Records whether a statement belongs to a transaction that continues after it.
class TransactionPart {
 public:
  TransactionPart(StatementContext& statement, bool is_part)
      : statement_(statement), was_part_(std::exchange(statement.is_in_transaction_, is_part)) {}
  ~TransactionPart() { statement_.is_in_transaction_ = was_part_; }
  TransactionPart(const TransactionPart&) = delete;
  TransactionPart& operator=(const TransactionPart&) = delete;

 private:
  StatementContext& statement_;
  const bool was_part_;
};

}  // namespace eindb
