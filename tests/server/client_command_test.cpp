// Tests the statements that the server recognises as its own, in the forms in which clients write them.
#include "server/statements/client_command.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "common/error.hpp"
#include "server/statements/cursor_declaration.hpp"

namespace eindb {
namespace {

template <class T>
bool is(const std::string& text) {
  const auto command = parse_client_command(text);
  return command && std::holds_alternative<T>(*command);
}

template <class T>
std::string read_only(const std::string& text) {
  const auto command = parse_client_command(text);
  if (!command || !std::holds_alternative<T>(*command)) return "none";
  const auto said = std::get<T>(*command).modes.read_only;
  if (!said) return "as it is";
  return *said ? "read only" : "read write";
}

std::string set(const std::string& text) {
  const auto command = parse_client_command(text);
  if (!command || !std::holds_alternative<command::Set>(*command)) return "no SET";
  const auto& [name, value, local] = std::get<command::Set>(*command);
  return (local ? "local " : "") + name + "=" + value.value_or("default");
}

TEST(ClientCommand, Transactions) {
  EXPECT_TRUE(is<command::Begin>("BEGIN"));
  EXPECT_EQ(read_only<command::Begin>("/* hi */ start transaction isolation level serializable, read only; -- end"),
            "read only");
  EXPECT_EQ(read_only<command::Begin>("BEGIN WORK READ WRITE NOT DEFERRABLE"), "read write");
  EXPECT_EQ(read_only<command::Begin>("BEGIN ISOLATION LEVEL REPEATABLE READ DEFERRABLE"), "as it is");
  EXPECT_EQ(read_only<command::SetTransaction>("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"),
            "read only");
  EXPECT_EQ(read_only<command::SetTransaction>("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE"), "read write");
  EXPECT_TRUE(is<command::Commit>("END WORK;"));
  EXPECT_TRUE(is<command::Rollback>("abort"));
  EXPECT_TRUE(is<command::Commit>("COMMIT AND NO CHAIN"));
  EXPECT_TRUE(is<command::Rollback>("rollback transaction and chain"));
  EXPECT_TRUE(is<command::RollbackTo>("ROLLBACK TO s"));
  EXPECT_TRUE(is<command::RollbackTo>("ROLLBACK WORK TO SAVEPOINT \"s s\""));
  EXPECT_TRUE(is<command::Savepoint>("SAVEPOINT s"));
  EXPECT_TRUE(is<command::Release>("release s"));
  EXPECT_TRUE(is<command::Release>("RELEASE SAVEPOINT s"));
  for (const auto* text : {"BEGIN IMMEDIATE", "ROLLBACK TO", "SAVEPOINT 'x'", "SAVEPOINT a b", "COMMIT PREPARED 'x'",
                           "COMMIT READ ONLY", "BEGIN READ", "BEGIN READ ONLY,", "BEGIN ONLY", "SET TRANSACTION",
                           "START", "SET SESSION CHARACTERISTICS AS TRANSACTION", "SELECT 1", "", ";", "BEGIN 'x"})
    EXPECT_FALSE(parse_client_command(text)) << text;
}

TEST(ClientCommand, Cursors) {
  const auto fetch = [](const std::string& text) -> std::string {
    const auto command = parse_client_command(text);
    const auto* parsed = command ? std::get_if<command::Fetch>(&*command) : nullptr;
    if (parsed == nullptr) return "none";
    constexpr std::array kDirections = {"forward", "backward", "absolute", "relative"};
    const auto count = parsed->count == command::Fetch::kAll ? "all" : std::to_string(parsed->count);
    return (parsed->moves ? "move " : "") + std::string(kDirections[static_cast<std::size_t>(parsed->direction)]) +
           " " + count + " " + parsed->cursor;
  };
  EXPECT_EQ(fetch("FETCH c"), "forward 1 c");
  EXPECT_EQ(fetch("fetch next from C;"), "forward 1 c");
  EXPECT_EQ(fetch("FETCH FROM \"C c\""), "forward 1 C c");
  EXPECT_EQ(fetch("FETCH 10 IN c"), "forward 10 c");
  EXPECT_EQ(fetch("FETCH -10 c"), "backward 10 c");
  EXPECT_EQ(fetch("FETCH ALL c"), "forward all c");
  EXPECT_EQ(fetch("FETCH FORWARD c"), "forward 1 c");
  EXPECT_EQ(fetch("FETCH FORWARD 100 FROM _psql_cursor"), "forward 100 _psql_cursor");
  EXPECT_EQ(fetch("MOVE BACKWARD ALL IN c"), "move backward all c");
  EXPECT_EQ(fetch("FETCH BACKWARD -2 c"), "forward 2 c");
  EXPECT_EQ(fetch("FETCH PRIOR c"), "backward 1 c");
  EXPECT_EQ(fetch("FETCH FIRST c"), "absolute 1 c");
  EXPECT_EQ(fetch("FETCH LAST c"), "absolute -1 c");
  EXPECT_EQ(fetch("MOVE ABSOLUTE 0 c"), "move absolute 0 c");
  EXPECT_EQ(fetch("FETCH RELATIVE -3 FROM c"), "relative -3 c");
  EXPECT_EQ(fetch("FETCH next"), "forward 1 next");
  for (const auto* text : {"FETCH", "FETCH 'c'", "FETCH SIDEWAYS FROM c", "FETCH ABSOLUTE FROM c", "FETCH 1.5 c",
                           "FETCH 9223372036854775807 c", "FETCH c d", "FETCH FORWARD"})
    EXPECT_EQ(fetch(text), std::string_view(text) == "FETCH FORWARD" ? "forward 1 forward" : "none") << text;
  EXPECT_TRUE(is<command::CloseCursor>("CLOSE c"));
  EXPECT_TRUE(is<command::CloseCursor>("CLOSE ALL"));
  EXPECT_FALSE(parse_client_command("CLOSE"));
}

TEST(ClientCommand, Declarations) {
  const auto declared = [](const std::string& text) -> std::string {
    const auto cursor = parse_cursor_declaration(text);
    if (!cursor) return "none";
    return cursor->name + (cursor->binary ? " binary" : "") + (cursor->scrolls ? " scroll" : "") +
           (cursor->holds ? " hold" : "") + ": " + text.substr(cursor->query);
  };
  EXPECT_EQ(declared("DECLARE c CURSOR FOR SELECT 1"), "c: SELECT 1");
  EXPECT_EQ(declared("declare \"C\" insensitive no scroll cursor without hold for\nselect 1"), "C: select 1");
  EXPECT_EQ(declared("/* a */ DECLARE C BINARY SCROLL CURSOR WITH HOLD FOR (EINSUM Z[i] = X[i])"),
            "c binary scroll hold: (EINSUM Z[i] = X[i])");
  for (const auto* text : {"DECLARE", "DECLARE c", "DECLARE c CURSOR", "DECLARE c CURSOR SELECT 1",
                           "DECLARE c SOME CURSOR FOR SELECT 1", "DECLARE c CURSOR WITH FOR SELECT 1", "SELECT 1"})
    EXPECT_EQ(declared(text), "none") << text;
  for (const auto* text : {"DECLARE c CURSOR FOR", "DECLARE c CURSOR FOR DELETE FROM t",
                           "DECLARE c CURSOR FOR DECLARE d CURSOR FOR SELECT 1", "DECLARE c CURSOR FOR SHOW ALL"})
    EXPECT_THROW(parse_cursor_declaration(text), Error) << text;
}

TEST(ClientCommand, Parameters) {
  EXPECT_EQ(set("SET extra_float_digits = -3"), "extra_float_digits=-3");
  EXPECT_EQ(set("SET SESSION DateStyle TO ISO, MDY;"), "datestyle=iso, mdy");
  EXPECT_EQ(set("set local \"TimeZone\" to 'Europe/Rome'"), "local TimeZone=Europe/Rome");
  EXPECT_EQ(set("SET LOCAL TIME ZONE 'UTC'"), "local timezone=UTC");
  EXPECT_EQ(set("SET application_name = 'it''s'"), "application_name=it's");
  EXPECT_EQ(set(R"(SET application_name = E'it\'s \xc3\xa9')"), "application_name=it's \xC3\xA9");
  EXPECT_EQ(set(R"(SET application_name = E'\xff')"), "no SET");  // invalid UTF-8
  EXPECT_EQ(set("SET NAMES 'UTF8'"), "client_encoding=UTF8");
  EXPECT_EQ(set("SET TIME ZONE 'UTC'"), "timezone=UTC");
  EXPECT_EQ(set("SET threads TO DEFAULT"), "threads=default");
  EXPECT_TRUE(is<command::Show>("SHOW TRANSACTION ISOLATION LEVEL"));
  EXPECT_TRUE(is<command::Reset>("RESET ALL"));
  EXPECT_TRUE(is<command::Discard>("DISCARD ALL"));
  EXPECT_TRUE(is<command::Deallocate>("DEALLOCATE PREPARE \"p\""));
}

TEST(ClientCommand, Sessions) {
  EXPECT_TRUE(is<command::ShowSessions>("show sessions;"));
  const auto kill = [](const std::string& text) {
    const auto command = parse_client_command(text);
    const auto* parsed = command ? std::get_if<command::Kill>(&*command) : nullptr;
    if (parsed == nullptr) return std::string("no KILL");
    return (parsed->connection ? "connection " : "statement ") + std::to_string(parsed->session);
  };
  EXPECT_EQ(kill("KILL 12"), "statement 12");
  EXPECT_EQ(kill("kill query 12;"), "statement 12");
  EXPECT_EQ(kill("KILL CONNECTION 2147483647"), "connection 2147483647");
  for (const auto* text : {"KILL", "KILL CONNECTION", "KILL x", "KILL 1 2", "KILL -1", "KILL 2147483648", "KILL 1.5",
                           "KILL '1'", "SHOW SESSIONS x"})
    EXPECT_EQ(kill(text), "no KILL") << text;
}

}  // namespace
}  // namespace eindb
