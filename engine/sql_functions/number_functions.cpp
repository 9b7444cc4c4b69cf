// Arithmetic as PostgreSQL has it: errors where SQLite gives NULL or another type.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "common/coded_error.hpp"
#include "engine/dialect/literals.hpp"
#include "engine/sql_functions/pg_values.hpp"
#include "engine/sql_functions/sql_functions.hpp"

namespace eindb {
namespace pg_numbers {  // names that other groups of functions have, too
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

[[noreturn]] void refuse(std::string_view sqlstate, std::string message, std::string hint = {}) {
  throw CodedError(sqlstate, ErrorKind::Value, std::move(message), std::move(hint));
}
[[noreturn]] void out_of_range() { refuse("22003", "bigint out of range"); }
[[noreturn]] void division_by_zero() { refuse("22012", "division by zero"); }

bool is_integer(const SqliteValue& value) { return std::holds_alternative<std::int64_t>(value); }

double real_of(const SqliteValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return dialect::real_from(text_of(value));
}

std::int64_t whole(double value) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(value >= -kLimit && value < kLimit)) out_of_range();
  return static_cast<std::int64_t>(value);
}

std::int64_t exact_integer(const SqliteValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return whole(std::round(*real));
  return dialect::integer_from(text_of(value));
}

// ---- Checks and conversions
// ------------------------------------------------------------------------------------------

/// The integer, if it has the bits; SQLite makes reals of sums that overflow.
SqliteValue in_range(PgValues values) {
  if (is_null(values[0])) return kNull;
  if (!is_integer(values[0])) out_of_range();
  if (values.size() < 2) return values[0];
  const auto value = std::get<std::int64_t>(values[0]);
  const auto bits = integer_of(values[1]);
  const auto limit = std::int64_t{1} << (bits - 1);
  if (value < -limit || value >= limit) refuse("22003", bits == 16 ? "smallint out of range" : "integer out of range");
  return value;
}

SqliteValue to_integer(PgValues values) { return is_null(values[0]) ? kNull : SqliteValue(exact_integer(values[0])); }
SqliteValue integer_of_numeric(PgValues values) {
  return is_null(values[0])
             ? kNull
             : SqliteValue(is_integer(values[0]) ? exact_integer(values[0]) : whole(std::round(real_of(values[0]))));
}
SqliteValue integer_of_float(PgValues values) {
  return is_null(values[0]) ? kNull
                            : SqliteValue(is_integer(values[0]) ? exact_integer(values[0])
                                                                : whole(std::nearbyint(real_of(values[0]))));
}
SqliteValue to_float(PgValues values) { return is_null(values[0]) ? kNull : SqliteValue(real_of(values[0])); }
/// The nearest number of 32 bits.
SqliteValue to_float4(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto wide = real_of(values[0]);
  const auto value = static_cast<float>(wide);
  if (std::isinf(value) && std::isfinite(wide)) refuse("22003", "value out of range: overflow");
  if (value == 0 && wide != 0) refuse("22003", "value out of range: underflow");
  return static_cast<double>(value);
}
SqliteValue to_numeric(PgValues values) {
  if (is_null(values[0])) return kNull;
  if (!std::holds_alternative<std::string>(values[0])) return values[0];
  const auto text = text_of(values[0]);
  const auto real = dialect::real_from(text, "numeric");
  if (text.find_first_of(".eEnN") == std::string::npos && std::fabs(real) < 9e18) return dialect::integer_from(text);
  return real;
}

/// The shortest text that reads back as the number: 1 for 1.0, 0.1; a numeric has no exponent.
template <bool of_numeric>
SqliteValue number_text(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto* const real = std::get_if<double>(&values[0]);
  if (real == nullptr) return text_of(values[0]);
  if (std::isnan(*real)) return std::string("NaN");
  if (std::isinf(*real)) return std::string(*real > 0 ? "Infinity" : "-Infinity");
  std::array<char, 400> buffer{};
  const double size = std::fabs(*real);
  const bool plain = of_numeric || size == 0 || (size >= 1e-4 && size < 1e15);
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *real,
                                          plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer.data(), error == std::errc() ? end : buffer.data());
}

