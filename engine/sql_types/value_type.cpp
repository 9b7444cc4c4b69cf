#include "engine/sql_types/value_type.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using enum ValueType;

bool is_number(ValueType type) { return type >= Boolean && type <= Number; }

struct Rule {
  std::string_view word;
  ValueType type;
};

/// SQLite's rules for affinities: the first rule whose word occurs in the name applies.
constexpr std::array kAffinities{
    Rule{"INT", Integer}, Rule{"CHAR", Text}, Rule{"CLOB", Text}, Rule{"TEXT", Text},
    Rule{"BLOB", Blob},   Rule{"REAL", Real}, Rule{"FLOA", Real}, Rule{"DOUB", Real},
};
/// SQLite has one affinity for all of these, and for dates, which are mostly text.
constexpr std::array kMore{Rule{"BOOL", Boolean}, Rule{"BYTEA", Blob}, Rule{"NUM", Number}, Rule{"DEC", Number}};

template <std::size_t N>
ValueType find(const std::array<Rule, N>& rules, std::string_view upper) {
  const auto* const found = std::find_if(
      rules.begin(), rules.end(), [&](const Rule& rule) { return upper.find(rule.word) != std::string_view::npos; });
  return found == rules.end() ? Unknown : found->type;
}

}  // namespace

ValueType common_type(ValueType a, ValueType b) {
  if (a == b || b == Null) return a;
  if (a == Null) return b;
  if (!is_number(a) || !is_number(b)) return Unknown;
  return std::max(a, b) == Integer ? Integer : Number;
}

ValueType arithmetic_type(ValueType a, ValueType b) {
  if (a == Null || b == Null) return Null;
  if (!is_number(a) || !is_number(b)) return Number;
  if (a == Real || b == Real) return Real;
  return a == Number || b == Number ? Number : Integer;
}

ValueType declared_type(std::string_view declared) {
  const auto upper = to_upper(std::string(declared));
  if (upper.starts_with("INTERVAL")) return Text;  // SQLite finds an INT in it
  const auto type = find(kAffinities, upper);
  return type == Unknown ? find(kMore, upper) : type;
}

ValueType cast_type(std::string_view name) {
  if (name.empty()) return Blob;
  const auto type = find(kAffinities, to_upper(std::string(name)));
  return type == Unknown ? Number : type;
}

}  // namespace eindb
