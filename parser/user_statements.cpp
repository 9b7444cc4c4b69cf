#include <array>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "parser/statement_parsers.hpp"

namespace eindb::statement_parsers {
namespace {

/// The options of CREATE USER and ALTER USER, in any order.
struct UserOptions {
  std::optional<ast::Password> password;
  std::optional<UserRole> role;
};

bool at_role(TokenStream& tokens) {
  return tokens.at_word("READ") || tokens.at_word("ADMIN") || tokens.at_word("RESTRICTED");
}

UserRole parse_role(TokenStream& tokens) {
  if (tokens.accept_word("RESTRICTED")) return UserRole::Restricted;
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
    else if (!options.role && at_role(tokens)) options.role = parse_role(tokens);
    else return options;
  }
}

/// After the name, a password may stand anywhere, even misplaced, so messages conceal tokens.
ast::Identifier parse_name(TokenStream& tokens) {
  auto name = tokens.expect_name("the name of the user");
  tokens.conceal();
  return name;
}

/// SELECT, INSERT, ...; ALL [PRIVILEGES].
Rights parse_rights(TokenStream& tokens) {
  if (tokens.accept_word("ALL")) {
    tokens.accept_word("PRIVILEGES");
    return kAllRights;
  }
  constexpr std::array kRights{Right::Select, Right::Insert, Right::Update, Right::Delete};
  Rights rights = kNoRights;
  do {
    const auto right = tokens.expect_one_of({"SELECT", "INSERT", "UPDATE", "DELETE"},
                                            "a right: SELECT, INSERT, UPDATE, DELETE or ALL");
    rights |= static_cast<Rights>(kRights[right]);
    if (tokens.at_symbol("(")) tokens.fail_expected("ON", "rights are of whole tables and tensors, not of columns");
  } while (tokens.accept_symbol(","));
  return rights;
}

/// A name, also as public.name.
ast::Identifier parse_object(TokenStream& tokens) {
  auto name = tokens.expect_name("the name of a table or tensor");
  if (!tokens.accept_symbol(".")) return name;
  if (!equal_ignoring_case(name.text, "public") && !equal_ignoring_case(name.text, "main"))
    throw Error(ErrorKind::UnknownName, "schema \"" + name.text + "\" does not exist", name.span,
                "tables and tensors are in public");
  return tokens.expect_name("the name of a table or tensor");
}

void parse_objects(TokenStream& tokens, ast::Grant& grant) {
  if (tokens.accept_word("ALL")) {
    const bool tensors = tokens.expect_one_of({"TABLES", "TENSORS"}, "TABLES or TENSORS after ALL") == 1;
    grant.on = tensors ? ast::Grant::On::AllTensors : ast::Grant::On::AllTables;
    tokens.expect_word("IN", "after ALL TABLES");
    tokens.expect_word("SCHEMA", "after IN");
    tokens.expect_word("PUBLIC", "after SCHEMA");
    return;
  }
  if (tokens.accept_word("TABLE")) grant.on = ast::Grant::On::Tables;
  else if (tokens.accept_word("TENSOR")) grant.on = ast::Grant::On::Tensors;
  do grant.objects.push_back(parse_object(tokens));
  while (tokens.accept_symbol(","));
}

Node grant_or_revoke(TokenStream& tokens, bool revokes) {
  tokens.take();
  ast::Grant grant;
  grant.revokes = revokes;
  grant.rights = parse_rights(tokens);
  tokens.expect_word("ON", "after the rights");
  parse_objects(tokens, grant);
  tokens.expect_word(revokes ? "FROM" : "TO", "after the names of tables or tensors");
  do {
    if (tokens.at_word("PUBLIC"))
      throw Error(ErrorKind::Unsupported, "rights are granted to users, one by one, not to PUBLIC", tokens.peek().span,
                  "name the users; SHOW USERS lists them");
    grant.users.push_back(tokens.expect_name("the name of a user"));
  } while (tokens.accept_symbol(","));
  if (revokes && !tokens.accept_word("RESTRICT")) tokens.accept_word("CASCADE");
  return grant;
}

}  // namespace

Node grant(TokenStream& tokens) { return grant_or_revoke(tokens, false); }
Node revoke(TokenStream& tokens) { return grant_or_revoke(tokens, true); }

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
    tokens.fail_expected("PASSWORD '...', READ ONLY, READ WRITE, RESTRICTED or ADMIN after the name of the user");
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