SqliteValue bool_text(PgValues values) {
  return is_null(values[0]) ? kNull : SqliteValue(std::string(integer_of(values[0]) != 0 ? "true" : "false"));
}

/// numeric(precision, scale).
SqliteValue scale(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto precision = integer_of(values[1]);
  const auto places = integer_of(values[2]);
  const double factor = std::pow(10.0, static_cast<double>(places));
  const double value = real_of(values[0]);
  const double scaled = std::round(value * factor) / factor;
  if (std::fabs(scaled) >= std::pow(10.0, static_cast<double>(precision - places)))
    refuse("22003", "numeric field overflow",
           "A field with precision " + std::to_string(precision) + ", scale " + std::to_string(places) +
               " must round to an absolute value less than 10^" + std::to_string(precision - places) + ".");
  if (is_integer(values[0]) && places >= 0) return values[0];
  return scaled;
}

SqliteValue limit(PgValues values) {
  if (is_null(values[0])) return SqliteValue(std::int64_t{-1});
  const auto count = exact_integer(values[0]);
  if (count < 0) refuse("2201W", "LIMIT must not be negative");
  return count;
}
SqliteValue offset(PgValues values) {
  if (is_null(values[0])) return SqliteValue(std::int64_t{0});
  const auto count = exact_integer(values[0]);
  if (count < 0) refuse("2201X", "OFFSET must not be negative");
  return count;
}

SqliteValue refused(PgValues values) { refuse(text_of(values[0]), text_of(values[1])); }

// ---- Arithmetic
// ------------------------------------------------------------------------------------------------------

SqliteValue divide_integers(PgValues values) {
  if (any_null(values)) return kNull;
  const auto a = exact_integer(values[0]);
  const auto b = exact_integer(values[1]);
  if (b == 0) division_by_zero();
  if (a == kLeast && b == -1) out_of_range();
  return a / b;
}

SqliteValue modulo_integers(PgValues values) {
  if (any_null(values)) return kNull;
  const auto b = exact_integer(values[1]);
  if (b == 0) division_by_zero();
  return b == -1 ? SqliteValue(std::int64_t{0}) : SqliteValue(exact_integer(values[0]) % b);
}

/// The result of arithmetic with these numbers, if it is one that columns hold.
double checked_real(double result, double a, double b) {
  if (std::isnan(result))
    throw CodedError("0A000", ErrorKind::Unsupported, "NaN as a result is not supported: it would be NULL",
                     "leave infinite values out: WHERE abs(x) < 'Infinity'");
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) refuse("22003", "value out of range: overflow");
  return result;
}

/// A result of numeric arithmetic with numbers of this magnitude: the decimal fraction of up to nine places that it is,
/// but for the errors of doubles, so that 0.1 + 0.2 is 0.3. Any other result stays as it is.
double decimal(double x, double magnitude) {
  constexpr double kLimit = 9e15;  // beyond it not all integers are doubles
  const double error = 3 * std::numeric_limits<double>::epsilon() * magnitude;
  for (const double scale : {1e3, 1e6, 1e9}) {
    const double scaled = x * scale;
    if (!(std::fabs(scaled) < kLimit)) return x;
    const double fraction = std::nearbyint(scaled) / scale;
    if (std::fabs(fraction - x) <= error) return fraction;
  }
  return x;
}
double decimal(double x) { return decimal(x, std::fabs(x)); }

/// The numeric of 15 digits that PostgreSQL makes of a float8.
SqliteValue to_decimal(PgValues values) {
  const auto* const real = std::get_if<double>(&values[0]);
  if (real == nullptr || !std::isfinite(*real)) return values[0];
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), *real, std::chars_format::scientific, 14);
  double rounded = *real;
  if (error == std::errc()) std::from_chars(text.data(), end, rounded);
  return rounded;
}

