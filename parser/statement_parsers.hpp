#pragma once

#include "parser/ast.hpp"
#include "parser/token_stream.hpp"

/// One function per statement of eindb. Each starts at the statement's first word, which the caller has recognised, and
/// stops before the semicolon or the first unexpected token. All throw Error{Syntax}.
namespace eindb::statement_parsers {

using Node = decltype(ast::Statement::node);

// tensor_statements.cpp
Node create_tensor(TokenStream& tokens);
/// CREATE OR REPLACE TENSOR or MACRO.
Node create_or_replace(TokenStream& tokens);
Node drop_tensor(TokenStream& tokens);
Node alter_tensor(TokenStream& tokens);
Node analyze_tensor(TokenStream& tokens);
/// Parses the path and the options of SHOW TENSORS IN, which the caller has read.
Node file_tensors(TokenStream& tokens);
Node describe(TokenStream& tokens);
Node copy(TokenStream& tokens);
Node backup(TokenStream& tokens);
Node attach_database(TokenStream& tokens);
Node detach_database(TokenStream& tokens);
Node insert_into_tensor(TokenStream& tokens);

// session_statements.cpp
Node explain(TokenStream& tokens);
Node set(TokenStream& tokens);
Node show(TokenStream& tokens);
Node drain(TokenStream& tokens);
Node alter_worker(TokenStream& tokens);
Node reset(TokenStream& tokens);
Node begin(TokenStream& tokens);
Node commit(TokenStream& tokens);
/// ROLLBACK, and ROLLBACK TO a savepoint.
Node rollback(TokenStream& tokens);
Node savepoint(TokenStream& tokens);
Node release(TokenStream& tokens);
Node execute(TokenStream& tokens);
Node deallocate(TokenStream& tokens);
Node create_macro(TokenStream& tokens);
Node drop_macro(TokenStream& tokens);
Node comment_on(TokenStream& tokens);

// user_statements.cpp
Node create_user(TokenStream& tokens);
Node alter_user(TokenStream& tokens);
Node drop_user(TokenStream& tokens);
Node grant(TokenStream& tokens);
Node revoke(TokenStream& tokens);

// Shared by these files.
bool accept_if_exists(TokenStream& tokens);
bool accept_if_not_exists(TokenStream& tokens);
/// A number with or without a sign, a string, or a word.
ast::Literal literal(TokenStream& tokens, std::string_view what);

}  // namespace eindb::statement_parsers
