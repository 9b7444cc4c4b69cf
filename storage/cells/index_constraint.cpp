#include "storage/cells/index_constraint.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/check.hpp"

namespace eindb {
namespace {

constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
constexpr IndexRange kNone{0, 0};

/// The nearest 64-bit integer. No index reaches the ends, so they stand for all larger and smaller numbers.
std::int64_t saturated(double integral) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  if (integral >= kEnd) return kLargest;
  if (integral < -kEnd) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(integral);
}

/// The smallest index above `floor`; kLargest is above all indices.
std::int64_t after(std::int64_t floor) { return floor == kLargest ? kLargest : floor + 1; }

/// Restricts the range by a value given by its floor and ceiling, which differ if it is no integer.
IndexRange restrict(IndexRange range, Comparison comparison, std::int64_t floor, std::int64_t ceiling) {
  DCHECK(floor <= ceiling, "a value lies between its floor and its ceiling");
  switch (comparison) {
    case Comparison::Equal:
      if (floor != ceiling) return kNone;
      return {std::max(range.begin, floor), std::min(range.end, after(floor))};
    case Comparison::Less: return {range.begin, std::min(range.end, ceiling)};
    case Comparison::LessEqual: return {range.begin, std::min(range.end, after(floor))};
    case Comparison::Greater: return {std::max(range.begin, after(floor)), range.end};
    case Comparison::GreaterEqual: return {std::max(range.begin, ceiling), range.end};
    case Comparison::IsNull: break;
  }
  return kNone;
}

}  // namespace

std::optional<Comparison> comparison_of(int constraint) {
  switch (constraint) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
    case SQLITE_INDEX_CONSTRAINT_IS: return Comparison::Equal;  // no index is NULL, so IS means =
    case SQLITE_INDEX_CONSTRAINT_LT: return Comparison::Less;
    case SQLITE_INDEX_CONSTRAINT_LE: return Comparison::LessEqual;
    case SQLITE_INDEX_CONSTRAINT_GT: return Comparison::Greater;
    case SQLITE_INDEX_CONSTRAINT_GE: return Comparison::GreaterEqual;
    case SQLITE_INDEX_CONSTRAINT_ISNULL: return Comparison::IsNull;
    default: return std::nullopt;
  }
}

std::string_view symbol_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal: return "=";
    case Comparison::Less: return "<";
    case Comparison::LessEqual: return "<=";
    case Comparison::Greater: return ">";
    case Comparison::GreaterEqual: return ">=";
    case Comparison::IsNull: break;
  }
  return " IS ";
}

IndexRange restrict(IndexRange range, Comparison comparison, sqlite3_value* value) {
  switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: {
      const auto integer = sqlite3_value_int64(value);
      return restrict(range, comparison, integer, integer);
    }
    case SQLITE_FLOAT: {
      const double real = sqlite3_value_double(value);
      return restrict(range, comparison, saturated(std::floor(real)), saturated(std::ceil(real)));
    }
    case SQLITE_NULL: return kNone;
    default: {
      const bool below = comparison == Comparison::Less || comparison == Comparison::LessEqual;
      return below ? range : kNone;
    }
  }
}

IndexRange restrict(IndexRange range, Comparison comparison, sqlite3_value* value, const IndexNames& names) {
  if (comparison == Comparison::IsNull || sqlite3_value_type(value) == SQLITE_NULL) return kNone;
  // A number is a text here, or the names are numbers there, by rules that are SQLite's.
  if (sqlite3_value_type(value) != SQLITE_TEXT) return range;
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  const std::string_view text(bytes, static_cast<std::size_t>(sqlite3_value_bytes(value)));
  if (comparison == Comparison::Equal) {
    const auto index = names.find(text);
    return index < 0 ? kNone : restrict(range, Comparison::Equal, index, index);
  }
  if (!names.ascend()) return range;
  const bool or_equal = comparison == Comparison::LessEqual || comparison == Comparison::Greater;
  const auto first = names.count_below(text, or_equal);
  const bool below = comparison == Comparison::Less || comparison == Comparison::LessEqual;
  return restrict(range, below ? Comparison::Less : Comparison::GreaterEqual, first, first);
}

}  // namespace eindb