/// The same for a sum or difference, and for a product or quotient.
template <char op>
double decimal_result(double result, double a, double b) {
  return op == '+' || op == '-' ? decimal(result, std::max(std::fabs(a), std::fabs(b))) : decimal(result);
}

/// A sum, difference or product. Integers give an integer, if 64 bits hold it.
template <char op, bool of_numeric>
SqliteValue arithmetic(PgValues values) {
  if (any_null(values)) return kNull;
  if (is_integer(values[0]) && is_integer(values[1])) {
    const auto a = std::get<std::int64_t>(values[0]);
    const auto b = std::get<std::int64_t>(values[1]);
    std::int64_t result = 0;
    const bool overflows = op == '+'   ? __builtin_add_overflow(a, b, &result)
                           : op == '-' ? __builtin_sub_overflow(a, b, &result)
                                       : __builtin_mul_overflow(a, b, &result);
    if (!overflows) return result;
  }
  const auto a = real_of(values[0]);
  const auto b = real_of(values[1]);
  const auto result = checked_real(op == '+' ? a + b : op == '-' ? a - b : a * b, a, b);
  if (op == '*' && result == 0 && a != 0 && b != 0) refuse("22003", "value out of range: underflow");
  return of_numeric ? decimal_result<op>(result, a, b) : result;
}

/// The same for two reals, unless the result is one that arithmetic() looks at.
template <char op, bool of_numeric>
bool arithmetic_of_reals(double a, double b, double& result) {
  result = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
  if (of_numeric) result = decimal_result<op>(result, a, b);
  return std::isfinite(result) && (op == '+' || op == '-' || result != 0);
}

/// The sum or mean of `count` numbers, which SQLite computes without an error.
template <bool of_numeric>
SqliteValue total(PgValues values) {
  if (integer_of(values[1]) == 0) return kNull;
  if (is_null(values[0])) return checked_real(std::numeric_limits<double>::quiet_NaN(), 0, 0);
  if (is_integer(values[0])) return values[0];
  const auto result = checked_real(real_of(values[0]), 0, 0);
  return of_numeric ? decimal(result) : result;
}

template <bool of_numeric>
SqliteValue divide_reals(PgValues values) {
  if (any_null(values)) return kNull;
  const auto a = real_of(values[0]);
  const auto b = real_of(values[1]);
  if (b == 0) division_by_zero();
  const auto result = checked_real(a / b, a, b);
  if (result == 0 && a != 0 && std::isfinite(b)) refuse("22003", "value out of range: underflow");
  return of_numeric ? decimal(result) : result;
}

SqliteValue modulo_reals(PgValues values) {
  if (any_null(values)) return kNull;
  const auto b = real_of(values[1]);
  if (b == 0) division_by_zero();
  const auto a = real_of(values[0]);
  if (!std::isfinite(a) || !std::isfinite(b)) return checked_real(std::fmod(a, b), a, b);
  // 0.3 % 0.1 is 0, not the 0.0999... that is left of 0.2999... times 0.1.
  const auto times = std::trunc(decimal(a / b));
  return std::fabs(times) < 9e15 ? decimal(a - times * b, std::fabs(a)) : std::fmod(a, b);
}

SqliteValue divide(PgValues values) {
  if (any_null(values)) return kNull;
  return is_integer(values[0]) && is_integer(values[1]) ? divide_integers(values) : divide_reals<false>(values);
}
SqliteValue modulo(PgValues values) {
  if (any_null(values)) return kNull;
  return is_integer(values[0]) && is_integer(values[1]) ? modulo_integers(values) : modulo_reals(values);
}
SqliteValue quotient(PgValues values) {
  if (any_null(values)) return kNull;
  return std::trunc(std::get<double>(divide_reals<true>(values)));
}

SqliteValue power(PgValues values) {
  if (any_null(values)) return kNull;
  const auto base = real_of(values[0]);
  const auto exponent = real_of(values[1]);
  if (base == 0 && exponent < 0) refuse("2201F", "zero raised to a negative power is undefined");
  if (base < 0 && exponent != std::floor(exponent))
    refuse("2201F", "a negative number raised to a non-integer power yields a complex result");
  return checked_real(std::pow(base, exponent), base, exponent);
}

