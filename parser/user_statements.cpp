#include <utility>

#include "common/error.hpp"
#include "parser/statement_parsers.hpp"

namespace eindb::statement_parsers {
namespace {

/// The options of CREATE USER and ALTER USER, in any order.
struct UserOptions {
  std::optional<ast::Password> password;
  std::optional<UserRole> role;
};

UserRole parse_role(TokenStream& tokens) {
  if (tokens.accept_word("ADMIN")) return UserRole::Admin;
  tokens.take();
  const bool writes = tokens.expect_one_of({"ONLY", "WRITE"}, "ONLY or WRITE after READ") == 1;
  return writes ? UserRole::ReadWrite : UserRole::ReadOnly;
}

ast::Password parse_password(TokenStream& tokens) {
  ast::Password password{.text = {}, .word_span = tokens.take().span};
  password.text = tokens.expect_string("the password in single quotes after PASSWORD", "with '' for a quote in it");
  return password;
}

UserOptions parse_user_options(TokenStream& tokens) {
  UserOptions options;
  tokens.accept_word("WITH");
  for (;;) {
    if (!options.password && tokens.at_word("PASSWORD")) options.password = parse_password(tokens);
    else if (!options.role && (tokens.at_word("READ") || tokens.at_word("ADMIN"))) options.role = parse_role(tokens);
    else return options;
  }
}

/// After the name, a password may stand anywhere, even misplaced, so messages conceal tokens.
ast::Identifier parse_name(TokenStream& tokens) {
  auto name = tokens.expect_name("the name of the user");
  tokens.conceal();
  return name;
}

}  // namespace

Node create_user(TokenStream& tokens) {
  tokens.take();
  tokens.take();
  ast::CreateUser user;
  user.name = parse_name(tokens);
  auto options = parse_user_options(tokens);
  if (!options.password) tokens.fail_expected("PASSWORD '...' after the name of the user");
  user.password = std::move(*options.password);
  user.role = options.role.value_or(UserRole::ReadWrite);
  return user;
}

Node alter_user(TokenStream& tokens) {
  tokens.take();
  tokens.take();
  ast::AlterUser user;
  user.name = parse_name(tokens);
  auto options = parse_user_options(tokens);
  if (!options.password && !options.role)
    tokens.fail_expected("PASSWORD '...', READ ONLY, READ WRITE or ADMIN after the name of the user");
  user.password = std::move(options.password);
  user.role = options.role;
  return user;
}

Node drop_user(TokenStream& tokens) {
  tokens.take();
  tokens.take();
  ast::DropUser drop;
  drop.if_exists = accept_if_exists(tokens);
  drop.name = tokens.expect_name("the name of the user");
  return drop;
}

}  // namespace eindb::statement_parsers
