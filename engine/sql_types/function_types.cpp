#include "engine/sql_types/function_types.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "common/letter_case.hpp"

namespace eindb {
namespace {

using enum ValueType;
using Arguments = std::span<const ValueType>;

ValueType argument(Arguments arguments, std::size_t n) { return n < arguments.size() ? arguments[n] : Unknown; }

ValueType boolean(Arguments) { return Boolean; }
ValueType integer(Arguments) { return Integer; }
ValueType real(Arguments) { return Real; }
ValueType text(Arguments) { return Text; }
ValueType blob(Arguments) { return Blob; }
ValueType first(Arguments arguments) { return argument(arguments, 0); }

ValueType any_of(Arguments arguments) {
  auto type = Null;
  for (const auto given : arguments) type = common_type(type, given);
  return type;
}

ValueType second_or_third(Arguments arguments) { return arguments.size() < 2 ? Unknown : any_of(arguments.subspan(1)); }

/// The type of lag(e) or lag(e, offset, otherwise).
ValueType first_or_third(Arguments arguments) {
  return arguments.size() < 3 ? first(arguments) : common_type(arguments[0], arguments[2]);
}

/// Values other than integers are converted to numbers: abs('x') is 0.0.
ValueType same_number(Arguments arguments) {
  const auto type = first(arguments);
  if (type == Boolean) return Integer;
  return type == Integer || type == Real || type == Null ? type : Number;
}

/// A sum of texts is a real.
ValueType sum(Arguments arguments) { return first(arguments) == Text ? Real : same_number(arguments); }

/// A blob for a blob, else text.
ValueType part(Arguments arguments) {
  const auto type = first(arguments);
  return type == Blob || type == Unknown ? type : Text;
}

struct Function {
  std::string_view name;
  ValueType (*type)(Arguments);
};

/// In alphabetical order.
constexpr std::array kTypedFunctions{
    Function{"abs", same_number},
    Function{"acos", real},
    Function{"acosh", real},
    Function{"asin", real},
    Function{"asinh", real},
    Function{"atan", real},
    Function{"atan2", real},
    Function{"atanh", real},
    Function{"avg", real},
    Function{"bit_and", integer},
    Function{"bit_or", integer},
    Function{"bit_xor", integer},
    Function{"bool_and", boolean},
    Function{"bool_or", boolean},
    Function{"ceil", same_number},
    Function{"ceiling", same_number},
    Function{"changes", integer},
    Function{"char", text},
    Function{"coalesce", any_of},
    Function{"corr", real},
    Function{"cos", real},
    Function{"cosh", real},
    Function{"count", integer},
    Function{"covar_pop", real},
    Function{"covar_samp", real},
    Function{"cume_dist", real},
    Function{"date", text},
    Function{"datetime", text},
    Function{"degrees", real},
    Function{"dense_rank", integer},
    Function{"every", boolean},
    Function{"exp", real},
    Function{"first_value", first},
    Function{"floor", same_number},
    Function{"format", text},
    Function{"glob", boolean},
    Function{"group_concat", text},
    Function{"hex", text},
    Function{"ifnull", any_of},
    Function{"iif", second_or_third},
    Function{"instr", integer},
    Function{"json", text},
    Function{"json_array", text},
    Function{"json_array_length", integer},
    Function{"json_group_array", text},
    Function{"json_group_object", text},
    Function{"json_insert", text},
    Function{"json_object", text},
    Function{"json_patch", text},
    Function{"json_quote", text},
    Function{"json_remove", text},
    Function{"json_replace", text},
    Function{"json_set", text},
    Function{"json_type", text},
    Function{"json_valid", boolean},
    Function{"julianday", real},
    Function{"lag", first_or_third},
    Function{"last_insert_rowid", integer},
    Function{"last_value", first},
    Function{"lead", first_or_third},
    Function{"length", integer},
    Function{"like", boolean},
    Function{"likelihood", first},
    Function{"likely", first},
    Function{"ln", real},
    Function{"log", real},
    Function{"log10", real},
    Function{"log2", real},
    Function{"lower", text},
    Function{"ltrim", text},
    Function{"max", any_of},
    Function{"median", real},
    Function{"min", any_of},
    Function{"mod", real},
    Function{"mode", first},
    Function{"nth_value", first},
    Function{"ntile", integer},
    Function{"nullif", first},
    Function{"ordered_json", text},
    Function{"ordered_text", text},
    Function{"percent_rank", real},
    Function{"percentile_cont", real},
    Function{"percentile_disc", first},
    Function{"pi", real},
    Function{"pow", real},
    Function{"power", real},
    Function{"printf", text},
    Function{"quote", text},
    Function{"radians", real},
    Function{"random", integer},
    Function{"randomblob", blob},
    Function{"rank", integer},
    Function{"regr_avgx", real},
    Function{"regr_avgy", real},
    Function{"regr_intercept", real},
    Function{"regr_r2", real},
    Function{"regr_slope", real},
    Function{"regr_sxx", real},
    Function{"regr_sxy", real},
    Function{"regr_syy", real},
    Function{"replace", text},
    Function{"round", real},
    Function{"row_number", integer},
    Function{"rtrim", text},
    Function{"sign", integer},
    Function{"sin", real},
    Function{"sinh", real},
    Function{"soundex", text},
    Function{"sqlite_source_id", text},
    Function{"sqlite_version", text},
    Function{"sqrt", real},
    Function{"stddev", real},
    Function{"stddev_pop", real},
    Function{"stddev_samp", real},
    Function{"strftime", text},
    Function{"substr", part},
    Function{"substring", part},
    Function{"sum", sum},
    Function{"tan", real},
    Function{"tanh", real},
    Function{"time", text},
    Function{"total", real},
    Function{"total_changes", integer},
    Function{"trim", text},
    Function{"trunc", same_number},
    Function{"typeof", text},
    Function{"unicode", integer},
    Function{"unixepoch", integer},
    Function{"unlikely", first},
    Function{"upper", text},
    Function{"var_pop", real},
    Function{"var_samp", real},
    Function{"variance", real},
    Function{"zeroblob", blob},
};
static_assert(std::is_sorted(kTypedFunctions.begin(), kTypedFunctions.end(),
                             [](const Function& a, const Function& b) { return a.name < b.name; }));

const Function* find_function(std::string_view name) {
  const auto lower = to_lower(name);
  const auto* const found =
      std::lower_bound(kTypedFunctions.begin(), kTypedFunctions.end(), lower,
                       [](const Function& a, std::string_view wanted) { return a.name < wanted; });
  return found == kTypedFunctions.end() || found->name != lower ? nullptr : found;
}

}  // namespace

std::optional<ValueType> function_type(std::string_view name, Arguments arguments) {
  const auto* const found = find_function(name);
  return found == nullptr ? std::nullopt : std::optional(found->type(arguments));
}

bool takes_numbers(std::string_view name) {
  const auto* const found = find_function(name);
  if (found == nullptr) return false;
  return found->type == &real || found->type == &same_number || found->type == &sum || found->name == "max" ||
         found->name == "min" || found->name == "sign";
}

bool gives_argument(std::string_view name) {
  const auto* const found = find_function(name);
  return found != nullptr && (found->type == &first || found->type == &any_of || found->type == &second_or_third ||
                              found->type == &first_or_third);
}

}  // namespace eindb