/// A function of one real. `kind` is 'r' for arguments from 0 on, 'l' for positive ones, 'u' for -1 to 1,
/// 'c' from 1 on, 'h' between -1 and 1, 'f' for finite ones.
template <double (*F)(double), char kind>
SqliteValue of_real(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto x = real_of(values[0]);
  if (kind == 'r' && x < 0) refuse("2201F", "cannot take square root of a negative number");
  if (kind == 'l' && x == 0) refuse("2201E", "cannot take logarithm of zero");
  if (kind == 'l' && x < 0) refuse("2201E", "cannot take logarithm of a negative number");
  if ((kind == 'u' && (x < -1 || x > 1)) || (kind == 'c' && x < 1) || (kind == 'h' && (x <= -1 || x >= 1)) ||
      (kind == 'f' && !std::isfinite(x)))
    refuse("22003", "input is out of range");
  return checked_real(F(x), x, 0);
}

/// Rounding of a number; integers stay what they are, as floats.
template <double (*F)(double)>
SqliteValue rounded(PgValues values) {
  if (any_null(values)) return kNull;
  if (values.size() < 2) return F(real_of(values[0]));
  const double factor = std::pow(10.0, static_cast<double>(integer_of(values[1])));
  return F(real_of(values[0]) * factor) / factor;
}

SqliteValue sign(PgValues values) {
  if (is_null(values[0])) return kNull;
  const auto x = real_of(values[0]);
  return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
}

SqliteValue greatest_divisor(PgValues values) {
  if (any_null(values)) return kNull;
  const auto a = exact_integer(values[0]);
  const auto b = exact_integer(values[1]);
  if (a == kLeast || b == kLeast) out_of_range();
  return std::gcd(a, b);
}

SqliteValue least_multiple(PgValues values) {
  if (any_null(values)) return kNull;
  const auto a = exact_integer(values[0]);
  const auto b = exact_integer(values[1]);
  if (a == kLeast || b == kLeast) out_of_range();
  if (a == 0 || b == 0) return SqliteValue(std::int64_t{0});
  std::int64_t result = 0;
  if (__builtin_mul_overflow(std::abs(a) / std::gcd(a, b), std::abs(b), &result)) out_of_range();
  return result;
}

double cotangent(double x) { return 1 / std::tan(x); }

SqliteValue logarithm(PgValues values) {
  if (any_null(values)) return kNull;
  const auto base = of_real<std::log, 'l'>(values.first(1));
  const auto value = of_real<std::log, 'l'>(values.subspan(1));
  if (std::get<double>(base) == 0) division_by_zero();
  return std::get<double>(value) / std::get<double>(base);
}

/// The number of the interval, of `count` equal ones between the bounds, that the value lies in; 0 and count + 1 are
/// outside.
SqliteValue width_bucket(PgValues values) {
  if (any_null(values)) return kNull;
  const auto value = real_of(values[0]);
  const auto low = real_of(values[1]);
  const auto high = real_of(values[2]);
  const auto count = exact_integer(values[3]);
  if (count <= 0) refuse("2201G", "count must be greater than zero");
  if (!std::isfinite(low) || !std::isfinite(high)) refuse("2201G", "lower and upper bounds must be finite");
  if (low == high) refuse("2201G", "lower bound cannot equal upper bound");
  const bool ascends = low < high;
  if (ascends ? value < low : value > low) return integer_value(0);
  if (ascends ? value >= high : value <= high) return integer_value(count + 1);
  const auto bucket = whole(std::floor(static_cast<double>(count) * ((value - low) / (high - low))));
  return integer_value(std::min(bucket, count - 1) + 1);
}

SqliteValue set_seed(PgValues) {
  throw CodedError("0A000", ErrorKind::Unsupported, "setseed() is not supported: random() has no seed",
                   "numbers that can be had again: EINSUM X[i 1000] = RANDOM(seed)");
}

