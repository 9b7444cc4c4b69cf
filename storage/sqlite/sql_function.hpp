#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>

#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// A scalar function that SQL on a connection may call, also views. Arguments and results are values of SQLite.
struct SqlFunction {
  /// May throw Error, which ends the statement that calls. Called by the thread that runs the statement.
  using Body = std::function<SqliteValue(std::span<const SqliteValue>)>;
  /// eindb's own query over the arguments ?1, ?2, ... It gives the first column of its first row; NULL if there is no
  /// row, or if SQLite refuses it: the arguments may name what is damaged.
  struct Query {
    std::string sql;
  };

  std::string name;
  int arguments = -1;  ///< -1: any number
  std::variant<Body, Query> body;
  bool deterministic = false;  ///< equal arguments give equal results, at any time
  std::string result = {};     ///< the type of what it gives, as in a CREATE TABLE; empty: it differs
};

}  // namespace eindb
