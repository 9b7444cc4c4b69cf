// Tests the statements that the server recognises as its own, in the forms in which clients write them.
#include "server/statements/client_command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "server/statements/cursor_declaration.hpp"
#include "server/statements/storage_options.hpp"
#include "server/statements/table_definition.hpp"

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

std::vector<std::string> tables_of(const std::string& text) {
  const auto command = parse_client_command(text);
  if (!command) return {"none"};
  if (const auto* drop = std::get_if<command::DropTables>(&*command)) return drop->names;
  if (const auto* truncate = std::get_if<command::TruncateTables>(&*command)) return truncate->tables;
  if (const auto* vacuum = std::get_if<command::Vacuum>(&*command)) return vacuum->tables;
  if (const auto* lock = std::get_if<command::LockTables>(&*command)) return lock->tables;
  return {"another"};
}

TEST(ClientCommand, TablesThatSqliteHasNoSingleStatementFor) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(tables_of("DROP TABLE IF EXISTS a, public.B, \"C\""), (Names{"a", "b", "C"}));
  EXPECT_EQ(tables_of("drop view a cascade"), Names{"a"});
  EXPECT_EQ(tables_of("DROP TABLE a"), Names{"a"});
  EXPECT_EQ(tables_of("DROP VIEW a"), Names{"none"});
  EXPECT_EQ(tables_of("DROP TABLE other.a, b"), Names{"none"});
  EXPECT_EQ(tables_of("TRUNCATE TABLE ONLY a, b RESTART IDENTITY"), (Names{"a", "b"}));
  EXPECT_EQ(tables_of("TRUNCATE a"), Names{"a"});
  EXPECT_EQ(tables_of("VACUUM (FULL, ANALYZE) a, b"), (Names{"a", "b"}));
  EXPECT_EQ(tables_of("VACUUM FULL"), Names{});
  EXPECT_EQ(tables_of("VACUUM"), Names{"none"});
  EXPECT_EQ(tables_of("VACUUM main"), Names{"none"});
  EXPECT_EQ(tables_of("VACUUM INTO 'file'"), Names{"none"});
  EXPECT_EQ(tables_of("LOCK TABLE a, b IN SHARE ROW EXCLUSIVE MODE"), (Names{"a", "b"}));
  EXPECT_EQ(tables_of("LOCK a IN SHARE MODE NOWAIT"), Names{"none"});
}

std::string constraint(const std::string& text) {
  const auto command = parse_client_command(text);
  if (!command || !std::holds_alternative<command::AddConstraint>(*command)) return "none";
  const auto& add = std::get<command::AddConstraint>(*command);
  std::string keys;
  for (const auto& key : add.keys) keys += " " + key;
  return add.table + ": " + add.definition + ":" + keys;
}

TEST(ClientCommand, ConstraintsThatAreAdded) {
  EXPECT_EQ(constraint("alter table only public.t add constraint k primary key (A, b);"),
            "t: constraint k primary key ( A , b ): a b");
  EXPECT_EQ(constraint("ALTER TABLE t ADD FOREIGN KEY (a) REFERENCES public.u (b)"),
            "t: FOREIGN KEY ( a ) REFERENCES u ( b ):");
  EXPECT_EQ(constraint("ALTER TABLE t ADD CHECK (a > 0), ADD UNIQUE (b)"), "none");
  EXPECT_EQ(constraint("ALTER TABLE t ADD COLUMN a int"), "none");
}

TEST(ClientCommand, DefinitionsWithConstraints) {
  const std::vector<std::string> keys{"a", "B"};
  EXPECT_EQ(with_constraint("CREATE TABLE t (a int, \"b\" numeric(10, 2) NOT NULL, c text) STRICT",
                            "PRIMARY KEY (a, b)", keys),
            "CREATE TABLE t (a int NOT NULL, \"b\" numeric(10, 2) NOT NULL, c text, PRIMARY KEY (a, b)) STRICT");
  EXPECT_THROW(with_constraint("CREATE TABLE t (c text)", "PRIMARY KEY (a)", keys), Error);
  EXPECT_THROW(with_constraint("CREATE TABLE t AS", "PRIMARY KEY (a)", keys), Error);
}

TEST(ClientCommand, StorageOptionsAreBlank) {
  const auto without = [](const std::string& text) {
    auto out = without_storage_options(text);
    EXPECT_EQ(out.size(), text.size()) << "places stay";
    out.erase(std::unique(out.begin(), out.end(), [](char a, char b) { return a == ' ' && b == ' '; }), out.end());
    return out;
  };
  EXPECT_EQ(without("CREATE UNLOGGED TABLE t (a int DEFAULT (1)) WITH (fillfactor=70, toast_x=1) TABLESPACE x"),
            "CREATE TABLE t (a int DEFAULT (1)) ");
  EXPECT_EQ(without("create table t with (fillfactor = 10) as select 1"), "create table t as select 1");
  EXPECT_EQ(without("CREATE TABLE t (a int) WITH (oids)"), "CREATE TABLE t (a int) WITH (oids)");
  EXPECT_EQ(without("CREATE TABLE t AS WITH x AS (SELECT 1) SELECT * FROM x"),
            "CREATE TABLE t AS WITH x AS (SELECT 1) SELECT * FROM x");
  EXPECT_EQ(without("CREATE TABLE t"), "CREATE TABLE t");
  EXPECT_EQ(without("CREATE TABLE t (a WITH"), "CREATE TABLE t (a WITH");
}

}  // namespace
}  // namespace eindb