/// A random UUID, of version 4.
SqliteValue random_uuid(PgValues) {
  thread_local std::mt19937_64 source{std::random_device{}()};
  std::array<std::uint64_t, 2> bits{source(), source()};
  bits[0] = (bits[0] & ~std::uint64_t{0xF000}) | 0x4000;
  bits[1] = (bits[1] & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{1} << 63U);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t n = 0; n < 32; ++n) {
    if (n == 8 || n == 12 || n == 16 || n == 20) out += '-';
    out += kDigits[(bits[n / 16] >> (60 - 4 * (n % 16))) & 0xFU];
  }
  return out;
}

SqliteValue random(PgValues) {
  thread_local std::mt19937_64 source{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(source);
}

/// By PostgreSQL's order: numbers, or texts by their bytes; NULL is left out.
template <bool greatest>
SqliteValue extreme(PgValues values) {
  const SqliteValue* best = nullptr;
  const auto less = [](const SqliteValue& a, const SqliteValue& b) {
    const bool texts = std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b);
    if (texts) return text_of(a) < text_of(b);
    if (is_integer(a) && is_integer(b)) return std::get<std::int64_t>(a) < std::get<std::int64_t>(b);
    return real_of(a) < real_of(b);
  };
  for (const auto& value : values) {
    if (is_null(value)) continue;
    if (best == nullptr || (greatest ? less(*best, value) : less(value, *best))) best = &value;
  }
  return best == nullptr ? kNull : *best;
}

