#include "shell/build_facts.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "engine/session.hpp"
#include "executor/kernels/instruction_set.hpp"
#include "server/console/console_assets.hpp"

namespace eindb {
namespace {

std::string compiler() {
#if defined(__clang__)
  return "Clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
         std::to_string(__clang_patchlevel__);
#elif defined(__GNUC__)
  return "GCC " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." +
         std::to_string(__GNUC_PATCHLEVEL__);
#else
  return "unknown";
#endif
}

/// "baseline, v3, v4; computes with v4"
std::string kernel_levels() {
  std::string levels;
  for (const auto set : available_instruction_sets()) levels.append(levels.empty() ? "" : ", ").append(name_of(set));
  return levels.append("; computes with ").append(name_of(preferred_instruction_set()));
}

/// The one text that a statement gives.
std::string text_of(Session& session, std::string_view statement) {
  const auto result = session.execute(statement);
  Row row;
  if (!result.rows->next(row)) return "unknown";
  const auto* const text = std::get_if<std::string>(&row.at(0));
  return text != nullptr ? *text : std::to_string(std::get<std::int64_t>(row.at(0)));
}

}  // namespace

std::string build_facts() {
  Session session(":memory:");
  std::string facts = "eindb " EINDB_VERSION;
  const auto add = [&facts](std::string_view name, const std::string& value) {
    if (!value.empty()) facts.append("\n").append(name).append(": ").append(value);
  };
  add("commit", std::string(build_commit()));
  add("compiler", compiler());
  add("SQLite", text_of(session, "SELECT sqlite_version()"));
  add("kernels", kernel_levels());
  add("threads", text_of(session, "SHOW threads"));
  add("console", console_assets().empty() ? "no" : "yes");
  return facts;
}

}  // namespace eindb
