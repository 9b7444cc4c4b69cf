#include "server/login/client_parameters.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/settings/settings.hpp"

namespace eindb {
namespace {

enum class Takes : std::uint8_t {
  Anything,  // any value, for the client's own use
  Words,     // one of several words, case-insensitive
  One,       // only the default
  Style,     // how dates and times are written: only the default, in any of its names
  Encoding,  // UTF8, or SQL_ASCII, which leaves the bytes as they are
  Switch,    // on or off, also true, false, yes, no, 1, 0
  Level,     // a level of isolation, all of which are kept by the strongest
  Time,      // milliseconds, or a duration with its unit; 0: none
  Nothing    // read-only: a property of the server
};

struct Parameter {
  std::string_view name;
  std::string_view value;  // the default
  Takes takes;
  bool reported;
  std::array<std::string_view, 3> words = {};
};

constexpr std::string_view kDefaultReadOnly = "default_transaction_read_only";

// The parameters that drivers set or read when they connect.
constexpr std::array kParameters{
    Parameter{"application_name", "", Takes::Anything, true},
    Parameter{"bytea_output", "hex", Takes::One, false},
    Parameter{"client_encoding", "UTF8", Takes::Encoding, true},
    Parameter{"check_function_bodies", "on", Takes::Switch, false},
    Parameter{"client_min_messages", "notice", Takes::Anything, false},
    Parameter{"DateStyle", "ISO, MDY", Takes::Style, true},
    Parameter{"default_table_access_method", "heap", Takes::One, false},
    Parameter{"default_tablespace", "", Takes::One, false},
    Parameter{"default_transaction_deferrable", "off", Takes::Switch, false},
    Parameter{"default_transaction_isolation", "serializable", Takes::Level, false},
    Parameter{kDefaultReadOnly, "off", Takes::Switch, true},
    Parameter{"escape_string_warning", "on", Takes::Switch, false},
    Parameter{"extra_float_digits", "1", Takes::Anything, false},
    Parameter{"idle_in_transaction_session_timeout", "0", Takes::Time, false},
    Parameter{"idle_session_timeout", "0", Takes::Time, false},
    Parameter{"in_hot_standby", "off", Takes::Nothing, true},
    Parameter{"integer_datetimes", "on", Takes::Nothing, true},
    Parameter{"IntervalStyle", "postgres", Takes::Style, true},
    Parameter{"is_superuser", "off", Takes::Nothing, true},
    Parameter{"lock_timeout", "0", Takes::Anything, false},
    Parameter{"max_identifier_length", "63", Takes::Nothing, false},
    Parameter{"max_prepared_transactions", "0", Takes::Nothing, false},
    Parameter{"password_encryption", "scram-sha-256", Takes::One, false},
    Parameter{"progress_notices", "off", Takes::Words, false, {"on", "off"}},
    Parameter{"result_format", "rows", Takes::Words, false, {"rows", "array", "npy"}},
    Parameter{"row_security", "off", Takes::Anything, false},
    Parameter{"search_path", "public", Takes::Anything, false},
    Parameter{"server_encoding", "UTF8", Takes::Nothing, true},
    Parameter{"server_version", "15.0", Takes::Nothing, true},
    Parameter{"server_version_num", "150000", Takes::Nothing, false},
    Parameter{"session_authorization", "", Takes::Nothing, true},
    Parameter{"standard_conforming_strings", "on", Takes::One, true},
    Parameter{"synchronize_seqscans", "on", Takes::Anything, false},
    Parameter{"TimeZone", "Etc/UTC", Takes::Style, true},
    Parameter{kTransactionDeferrable, "off", Takes::Switch, false},
    Parameter{kTransactionIsolation, "serializable", Takes::Level, false},
    Parameter{kTransactionReadOnly, "off", Takes::Switch, false},
    Parameter{"xmloption", "content", Takes::Anything, false},
};

const Parameter* find_parameter(std::string_view name) {
  const auto* const found = std::find_if(kParameters.begin(), kParameters.end(), [&](const Parameter& parameter) {
    return equal_ignoring_case(parameter.name, name);
  });
  return found == kParameters.end() ? nullptr : found;
}

const Parameter& known_parameter(std::string_view name) {
  const auto* const found = find_parameter(name);
  CHECK(found != nullptr, "a parameter is one that is known");
  return *found;
}

// About 25 days, as in PostgreSQL.
constexpr std::int64_t kMostMilliseconds = std::numeric_limits<std::int32_t>::max();

std::chrono::milliseconds parse_time(const Parameter& parameter, std::string_view value) {
  const auto time = parse_duration_ms(std::string(value));
  if (time && *time <= kMostMilliseconds) return std::chrono::milliseconds(*time);
  throw Error(ErrorKind::Value, std::string(parameter.name) + " cannot be '" + std::string(value) + "'", std::nullopt,
              "it takes milliseconds, or a duration as in '30s'");
}

// The time in its largest unit that gives an integer.
std::string format_time(std::chrono::milliseconds time) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{3'600'000, "h"}, {60'000, "min"}, {1000, "s"}, {1, "ms"}}};
  DCHECK(time >= time.zero(), "a time is not negative");
  if (time == time.zero()) return "0";
  const auto* const unit =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& each) { return time.count() % each.first == 0; });
  return std::to_string(time.count() / unit->first) + unit->second;
}