constexpr std::array kNumberFunctions{
    PgFunction{"pg_in_range", 1, "INTEGER", &in_range},
    PgFunction{"pg_in_range", 2, "INTEGER", &in_range},
    PgFunction{"pg_integer", 1, "INTEGER", &to_integer},
    PgFunction{"pg_integer_of_numeric", 1, "INTEGER", &integer_of_numeric},
    PgFunction{"pg_integer_of_float", 1, "INTEGER", &integer_of_float},
    PgFunction{"pg_float", 1, "REAL", &to_float},
    PgFunction{"pg_float4", 1, "REAL", &to_float4},
    PgFunction{"pg_numeric", 1, "NUMERIC", &to_numeric},
    PgFunction{"pg_number_text", 1, "TEXT", &number_text<false>},
    PgFunction{"pg_numeric_text", 1, "TEXT", &number_text<true>},
    PgFunction{"pg_bool_text", 1, "TEXT", &bool_text},
    PgFunction{"pg_scale", 3, "NUMERIC", &scale},
    PgFunction{"pg_limit", 1, "INTEGER", &limit},
    PgFunction{"pg_offset", 1, "INTEGER", &offset},
    PgFunction{"pg_divide_integers", 2, "INTEGER", &divide_integers},
    PgFunction{"pg_modulo_integers", 2, "INTEGER", &modulo_integers},
    PgFunction{"pg_plus", 2, "", &arithmetic<'+', false>, &arithmetic_of_reals<'+', false>},
    PgFunction{"pg_plus_numeric", 2, "NUMERIC", &arithmetic<'+', true>, &arithmetic_of_reals<'+', true>},
    PgFunction{"pg_minus", 2, "", &arithmetic<'-', false>, &arithmetic_of_reals<'-', false>},
    PgFunction{"pg_minus_numeric", 2, "NUMERIC", &arithmetic<'-', true>, &arithmetic_of_reals<'-', true>},
    PgFunction{"pg_times", 2, "", &arithmetic<'*', false>, &arithmetic_of_reals<'*', false>},
    PgFunction{"pg_times_numeric", 2, "NUMERIC", &arithmetic<'*', true>, &arithmetic_of_reals<'*', true>},
    PgFunction{"pg_total", 2, "", &total<false>},
    PgFunction{"pg_total_numeric", 2, "NUMERIC", &total<true>},
    PgFunction{"pg_decimal", 1, "NUMERIC", &to_decimal},
    PgFunction{"pg_divide_numeric", 2, "NUMERIC", &divide_reals<true>, &arithmetic_of_reals<'/', true>},
    PgFunction{"pg_divide_reals", 2, "REAL", &divide_reals<false>, &arithmetic_of_reals<'/', false>},
    PgFunction{"pg_modulo_reals", 2, "REAL", &modulo_reals},
    PgFunction{"pg_divide", 2, "", &divide},
    PgFunction{"pg_modulo", 2, "", &modulo},
    PgFunction{"pg_div", 2, "REAL", &quotient},
    PgFunction{"pg_power", 2, "REAL", &power},
    PgFunction{"pg_sqrt", 1, "REAL", &of_real<std::sqrt, 'r'>},
    PgFunction{"pg_cbrt", 1, "REAL", &of_real<std::cbrt, 'a'>},
    PgFunction{"pg_exp", 1, "REAL", &of_real<std::exp, 'a'>},
    PgFunction{"pg_ln", 1, "REAL", &of_real<std::log, 'l'>},
    PgFunction{"pg_log", 1, "REAL", &of_real<std::log10, 'l'>},
    PgFunction{"pg_log", 2, "REAL", &logarithm},
    PgFunction{"pg_sin", 1, "REAL", &of_real<std::sin, 'f'>},
    PgFunction{"pg_cos", 1, "REAL", &of_real<std::cos, 'f'>},
    PgFunction{"pg_tan", 1, "REAL", &of_real<std::tan, 'f'>},
    PgFunction{"pg_cot", 1, "REAL", &of_real<cotangent, 'a'>},
    PgFunction{"pg_sinh", 1, "REAL", &of_real<std::sinh, 'a'>},
    PgFunction{"pg_cosh", 1, "REAL", &of_real<std::cosh, 'a'>},
    PgFunction{"pg_tanh", 1, "REAL", &of_real<std::tanh, 'a'>},
    PgFunction{"pg_asinh", 1, "REAL", &of_real<std::asinh, 'a'>},
    PgFunction{"pg_acosh", 1, "REAL", &of_real<std::acosh, 'c'>},
    PgFunction{"pg_atanh", 1, "REAL", &of_real<std::atanh, 'h'>},
    PgFunction{"pg_width_bucket", 4, "INTEGER", &width_bucket},
    PgFunction{"pg_acos", 1, "REAL", &of_real<std::acos, 'u'>},
    PgFunction{"pg_asin", 1, "REAL", &of_real<std::asin, 'u'>},
    PgFunction{"pg_ceil", 1, "REAL", &rounded<std::ceil>},
    PgFunction{"pg_floor", 1, "REAL", &rounded<std::floor>},
    PgFunction{"pg_round", 1, "REAL", &rounded<std::round>},
    PgFunction{"pg_round", 2, "REAL", &rounded<std::round>},
    PgFunction{"pg_round_even", 1, "REAL", &rounded<std::nearbyint>},
    PgFunction{"pg_trunc", 1, "REAL", &rounded<std::trunc>},
    PgFunction{"pg_trunc", 2, "REAL", &rounded<std::trunc>},
    PgFunction{"pg_sign", 1, "REAL", &sign},
    PgFunction{"pg_gcd", 2, "INTEGER", &greatest_divisor},
    PgFunction{"pg_lcm", 2, "INTEGER", &least_multiple},
    PgFunction{"pg_greatest", -1, "", &extreme<true>},
    PgFunction{"pg_least", -1, "", &extreme<false>},
};

constexpr std::array kVolatileNumberFunctions{
    PgFunction{"gen_random_uuid", 0, "UUID", &random_uuid},
    PgFunction{"pg_random", 0, "REAL", &random},
    PgFunction{"pg_setseed", 1, "", &set_seed},
    PgFunction{"pg_refuse", 2, "", &refused},
};

}  // namespace
}  // namespace pg_numbers

std::vector<SqlFunction> number_functions() {
  auto functions = sql_functions(pg_numbers::kNumberFunctions, true);
  for (auto& function : sql_functions(pg_numbers::kVolatileNumberFunctions, false))
    functions.push_back(std::move(function));
  return functions;
}

}  // namespace eindb
