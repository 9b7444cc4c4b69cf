#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>

#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

/// A scalar function for SQL on a connection, views included. Arguments and results are SQLite values.
struct SqlFunction {
  /// May throw Error, which ends the calling statement. Runs on the thread of that statement.
  using Body = std::function<SqliteValue(std::span<const SqliteValue>)>;
  /// A query of eindb's own over the arguments ?1, ?2, ... The result is the first column of its first row, or NULL if
  /// there is no row or SQLite refuses the query, since arguments may name damaged objects.
  struct Query {
    std::string sql;
  };

  /// Gives the result for two reals, or a real and an integer, where it is a plain number, which most are, without a
  /// call of the body; false otherwise.
  using OfReals = bool (*)(double a, double b, double& result);

  std::string name;
  int arguments = -1;  ///< -1: any number
  std::variant<Body, Query> body;
  bool deterministic = false;  ///< equal arguments always give equal results
  std::string result = {};     ///< the result's type as in CREATE TABLE; empty: it varies
  OfReals of_reals = nullptr;
};

}  // namespace eindb