// The time of a timeout parameter.
std::chrono::milliseconds& time_of(const Parameter& parameter, IdleTimes& idle) {
  DCHECK(parameter.takes == Takes::Time, "a time is that of a parameter that takes one");
  return parameter.name == "idle_session_timeout" ? idle.session : idle.in_transaction;
}

// The letters and digits of an encoding's name. Some clients include quotes in the value.
std::string encoding_name(std::string_view value) {
  auto name = to_lower(value);
  std::erase_if(name, [](char c) { return c == '\'' || c == '-' || c == '_'; });
  return name;
}

bool names_utf8(std::string_view value) {
  const auto name = encoding_name(value);
  return name == "utf8" || name == "unicode";
}

bool is_sql_ascii(std::string_view value) { return encoding_name(value) == "sqlascii"; }

void check_word(const Parameter& parameter, std::string_view value) {
  std::string known;
  for (const auto word : parameter.words) {
    if (word.empty()) break;
    if (equal_ignoring_case(word, value)) return;
    known += (known.empty() ? "'" : ", '") + std::string(word) + "'";
  }
  throw Error(ErrorKind::Value, std::string(parameter.name) + " cannot be '" + std::string(value) + "'", std::nullopt,
              "it is one of " + known);
}

/// Whether the value means the only way in which the server reads and writes dates and times.
bool is_own_style(const Parameter& parameter, std::string_view value) {
  auto words = to_lower(value);
  std::erase_if(words, [](char c) { return c == ' ' || c == '\''; });
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), words) != names.end();
  };
  if (parameter.name == "DateStyle") return is_one_of({"iso", "iso,mdy", "mdy,iso", "iso,us", "mdy", "us"});
  if (parameter.name == "IntervalStyle") return words == "postgres";
  return is_one_of({"utc", "etc/utc", "gmt", "etc/gmt", "gmt0", "uct", "zulu", "z", "0", "+0", "+00", "+00:00"});
}

void check(const Parameter& parameter, std::string_view value) {
  const std::string name(parameter.name);
  if (parameter.takes == Takes::Nothing)
    throw Error(ErrorKind::Value, "the parameter " + name + " cannot be changed", std::nullopt,
                "SHOW " + name + " tells it");
  if (parameter.takes == Takes::Anything || parameter.takes == Takes::Time) return;
  if (equal_ignoring_case(parameter.value, value)) return;
  if (parameter.takes == Takes::Style) {
    if (is_own_style(parameter, value)) return;
    throw Error(ErrorKind::Unsupported, name + " cannot be '" + std::string(value) + "'", std::nullopt,
                "dates and times are those of UTC, in ISO format: the client converts them");
  }
  if (parameter.takes == Takes::Words) return check_word(parameter, value);
  if (parameter.takes == Takes::Switch) return static_cast<void>(parse_switch(name, value));
  if (parameter.takes == Takes::Level) return static_cast<void>(parse_isolation(name, value));
  if (parameter.takes == Takes::Encoding && (names_utf8(value) || is_sql_ascii(value))) return;
  throw Error(ErrorKind::Value, name + " cannot be '" + std::string(value) + "'", std::nullopt,
              name + " is always " + std::string(parameter.value));
}

}  // namespace

