#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "storage/sqlite/sqlite_statement.hpp"

namespace eindb {

class SqliteConnection;

/// The state of an aggregate function over the rows of one group. Used by the thread of the statement.
class SqlAggregate {
 public:
  SqlAggregate() = default;
  virtual ~SqlAggregate() = default;
  SqlAggregate(const SqlAggregate&) = delete;
  SqlAggregate& operator=(const SqlAggregate&) = delete;

  /// May throw Error, which ends the calling statement.
  virtual void add(std::span<const SqliteValue> arguments) = 0;
  /// The value of the rows so far; in a window more of them may follow.
  virtual SqliteValue result() = 0;
};

/// An aggregate function for SQL on a connection, also in windows whose frames only grow.
struct SqlAggregateFunction {
  std::string name;
  int arguments = 1;  ///< -1: any number
  std::function<std::unique_ptr<SqlAggregate>()> begin;
  std::string result = {};  ///< the result's type as in CREATE TABLE; empty: it varies
};

/// Registers the function, replacing another one of the same name and number of arguments.
void add_aggregate(SqliteConnection& connection, SqlAggregateFunction function);

}  // namespace eindb
