#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "storage/sqlite/sql_aggregate.hpp"

namespace eindb {

class SqliteConnection;

/// Registers the aggregates that SQLite lacks, with PostgreSQL's meaning: variances and regressions, percentiles, AND
/// and OR of bits and truth values, and texts and arrays of ordered rows. Without rows, and of too few of them, the
/// result is NULL; NULL among the arguments is left out.
void add_aggregates(SqliteConnection& connection);

// The states of aggregates, each kind in the file of its name.

/// VAR_POP and others, of one number: `sample` divides by n - 1, `root` gives the standard deviation.
std::unique_ptr<SqlAggregate> variance(bool sample, bool root);

/// The sums of n pairs (y, x), as deviations from the means: of x * x, y * y, x * y.
struct PairSums {
  double n = 0;
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
};
/// CORR, REGR_SLOPE and others, of pairs (y, x). The result of `value` is NULL if it is not there.
std::unique_ptr<SqlAggregate> regression(std::function<std::optional<double>(const PairSums&)> value);

/// Of (value, fraction) or (value, fraction, descends).
std::unique_ptr<SqlAggregate> percentile_cont();
std::unique_ptr<SqlAggregate> percentile_disc();
std::unique_ptr<SqlAggregate> median();
/// The most frequent value, the first in the order if several are, of (value) or (value, descends).
std::unique_ptr<SqlAggregate> mode();

/// Texts one after the other, of (order, value, separator, key...). `order` is a text with a letter for each key: a
/// ascending, d descending, A and D the same with NULL first; before them u if equal rows count once.
std::unique_ptr<SqlAggregate> ordered_text();
/// A JSON array, of (order, value, key...); NULL is an element.
std::unique_ptr<SqlAggregate> ordered_json();

}  // namespace eindb