bool parse_switch(const std::string& name, std::string_view value) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](auto word) { return equal_ignoring_case(word, value); });
  };
  if (is_one_of({"on", "true", "yes", "1", "t", "y"})) return true;
  if (is_one_of({"off", "false", "no", "0", "f", "n"})) return false;
  throw Error(ErrorKind::Value, name + " cannot be '" + std::string(value) + "'", std::nullopt, "it is on or off");
}

std::string parse_isolation(const std::string& name, std::string_view value) {
  constexpr std::array<std::string_view, 4> kLevels{"serializable", "repeatable read", "read committed",
                                                    "read uncommitted"};
  if (std::any_of(kLevels.begin(), kLevels.end(), [&](auto level) { return equal_ignoring_case(level, value); }))
    return to_lower(value);
  throw Error(ErrorKind::Value, name + " cannot be '" + std::string(value) + "'", std::nullopt,
              "it is serializable, and takes the names of weaker levels as well");
}

bool ClientParameters::knows(std::string_view name) { return find_parameter(name) != nullptr; }

bool ClientParameters::is_other_style(std::string_view name, std::string_view value) {
  const auto& parameter = known_parameter(name);
  return parameter.takes == Takes::Style && !is_own_style(parameter, value);
}

bool ClientParameters::set(std::string_view name, std::string_view value) {
  const auto& parameter = known_parameter(name);
  check(parameter, value);
  if (parameter.takes == Takes::Time) time_of(parameter, idle_) = parse_time(parameter, value);
  if (parameter.takes == Takes::Anything || parameter.takes == Takes::Style)
    values_.insert_or_assign(to_lower(name), std::string(value));
  if (parameter.takes == Takes::Words) values_.insert_or_assign(to_lower(name), to_lower(value));
  if (parameter.takes == Takes::Level) values_.insert_or_assign(to_lower(name), to_lower(value));
  if (parameter.takes == Takes::Encoding)
    values_.insert_or_assign(to_lower(name), is_sql_ascii(value) ? "SQL_ASCII" : std::string(parameter.value));
  if (parameter.takes == Takes::Switch) set_switch(parameter.name, parse_switch(std::string(name), value));
  return parameter.reported;
}

bool ClientParameters::reset(std::string_view name) {
  const auto& parameter = known_parameter(name);
  values_.erase(to_lower(name));
  if (parameter.name == kDefaultReadOnly) is_read_only_ = false;
  if (parameter.takes == Takes::Time) time_of(parameter, idle_) = time_of(parameter, default_idle_);
  return parameter.reported;
}

void ClientParameters::set_switch(std::string_view name, bool on) {
  if (name == kDefaultReadOnly) is_read_only_ = on;
  values_.insert_or_assign(to_lower(name), on ? "on" : "off");
}

void ClientParameters::reset_all() {
  values_.clear();
  is_read_only_ = false;
  idle_ = default_idle_;
}

std::string ClientParameters::show(std::string_view name) const {
  const auto& parameter = known_parameter(name);
  if (parameter.takes == Takes::Time) {
    auto idle = idle_;
    return format_time(time_of(parameter, idle));
  }
  if (parameter.name == kTransactionReadOnly) return transaction_read_only() ? "on" : "off";
  if (parameter.name == kTransactionDeferrable)
    return transaction_.deferrable ? (*transaction_.deferrable ? "on" : "off") : show("default_transaction_deferrable");
  if (parameter.name == kTransactionIsolation)
    return transaction_.isolation ? *transaction_.isolation : show("default_transaction_isolation");
  const auto found = values_.find(to_lower(name));
  return found == values_.end() ? std::string(parameter.value) : found->second;
}

std::string ClientParameters::application_name() const { return show("application_name"); }

ResultFormat ClientParameters::result_format() const {
  const auto format = parse_result_format(show("result_format"));
  CHECK(format.has_value(), "a parameter has a value that it takes");
  return *format;
}

bool ClientParameters::progress_notices() const { return show("progress_notices") == "on"; }

std::map<std::string, std::string> ClientParameters::all() const {
  std::map<std::string, std::string> values;
  for (const auto& parameter : kParameters) values.emplace(to_lower(parameter.name), show(parameter.name));
  return values;
}

std::vector<ClientParameters::Entry> ClientParameters::reported() const {
  std::vector<Entry> entries;
  for (const auto& parameter : kParameters)
    if (parameter.reported) entries.emplace_back(parameter.name, show(parameter.name));
  return entries;
}

}  // namespace eindb
