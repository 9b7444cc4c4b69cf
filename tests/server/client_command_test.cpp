// Tests the statements that the server recognises as its own, in the forms in which clients write them.
#include "server/statements/client_command.hpp"

#include <gtest/gtest.h>

#include <string>

namespace eindb {
namespace {

template <class T>
bool is(const std::string& text) {
  const auto command = parse_client_command(text);
  return command && std::holds_alternative<T>(*command);
}

std::string set(const std::string& text) {
  const auto command = parse_client_command(text);
  if (!command || !std::holds_alternative<command::Set>(*command)) return "no SET";
  const auto& [name, value] = std::get<command::Set>(*command);
  return name + "=" + value.value_or("default");
}

TEST(ClientCommand, Transactions) {
  EXPECT_TRUE(is<command::Begin>("BEGIN"));
  EXPECT_TRUE(is<command::Begin>("/* hi */ start transaction isolation level serializable, read only; -- end"));
  EXPECT_TRUE(is<command::Commit>("END WORK;"));
  EXPECT_TRUE(is<command::Rollback>("abort"));
  for (const auto* text : {"BEGIN IMMEDIATE", "ROLLBACK TO s", "COMMIT PREPARED 'x'", "SELECT 1", "", ";", "BEGIN 'x"})
    EXPECT_FALSE(parse_client_command(text)) << text;
}

TEST(ClientCommand, Parameters) {
  EXPECT_EQ(set("SET extra_float_digits = -3"), "extra_float_digits=-3");
  EXPECT_EQ(set("SET SESSION DateStyle TO ISO, MDY;"), "datestyle=iso, mdy");
  EXPECT_EQ(set("set local \"TimeZone\" to 'Europe/Rome'"), "TimeZone=Europe/Rome");
  EXPECT_EQ(set("SET application_name = 'it''s'"), "application_name=it's");
  EXPECT_EQ(set(R"(SET application_name = E'it\'s \xc3\xa9')"), "application_name=it's \xC3\xA9");
  EXPECT_EQ(set(R"(SET application_name = E'\xff')"), "no SET");  // invalid UTF-8
  EXPECT_EQ(set("SET NAMES 'UTF8'"), "client_encoding=UTF8");
  EXPECT_EQ(set("SET TIME ZONE 'UTC'"), "timezone=UTC");
  EXPECT_EQ(set("SET threads TO DEFAULT"), "threads=default");
  EXPECT_TRUE(is<command::Nothing>("SET TRANSACTION READ ONLY"));
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
