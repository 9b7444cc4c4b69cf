#include "engine/statements/index_names_clause.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.hpp"
#include "engine/query/sql_cells.hpp"
#include "engine/statements/retold_error.hpp"

namespace eindb {
namespace {

using Names = std::vector<std::string>;

/// The rows of a query, each of which is a name.
Names names_of_rows(const ast::Sql& sql, SessionState& session) {
  constexpr std::int64_t kShareOfMemory = 4;
  constexpr std::size_t kBytesBesideText = 48;
  auto rows = prepare_rows(sql, session, "IN");
  if (const auto columns = rows.statement().column_count(); columns != 1) {
    throw Error(ErrorKind::Value, "the query of names gives " + std::to_string(columns) + " columns", sql.span,
                "it gives one, which has the name of an index in each row");
  }
  Names names;
  const auto most = static_cast<std::size_t>(session.user.settings.memory_limit() / kShareOfMemory);
  for (std::size_t bytes = 0; rows.step();) {
    const auto value = rows.statement().value(0);
    if (const auto* text = std::get_if<std::string>(&value)) names.push_back(*text);
    else if (const auto* integer = std::get_if<std::int64_t>(&value)) names.push_back(std::to_string(*integer));
    else
      throw Error(
          ErrorKind::Value,
          "row " + std::to_string(names.size() + 1) + " of the query of names has neither a text nor an integer",
          sql.span, "leave out NULL: WHERE name IS NOT NULL; CAST(... AS TEXT) makes texts of numbers");
    bytes += names.back().size() + kBytesBesideText;
    if (bytes >= most)
      throw Error(ErrorKind::MemoryLimit, "the names would take more than a quarter of memory_limit", sql.span);
  }
  return names;
}

IndexNames::Ptr calendar_of(const ast::NamesClause::Calendar& calendar) {
  const auto count = IndexNames::count_until(calendar.first, calendar.last, calendar.step);
  if (count == 0)
    throw Error(ErrorKind::Value, "'" + calendar.last + "' is before '" + calendar.first + "'", std::nullopt,
                "write the first day or time after FROM, and the last one after TO");
  return IndexNames::calendar(calendar.first, calendar.step, count);
}

}  // namespace

IndexNames::Ptr names_of_indices(const ast::NamesClause& clause, SessionState& session) {
  return with_place(clause.span, [&] {
    if (const auto* calendar = std::get_if<ast::NamesClause::Calendar>(&clause.source)) return calendar_of(*calendar);
    if (const auto* sql = std::get_if<ast::Sql>(&clause.source))
      return IndexNames::listed(names_of_rows(*sql, session));
    return IndexNames::listed(std::get<Names>(clause.source));
  });
}

IndexNames::Ptr more_names_of_indices(const IndexNames& before, const ast::NamesClause& clause, SessionState& session) {
  return with_place(clause.span, [&] {
    auto more = names_of_indices(clause, session);
    if (before.is_calendar() || more->is_calendar()) {
      if (more->begin_with(before)) return more;
      throw Error(ErrorKind::Value, "these are not the names that the dimension has, and further ones", clause.span,
                  before.is_calendar() ? "write FROM '" + before.first() + "' TO '...' STEP '" + before.step() + "'"
                                       : "the names that it has are listed: IN (...)");
    }
    Names all;
    for (std::int64_t n = 0; n < before.size(); ++n) all.push_back(before.name(n));
    for (std::int64_t n = 0; n < more->size(); ++n)
      if (auto name = more->name(n); before.find(name) < 0) all.push_back(std::move(name));
    return IndexNames::listed(std::move(all));
  });
}

}  // namespace eindb
