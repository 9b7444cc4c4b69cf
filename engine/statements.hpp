#pragma once

#include "engine/result.hpp"
#include "engine/session_state.hpp"
#include "parser/ast.hpp"

namespace eindb {

/// Runs a statement of any kind, as the functions below do.
Result run_statement(const ast::Statement& statement, SessionState& session);

/// One function per kind of statement. Each throws Error, with spans into the statement where there is a place, and
/// then leaves the database as it was.

// engine/query_statements.cpp
Result execute_statement(const ast::Query& query, SessionState& session);
Result execute_statement(const ast::Explain& explain, SessionState& session);

// engine/create_statements.cpp
Result execute_statement(const ast::CreateTensor& create, SessionState& session);
Result execute_statement(const ast::CreateTensors& create, SessionState& session);

// engine/tensor_statements.cpp
Result execute_statement(const ast::DropTensor& drop, SessionState& session);
Result execute_statement(const ast::ShowTensors& show, SessionState& session);
Result execute_statement(const ast::Describe& describe, SessionState& session);

// engine/copy_statements.cpp
Result execute_statement(const ast::CopyFrom& copy, SessionState& session);
Result execute_statement(const ast::CopyTo& copy, SessionState& session);

// engine/insert_statement.cpp
Result execute_statement(const ast::InsertInto& insert, SessionState& session);

// engine/update_statement.cpp
Result execute_statement(const ast::UpdateTensor& update, SessionState& session);

// engine/repeat_statement.cpp
Result execute_statement(const ast::Repeat& repeat, SessionState& session);

// engine/session_statements.cpp
Result execute_statement(const ast::Empty& empty, SessionState& session);
Result execute_statement(const ast::Set& set, SessionState& session);
Result execute_statement(const ast::Show& show, SessionState& session);
Result execute_statement(const ast::Reset& reset, SessionState& session);
Result execute_statement(const ast::Begin& begin, SessionState& session);
Result execute_statement(const ast::Commit& commit, SessionState& session);
Result execute_statement(const ast::Rollback& rollback, SessionState& session);
Result execute_statement(const ast::Sql& sql, SessionState& session);

// engine/alter_statement.cpp
Result execute_statement(const ast::AlterTensor& alter, SessionState& session);

// engine/prepared_statements.cpp
PreparedStatement prepare_statement(const std::string& name, std::string_view text);
/// By value: the statement may deallocate itself. Error{UnknownName} with the nearest name.
PreparedStatement prepared_statement(const ast::Identifier& name, SessionUser& user);
Result execute_statement(const ast::Prepare& prepare, SessionState& session);
Result execute_statement(const ast::Execute& execute, SessionState& session);
Result execute_statement(const ast::Deallocate& deallocate, SessionState& session);

// engine/macro_statements.cpp
Result execute_statement(const ast::CreateMacro& create, SessionState& session);
Result execute_statement(const ast::DropMacro& drop, SessionState& session);
Result execute_statement(const ast::ShowMacros& show, SessionState& session);

// engine/user_statements.cpp
Result execute_statement(const ast::CreateUser& create, SessionState& session);
Result execute_statement(const ast::AlterUser& alter, SessionState& session);
Result execute_statement(const ast::DropUser& drop, SessionState& session);
Result execute_statement(const ast::ShowUsers& show, SessionState& session);
Result execute_statement(const ast::ShowWorkers& show, SessionState& session);
Result execute_statement(const ast::DrainWorker& drain, SessionState& session);

}  // namespace eindb
