// Variances and regressions by the algorithm of Youngs and Cramer, as in PostgreSQL: sums of squares of deviations are
// kept, not of the values themselves, which would cancel.
//
//     1, 2, 6:  n = 1, sum = 1, squares = 0;  n = 2, sum = 3, squares = (2*2 - 3)^2 / (2*1) = 0.5;
//               n = 3, sum = 9, squares = 0.5 + (3*6 - 9)^2 / (3*2) = 14
#include <cmath>
#include <limits>
#include <utility>

#include "common/coded_error.hpp"
#include "engine/sql/aggregates.hpp"
#include "engine/sql/number_argument.hpp"

namespace eindb {
namespace {

/// The value for SQL, which has no NaN.
SqliteValue finite_or_refused(double value) {
  if (!std::isnan(value)) return value;
  throw CodedError("22003", ErrorKind::Value, "the result is no number: there is an infinity among the values",
                   "leave infinities out with FILTER (WHERE ...)");
}

class Variance final : public SqlAggregate {
 public:
  Variance(bool sample, bool root) : sample_(sample), root_(root) {}

  void add(std::span<const SqliteValue> arguments) override {
    const auto value = number_argument(arguments[0], root_ ? "STDDEV" : "VARIANCE");
    if (!value) return;
    n_ += 1;
    sum_ += *value;
    if (!std::isfinite(*value)) squares_ = std::numeric_limits<double>::quiet_NaN();
    if (n_ < 2) return;
    const double deviation = *value * n_ - sum_;
    squares_ += deviation * deviation / (n_ * (n_ - 1));
  }

  SqliteValue result() override {
    if (n_ < (sample_ ? 2 : 1)) return {};
    const double value = squares_ / (sample_ ? n_ - 1 : n_);
    return finite_or_refused(root_ ? std::sqrt(value) : value);
  }

 private:
  bool sample_;
  bool root_;
  double n_ = 0;
  double sum_ = 0;
  double squares_ = 0;
};

class Regression final : public SqlAggregate {
 public:
  explicit Regression(std::function<std::optional<double>(const PairSums&)> value) : value_(std::move(value)) {}

  void add(std::span<const SqliteValue> arguments) override {
    const auto y = number_argument(arguments[0], "a regression");
    const auto x = number_argument(arguments[1], "a regression");
    if (!y || !x) return;
    n_ += 1;
    sum_x_ += *x;
    sum_y_ += *y;
    if (!std::isfinite(*x)) xx_ = xy_ = std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(*y)) yy_ = xy_ = std::numeric_limits<double>::quiet_NaN();
    if (n_ < 2) return;
    const double of_x = *x * n_ - sum_x_;
    const double of_y = *y * n_ - sum_y_;
    const double scale = 1 / (n_ * (n_ - 1));
    xx_ += of_x * of_x * scale;
    yy_ += of_y * of_y * scale;
    xy_ += of_x * of_y * scale;
  }

  SqliteValue result() override {
    const auto value = value_({.n = n_, .mean_x = sum_x_ / n_, .mean_y = sum_y_ / n_, .xx = xx_, .yy = yy_, .xy = xy_});
    return value && n_ > 0 ? finite_or_refused(*value) : SqliteValue();
  }

 private:
  std::function<std::optional<double>(const PairSums&)> value_;
  double n_ = 0;
  double sum_x_ = 0;
  double sum_y_ = 0;
  double xx_ = 0;
  double yy_ = 0;
  double xy_ = 0;
};

}  // namespace

std::unique_ptr<SqlAggregate> variance(bool sample, bool root) { return std::make_unique<Variance>(sample, root); }

std::unique_ptr<SqlAggregate> regression(std::function<std::optional<double>(const PairSums&)> value) {
  return std::make_unique<Regression>(std::move(value));
}

}  // namespace eindb
