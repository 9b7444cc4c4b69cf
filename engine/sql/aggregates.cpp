#include "engine/sql/aggregates.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include "common/coded_error.hpp"
#include "engine/dialect/moments.hpp"
#include "engine/sql/number_argument.hpp"

namespace eindb {
namespace {

enum class BitOp : std::uint8_t { And, Or, Xor };

/// AND, OR and XOR of the bits of integers.
template <BitOp op>
class Bits final : public SqlAggregate {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    if (std::holds_alternative<std::monostate>(arguments[0])) return;
    const auto* const bits = std::get_if<std::int64_t>(&arguments[0]);
    if (bits == nullptr) throw Error(ErrorKind::Type, "the bits of numbers are those of integers");
    if (!bits_) bits_ = *bits;
    else if (op == BitOp::And) bits_ = *bits_ & *bits;
    else bits_ = op == BitOp::Or ? *bits_ | *bits : *bits_ ^ *bits;
  }
  SqliteValue result() override { return bits_ ? SqliteValue(*bits_) : SqliteValue(); }

 private:
  std::optional<std::int64_t> bits_;
};

/// Whether all of the truth values hold, or any of them.
template <bool all>
class Truth final : public SqlAggregate {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    const auto number = number_argument(arguments[0], all ? "BOOL_AND" : "BOOL_OR");
    if (!number) return;
    const bool holds = *number != 0;
    truth_ = truth_ ? (all ? *truth_ && holds : *truth_ || holds) : holds;
  }
  SqliteValue result() override { return truth_ ? SqliteValue(static_cast<std::int64_t>(*truth_)) : SqliteValue(); }

 private:
  std::optional<bool> truth_;
};

/// The sum of intervals, or their mean, which are texts.
template <bool mean>
class Intervals final : public SqlAggregate {
 public:
  void add(std::span<const SqliteValue> arguments) override {
    const auto* const text = std::get_if<std::string>(&arguments[0]);
    if (text == nullptr) return;
    const auto read = dialect::read_interval(*text);
    if (!read) throw CodedError("22007", ErrorKind::Value, "invalid input syntax for type interval: \"" + *text + "\"");
    const bool overflows = __builtin_add_overflow(sum_.months, read->months, &sum_.months) ||
                           __builtin_add_overflow(sum_.days, read->days, &sum_.days) ||
                           __builtin_add_overflow(sum_.microseconds, read->microseconds, &sum_.microseconds);
    if (overflows) throw CodedError("22008", ErrorKind::Value, "interval out of range");
    ++count_;
  }
  SqliteValue result() override {
    if (count_ == 0) return {};
    return dialect::interval_text(mean ? dialect::scaled(sum_, 1 / static_cast<double>(count_)) : sum_);
  }

 private:
  dialect::Interval sum_;
  std::int64_t count_ = 0;
};

std::optional<double> quotient(double a, double b) { return b == 0 ? std::nullopt : std::optional(a / b); }

std::optional<double> correlation(const PairSums& s) {
  return s.xx == 0 || s.yy == 0 ? std::nullopt : std::optional(s.xy / std::sqrt(s.xx * s.yy));
}
std::optional<double> determination(const PairSums& s) {
  if (s.n < 1 || s.xx == 0) return std::nullopt;
  return s.yy == 0 ? 1.0 : (s.xy * s.xy) / (s.xx * s.yy);
}
std::optional<double> intercept(const PairSums& s) {
  if (s.xx == 0) return std::nullopt;
  return s.mean_y - s.mean_x * s.xy / s.xx;
}
std::optional<double> if_any(const PairSums& s, double value) { return s.n < 1 ? std::nullopt : std::optional(value); }

template <class State>
std::unique_ptr<SqlAggregate> make() {
  return std::make_unique<State>();
}

}  // namespace

std::optional<double> number_argument(const SqliteValue& value, std::string_view function) {
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  throw CodedError("42804", ErrorKind::Type, std::string(function) + " takes numbers, and there is a text among them",
                   "CAST(... AS REAL) reads texts as numbers");
}

void add_aggregates(SqliteConnection& connection) {
  const auto add = [&](std::string name, int arguments, auto begin) {
    add_aggregate(connection, {.name = std::move(name), .arguments = arguments, .begin = std::move(begin)});
  };
  for (const auto* const name : {"variance", "var_samp"}) add(name, 1, [] { return variance(true, false); });
  for (const auto* const name : {"stddev", "stddev_samp"}) add(name, 1, [] { return variance(true, true); });
  add("var_pop", 1, [] { return variance(false, false); });
  add("stddev_pop", 1, [] { return variance(false, true); });

  using PairValue = std::optional<double> (*)(const PairSums&);
  const auto pairs = [&](std::string name, PairValue value) {
    add(std::move(name), 2, [value] { return regression(value); });
  };
  pairs("corr", &correlation);
  pairs("covar_pop", [](const PairSums& s) { return quotient(s.xy, s.n); });
  pairs("covar_samp", [](const PairSums& s) { return s.n < 2 ? std::nullopt : quotient(s.xy, s.n - 1); });
  pairs("regr_slope", [](const PairSums& s) { return quotient(s.xy, s.xx); });
  pairs("regr_intercept", &intercept);
  pairs("regr_r2", &determination);
  pairs("regr_avgx", [](const PairSums& s) { return if_any(s, s.mean_x); });
  pairs("regr_avgy", [](const PairSums& s) { return if_any(s, s.mean_y); });
  pairs("regr_sxx", [](const PairSums& s) { return if_any(s, s.xx); });
  pairs("regr_syy", [](const PairSums& s) { return if_any(s, s.yy); });
  pairs("regr_sxy", [](const PairSums& s) { return if_any(s, s.xy); });

  for (const int arguments : {2, 3}) {
    add("percentile_cont", arguments, &percentile_cont);
    add("percentile_disc", arguments, &percentile_disc);
  }
  for (const int arguments : {1, 2}) add("mode", arguments, &mode);
  add("median", 1, &median);

  for (const auto* const name : {"bool_and", "every"}) add(name, 1, &make<Truth<true>>);
  add("bool_or", 1, &make<Truth<false>>);
  add("bit_and", 1, &make<Bits<BitOp::And>>);
  add("bit_or", 1, &make<Bits<BitOp::Or>>);
  add("bit_xor", 1, &make<Bits<BitOp::Xor>>);

  add("pg_interval_sum", 1, &make<Intervals<false>>);
  add("pg_interval_avg", 1, &make<Intervals<true>>);

  add("ordered_text", -1, &ordered_text);
  add("ordered_json", -1, &ordered_json);
}

}  // namespace eindb
