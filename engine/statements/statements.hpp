#pragma once

#include "engine/results/result.hpp"
#include "engine/session/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// Runs a statement of any kind by calling the function for it below.
Result run_statement(const ast::Statement& statement, SessionState& session);

/// One function per kind of statement. Each takes only the parts of the session that it uses, and throws Error, with a
/// span into the statement where possible, after which the database is unchanged.

// engine/statements/query_statements.cpp
Result execute_statement(const ast::Query& query, SessionState& session);
Result execute_statement(const ast::Explain& explain, SessionState& session);
Result execute_statement(const ast::ExplainRedistribution& explain, SessionState& session);

// engine/statements/create_statements.cpp
Result execute_statement(const ast::CreateTensor& create, SessionState& session);
Result execute_statement(const ast::CreateTensors& create, SessionState& session);

// engine/statements/tensor_statements.cpp
Result execute_statement(const ast::DropTensor& drop, SessionState& session);
Result execute_statement(const ast::ShowTensors& show, OpenDatabase& database);
Result execute_statement(const ast::Describe& describe, SessionState& session);

// engine/statements/copy_statements.cpp
Result execute_statement(const ast::CopyFrom& copy, SessionState& session);
Result execute_statement(const ast::CopyAllFrom& copy, SessionState& session);
Result execute_statement(const ast::ShowFileTensors& show, SessionState& session);
/// The columns of its result.
std::vector<Column> columns_of_file_tensors();
Result execute_statement(const ast::CopyTo& copy, SessionState& session);

// engine/statements/backup_statement.cpp
Result execute_statement(const ast::Backup& backup, SessionState& session);

// engine/statements/attach_statements.cpp
Result execute_statement(const ast::AttachDatabase& attach, SessionState& session);
Result execute_statement(const ast::DetachDatabase& detach, OpenDatabase& database);

// engine/statements/insert_statement.cpp
Result execute_statement(const ast::InsertInto& insert, SessionState& session);

// engine/statements/update_statement.cpp
Result execute_statement(const ast::UpdateTensor& update, SessionState& session);

// engine/statements/repeat_statement.cpp
Result execute_statement(const ast::Repeat& repeat, SessionState& session);

// engine/statements/session_statements.cpp
Result execute_statement(const ast::Empty& empty);
Result execute_statement(const ast::Set& set, SessionUser& user);
Result execute_statement(const ast::Show& show, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::Reset& reset, SessionUser& user);
Result execute_statement(const ast::Begin& begin, OpenDatabase& database, const StatementContext& statement);
Result execute_statement(const ast::Commit& commit, OpenDatabase& database, const StatementContext& statement);
Result execute_statement(const ast::Rollback& rollback, OpenDatabase& database, const StatementContext& statement);
Result execute_statement(const ast::SetTransaction& set, OpenDatabase& database);
Result execute_statement(const ast::Savepoint& savepoint, SessionState& session);
Result execute_statement(const ast::Sql& sql, SessionState& session);

// engine/statements/alter_statement.cpp
Result execute_statement(const ast::AlterTensor& alter, SessionState& session);

// engine/statements/analyze_statement.cpp
Result execute_statement(const ast::AnalyzeTensor& analyze, SessionState& session);

// engine/statements/prepared_statements.cpp
/// Parses a statement and prepares it without a name.
PreparedStatement prepare_statement(std::string_view text);
/// Parses a statement that runs without parameters; with its key if it is a query that cannot have any.
PreparedStatement parsed_statement(std::string_view text);
/// Returns a copy, since the statement may deallocate itself. Error{UnknownName} suggests the nearest name.
PreparedStatement prepared_statement(const ast::Identifier& name, SessionUser& user);
Result execute_statement(const ast::Prepare& prepare, SessionUser& user);
Result execute_statement(const ast::Execute& execute, SessionState& session);
Result execute_statement(const ast::Deallocate& deallocate, SessionUser& user);

// engine/statements/macro_statements.cpp
Result execute_statement(const ast::CreateMacro& create, OpenDatabase& database);
Result execute_statement(const ast::DropMacro& drop, OpenDatabase& database);
Result execute_statement(const ast::ShowMacros& show, OpenDatabase& database);

// engine/statements/comment_statement.cpp
Result execute_statement(const ast::CommentOn& comment, OpenDatabase& database);

// engine/statements/user_statements.cpp
Result execute_statement(const ast::CreateUser& create, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::AlterUser& alter, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::DropUser& drop, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::Grant& grant, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::ShowUsers& show, OpenDatabase& database);
Result execute_statement(const ast::ShowWorkers& show, OpenDatabase& database);
Result execute_statement(const ast::DrainWorker& drain, OpenDatabase& database, const SessionUser& user);
Result execute_statement(const ast::AlterWorker& alter, OpenDatabase& database, const SessionUser& user);

/// Calls the function for this kind of statement with the parts that it takes.
template <class Statement>
Result execute_by_parts(const Statement& node, SessionState& session) {
  auto& database = session.database;
  auto& user = session.user;
  auto& statement = session.statement;
  if constexpr (requires { execute_statement(node); }) return execute_statement(node);
  else if constexpr (requires { execute_statement(node, user); }) return execute_statement(node, user);
  else if constexpr (requires { execute_statement(node, database); }) return execute_statement(node, database);
  else if constexpr (requires { execute_statement(node, database, user); })
    return execute_statement(node, database, user);
  else if constexpr (requires { execute_statement(node, database, statement); })
    return execute_statement(node, database, statement);
  else return execute_statement(node, session);
}

}  // namespace eindb
