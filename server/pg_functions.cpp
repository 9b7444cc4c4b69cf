#include "server/pg_functions.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "server/array_text.hpp"
#include "server/declared_type.hpp"
#include "server/dialect_lexer.hpp"
#include "server/timestamp.hpp"

namespace eindb {
namespace {

using Values = std::span<const SqliteValue>;
using Identity = std::shared_ptr<const ClientIdentity>;

constexpr SqliteValue kNull{};

bool is_null(const SqliteValue& value) { return std::holds_alternative<std::monostate>(value); }

SqliteValue integer(std::int64_t value) { return value; }
SqliteValue truth(bool value) { return std::int64_t{value ? 1 : 0}; }

/// As SQLite would cast it; bytes are taken for characters.
std::string text_of(const SqliteValue& value) {
  struct ToText {
    std::string operator()(std::monostate) const { return {}; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return nlohmann::json(number).dump(); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(const std::vector<std::byte>& bytes) const {
      return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }
  };
  return std::visit(ToText{}, value);
}

std::int64_t integer_of(const SqliteValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value))
    return std::abs(*real) < 9e18 ? static_cast<std::int64_t>(*real) : 0;
  const auto text = text_of(value);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool any_null(Values values) { return std::any_of(values.begin(), values.end(), is_null); }

// ---- Regular expressions -------------------------------------------------------------------------------------------

/// Patterns of clients run in linear time and little memory, whatever they are. The last one is kept compiled.
class Patterns {
 public:
  const RE2& get(const std::string& pattern, bool any_case) {
    if (!compiled_ || pattern_ != pattern || any_case_ != any_case) {
      RE2::Options options(RE2::Quiet);
      options.set_case_sensitive(!any_case);
      options.set_max_mem(kMostMemory);
      compiled_ = std::make_unique<RE2>(pattern, options);
      pattern_ = pattern;
      any_case_ = any_case;
    }
    if (!compiled_->ok()) throw Error(ErrorKind::Value, "invalid regular expression: " + compiled_->error());
    return *compiled_;
  }

 private:
  static constexpr std::int64_t kMostMemory = 1 << 20;
  std::unique_ptr<RE2> compiled_;
  std::string pattern_;
  bool any_case_ = false;
};

SqlFunction::Body regexp_match() {
  return [patterns = std::make_shared<Patterns>()](Values values) -> SqliteValue {
    if (any_null(values)) return kNull;
    return truth(RE2::PartialMatch(text_of(values[1]), patterns->get(text_of(values[0]), false)));
  };
}

SqlFunction::Body regexp_replace() {
  return [patterns = std::make_shared<Patterns>()](Values values) -> SqliteValue {
    if (any_null(values) || values.size() < 3) return kNull;
    const auto flags = values.size() > 3 ? text_of(values[3]) : std::string();
    const auto& pattern = patterns->get(text_of(values[1]), flags.find('i') != std::string::npos);
    auto text = text_of(values[0]);
    const auto with = text_of(values[2]);
    if (flags.find('g') != std::string::npos) RE2::GlobalReplace(&text, pattern, with);
    else RE2::Replace(&text, pattern, with);
    return text;
  };
}

// ---- Arrays --------------------------------------------------------------------------------------------------------

constexpr std::int64_t kLongestSeries = 1'000'000;

std::optional<std::string> element_of(const SqliteValue& value) {
  if (is_null(value)) return std::nullopt;
  return text_of(value);
}

SqliteValue array_of_values(Values values) {
  ArrayElements elements;
  for (const auto& value : values) elements.push_back(element_of(value));
  return write_array(elements);
}

SqliteValue array_of_json(Values values) {
  const auto json = nlohmann::json::parse(text_of(values[0]), nullptr, false);
  if (!json.is_array()) return kNull;
  ArrayElements elements;
  for (const auto& element : json) {
    if (element.is_null()) elements.emplace_back();
    else elements.emplace_back(element.is_string() ? element.get<std::string>() : element.dump());
  }
  return write_array(elements);
}

/// Integers as integers, so that they equal those of columns without a type.
nlohmann::json json_of(const std::optional<std::string>& element) {
  if (!element) return nullptr;
  std::int64_t number = 0;
  const auto* const end = element->data() + element->size();
  const auto [stop, error] = std::from_chars(element->data(), end, number);
  if (error == std::errc() && stop == end) return number;
  return *element;
}

SqliteValue json_of_array(Values values) {
  if (is_null(values[0])) return kNull;
  auto json = nlohmann::json::array();
  for (const auto& element : read_array(text_of(values[0]))) json.push_back(json_of(element));
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SqliteValue series(Values values) {
  if (any_null(values)) return kNull;
  const auto first = integer_of(values[0]);
  const auto last = integer_of(values[1]);
  const auto step = values.size() > 2 ? integer_of(values[2]) : 1;
  if (step == 0) throw Error(ErrorKind::Value, "the step of generate_series is 0");
  const auto span = static_cast<double>(last) - static_cast<double>(first);
  if (span / static_cast<double>(step) > static_cast<double>(kLongestSeries))
    throw Error(ErrorKind::Unsupported, "generate_series of more than a million numbers");
  auto json = nlohmann::json::array();
  for (auto n = first; step > 0 ? n <= last : n >= last;) {
    json.push_back(n);
    if (__builtin_add_overflow(n, step, &n)) break;
  }
  return json.dump();
}

SqliteValue array_get(Values values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto elements = read_array(text);
  const auto at = integer_of(values[1]) - (is_vector(text) ? 0 : 1);
  if (at < 0 || at >= static_cast<std::int64_t>(elements.size())) return kNull;
  const auto& element = elements[static_cast<std::size_t>(at)];
  const auto json = json_of(element);
  if (json.is_number()) return json.get<std::int64_t>();
  return element ? SqliteValue(*element) : kNull;
}

SqliteValue array_to_string(Values values) {
  if (values.size() < 2 || is_null(values[0]) || is_null(values[1])) return kNull;
  std::string out;
  bool first = true;
  for (const auto& element : read_array(text_of(values[0]))) {
    if (!element && (values.size() < 3 || is_null(values[2]))) continue;
    if (!std::exchange(first, false)) out += text_of(values[1]);
    out += element ? *element : text_of(values[2]);
  }
  return out;
}

SqliteValue string_to_array(Values values) {
  if (any_null(values) || values.size() < 2) return kNull;
  const auto text = text_of(values[0]);
  const auto separator = text_of(values[1]);
  ArrayElements elements;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const auto end = separator.empty() ? text.size() : std::min(text.find(separator, begin), text.size());
    elements.emplace_back(text.substr(begin, end - begin));
    begin = end + std::max<std::size_t>(separator.size(), 1);
  }
  return write_array(elements);
}

/// Also array_upper: what counts here counts from 1.
SqliteValue array_length(Values values) {
  if (is_null(values[0])) return kNull;
  const auto count = read_array(text_of(values[0])).size();
  return count == 0 && values.size() > 1 ? kNull : integer(static_cast<std::int64_t>(count));
}

SqliteValue array_lower(Values values) {
  return is_null(values[0]) || read_array(text_of(values[0])).empty() ? kNull : integer(1);
}

SqliteValue array_position(Values values) {
  if (values.size() < 2 || is_null(values[0])) return kNull;
  const auto elements = read_array(text_of(values[0]));
  const auto found = std::find(elements.begin(), elements.end(), element_of(values[1]));
  return found == elements.end() ? kNull : integer(found - elements.begin() + 1);
}

SqliteValue array_remove(Values values) {
  if (is_null(values[0])) return kNull;
  auto elements = read_array(text_of(values[0]));
  std::erase(elements, element_of(values[1]));
  return write_array(elements);
}

SqliteValue array_append(Values values) {
  auto elements = read_array(is_null(values[0]) ? "{}" : text_of(values[0]));
  elements.push_back(element_of(values[1]));
  return write_array(elements);
}

// ---- Text and numbers ----------------------------------------------------------------------------------------------

SqliteValue quote_ident(Values values) {
  if (is_null(values[0])) return kNull;
  const auto name = text_of(values[0]);
  const bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789") == std::string::npos;
  if (plain) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

SqliteValue quote_literal(Values values) { return is_null(values[0]) ? kNull : quote_string(text_of(values[0])); }
SqliteValue quote_nullable(Values values) { return is_null(values[0]) ? "NULL" : quote_string(text_of(values[0])); }

SqliteValue concat(Values values) {
  std::string out;
  for (const auto& value : values) out += text_of(value);
  return out;
}

/// trim(side characters from text), characters may be missing: spaces.
SqliteValue trim_side(Values values) {
  if (any_null(values) || values.size() < 2) return kNull;
  const auto side = text_of(values[0]);
  const auto characters = values.size() > 2 ? text_of(values[1]) : " ";
  auto text = text_of(values.back());
  if (side != "trailing") text.erase(0, std::min(text.find_first_not_of(characters), text.size()));
  if (side != "leading") text.erase(text.find_last_not_of(characters) + 1);
  return text;
}

SqliteValue btrim(Values values) {
  const SqliteValue side = std::string("both");
  const SqliteValue characters = values.size() > 1 ? values[1] : std::string(" ");
  return trim_side(std::array{side, characters, values[0]});
}

/// Where a text is cut so that `count` characters are on its left; counted from the end if negative.
std::size_t cut_after(std::string_view text, std::int64_t count) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) starts.push_back(i);
  const auto size = static_cast<std::int64_t>(starts.size());
  const auto at = std::clamp(count < 0 ? count + size : count, std::int64_t{0}, size);
  return at == size ? text.size() : starts[static_cast<std::size_t>(at)];
}

SqliteValue left(Values values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  return text.substr(0, cut_after(text, integer_of(values[1])));
}

SqliteValue right(Values values) {
  if (any_null(values)) return kNull;
  const auto text = text_of(values[0]);
  const auto count = integer_of(values[1]);
  return count == 0 ? std::string() : text.substr(cut_after(text, -count));
}

SqliteValue strpos(Values values) {
  if (any_null(values)) return kNull;
  const auto at = text_of(values[0]).find(text_of(values[1]));
  return integer(at == std::string::npos ? 0 : static_cast<std::int64_t>(at) + 1);
}

SqliteValue starts_with(Values values) {
  return any_null(values) ? kNull : truth(text_of(values[0]).starts_with(text_of(values[1])));
}

SqliteValue split_part(Values values) {
  const auto parts = string_to_array(values.first(2));
  if (is_null(parts) || is_null(values[2])) return kNull;
  const auto part = array_get(std::array<SqliteValue, 2>{parts, values[2]});
  return is_null(part) ? SqliteValue(std::string()) : SqliteValue(text_of(part));
}

SqliteValue size_pretty(Values values) {
  if (is_null(values[0])) return kNull;
  constexpr std::array<std::string_view, 6> kUnits{" bytes", " kB", " MB", " GB", " TB", " PB"};
  constexpr std::int64_t kLargest = 10240;
  auto size = integer_of(values[0]);
  std::size_t unit = 0;
  for (; size >= kLargest && unit + 1 < kUnits.size(); ++unit) size = (size + 512) / 1024;
  return std::to_string(size).append(kUnits[unit]);
}

SqliteValue to_bool(Values values) {
  if (is_null(values[0])) return kNull;
  if (!std::holds_alternative<std::string>(values[0])) return truth(integer_of(values[0]) != 0);
  const auto text = to_lower(text_of(values[0]));
  if (text == "t" || text == "true" || text == "on" || text == "yes" || text == "y" || text == "1") return truth(true);
  if (text == "f" || text == "false" || text == "off" || text == "no" || text == "n" || text == "0")
    return truth(false);
  throw Error(ErrorKind::Value, "invalid input for type boolean: " + text);
}

/// \x6869 or the bytes themselves.
SqliteValue to_bytea(Values values) {
  if (is_null(values[0])) return kNull;
  const auto text = text_of(values[0]);
  std::vector<std::byte> bytes;
  if (!text.starts_with("\\x")) {
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
  }
  for (std::size_t i = 2; i < text.size(); i += 2) {
    unsigned value = 0;
    const auto* const end = text.data() + std::min(i + 2, text.size());
    const auto [stop, error] = std::from_chars(text.data() + i, end, value, 16);
    if (error != std::errc() || stop != text.data() + i + 2)
      throw Error(ErrorKind::Value, "invalid hexadecimal digits for type bytea");
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

/// public."My table" -> My table
SqliteValue plain_name(Values values) {
  if (is_null(values[0])) return kNull;
  const auto name = text_of(values[0]);
  if (name.size() < 2 || name.back() != '"') return name.substr(name.rfind('.') + 1);
  const auto open = name.rfind('"', name.size() - 2);
  return open == std::string::npos ? name : name.substr(open + 1, name.size() - open - 2);
}

/// 'pg_catalog.array_in'::regproc: the name without the schema.
SqliteValue to_regproc(Values values) {
  if (is_null(values[0])) return kNull;
  auto name = text_of(values[0]);
  if (name.starts_with("pg_catalog.")) name.erase(0, std::string_view("pg_catalog.").size());
  return name;
}

SqliteValue now(Values) { return timestamp_text(std::chrono::system_clock::now()); }

SqliteValue encoding_name(Values values) {
  constexpr std::int64_t kUtf8 = 6;
  return std::string(integer_of(values[0]) == kUtf8 ? "UTF8" : "");
}

/// parse_ident('public."My table"'): {public,"My table"}
SqliteValue parse_ident(Values values) {
  if (is_null(values[0])) return kNull;
  ArrayElements parts;
  const auto text = text_of(values[0]);
  DialectLexer lexer(text);
  for (auto token = lexer.next(); !token.is(DialectToken::Kind::End); token = lexer.next()) {
    if (token.is(DialectToken::Kind::QuotedName)) parts.emplace_back(token.text.substr(1, token.text.size() - 2));
    else if (token.is(DialectToken::Kind::Word)) parts.emplace_back(to_lower(token.text));
    if (token.is(DialectToken::Kind::Unterminated)) return kNull;
  }
  return write_array(parts);
}

SqliteValue type_oid(Values values) {
  return integer(static_cast<std::int32_t>(declared_data_type(text_of(values[0]))));
}
SqliteValue null_value(Values) { return kNull; }
SqliteValue true_value(Values) { return truth(true); }
SqliteValue false_value(Values) { return truth(false); }
SqliteValue zero(Values) { return integer(0); }
SqliteValue first_argument(Values values) { return values.empty() ? kNull : values[0]; }
SqliteValue second_argument(Values values) { return values.size() < 2 ? kNull : values[1]; }
SqliteValue array_of_one(Values values) { return is_null(values[0]) ? kNull : array_of_values(values.first(1)); }
SqliteValue version(Values) { return std::string("PostgreSQL 15.0 (eindb)"); }
SqliteValue current_schema(Values) { return std::string("public"); }
SqliteValue current_schemas(Values values) {
  return std::string(is_null(values[0]) || integer_of(values[0]) == 0 ? "{public}" : "{pg_catalog,public}");
}

struct PlainFunction {
  const char* name;
  int arguments;
  SqliteValue (*body)(Values);
};

constexpr std::array kFunctions{
    // What translate_dialect writes.
    PlainFunction{"eindb_type_oid", 1, &type_oid},
    PlainFunction{"pg_array", -1, &array_of_values},
    PlainFunction{"pg_array_get", 2, &array_get},
    PlainFunction{"pg_array_json", 1, &json_of_array},
    PlainFunction{"pg_array_of_json", 1, &array_of_json},
    PlainFunction{"pg_bool", 1, &to_bool},
    PlainFunction{"pg_bytea", 1, &to_bytea},
    PlainFunction{"pg_left", 2, &left},
    PlainFunction{"pg_right", 2, &right},
    PlainFunction{"pg_series", 2, &series},
    PlainFunction{"pg_series", 3, &series},
    PlainFunction{"pg_trim", -1, &trim_side},
    PlainFunction{"pg_plain_name", 1, &plain_name},
    PlainFunction{"regproc", 1, &to_regproc},
    // PostgreSQL's own.
    PlainFunction{"array_append", 2, &array_append},
    PlainFunction{"array_length", 2, &array_length},
    PlainFunction{"array_lower", 2, &array_lower},
    PlainFunction{"array_position", 2, &array_position},
    PlainFunction{"array_remove", 2, &array_remove},
    PlainFunction{"array_to_string", -1, &array_to_string},
    PlainFunction{"array_upper", 2, &array_length},
    PlainFunction{"btrim", 1, &btrim},
    PlainFunction{"btrim", 2, &btrim},
    PlainFunction{"cardinality", 1, &array_length},
    PlainFunction{"col_description", 2, &null_value},
    PlainFunction{"concat", -1, &concat},
    PlainFunction{"current_schema", 0, &current_schema},
    PlainFunction{"current_schemas", 1, &current_schemas},
    PlainFunction{"has_any_column_privilege", -1, &true_value},
    PlainFunction{"has_column_privilege", -1, &true_value},
    PlainFunction{"has_database_privilege", -1, &true_value},
    PlainFunction{"has_function_privilege", -1, &true_value},
    PlainFunction{"has_schema_privilege", -1, &true_value},
    PlainFunction{"has_sequence_privilege", -1, &true_value},
    PlainFunction{"has_table_privilege", -1, &true_value},
    PlainFunction{"has_type_privilege", -1, &true_value},
    PlainFunction{"inet_client_addr", 0, &null_value},
    PlainFunction{"inet_client_port", 0, &null_value},
    PlainFunction{"inet_server_addr", 0, &null_value},
    PlainFunction{"inet_server_port", 0, &null_value},
    PlainFunction{"obj_description", -1, &null_value},
    PlainFunction{"parse_ident", -1, &parse_ident},
    PlainFunction{"pg_advisory_lock", -1, &null_value},
    PlainFunction{"pg_advisory_unlock", -1, &true_value},
    PlainFunction{"pg_advisory_unlock_all", 0, &null_value},
    PlainFunction{"pg_collation_is_visible", 1, &true_value},
    PlainFunction{"pg_encoding_to_char", 1, &encoding_name},
    PlainFunction{"pg_function_is_visible", 1, &true_value},
    PlainFunction{"pg_get_expr", -1, &first_argument},
    PlainFunction{"pg_get_function_sqlbody", 1, &null_value},
    PlainFunction{"pg_get_partkeydef", 1, &null_value},
    PlainFunction{"pg_get_ruledef", -1, &null_value},
    PlainFunction{"pg_get_serial_sequence", 2, &null_value},
    PlainFunction{"pg_get_statisticsobjdef_columns", 1, &null_value},
    PlainFunction{"pg_has_role", -1, &true_value},
    PlainFunction{"pg_is_in_recovery", 0, &false_value},
    PlainFunction{"pg_is_other_temp_schema", 1, &false_value},
    PlainFunction{"pg_my_temp_schema", 0, &zero},
    PlainFunction{"pg_opclass_is_visible", 1, &true_value},
    PlainFunction{"pg_operator_is_visible", 1, &true_value},
    PlainFunction{"pg_partition_ancestors", 1, &array_of_one},
    PlainFunction{"pg_relation_is_publishable", 1, &false_value},
    PlainFunction{"pg_size_pretty", 1, &size_pretty},
    PlainFunction{"pg_stat_get_numscans", 1, &zero},
    PlainFunction{"pg_statistics_obj_is_visible", 1, &true_value},
    PlainFunction{"pg_table_is_visible", 1, &true_value},
    PlainFunction{"pg_tablespace_location", 1, &null_value},
    PlainFunction{"pg_try_advisory_lock", -1, &true_value},
    PlainFunction{"pg_type_is_visible", 1, &true_value},
    PlainFunction{"quote_ident", 1, &quote_ident},
    PlainFunction{"quote_literal", 1, &quote_literal},
    PlainFunction{"quote_nullable", 1, &quote_nullable},
    PlainFunction{"row_security_active", 1, &false_value},
    PlainFunction{"set_config", 3, &second_argument},
    PlainFunction{"shobj_description", 2, &null_value},
    PlainFunction{"split_part", 3, &split_part},
    PlainFunction{"starts_with", 2, &starts_with},
    PlainFunction{"string_to_array", 2, &string_to_array},
    PlainFunction{"strpos", 2, &strpos},
    PlainFunction{"version", 0, &version},
};

constexpr std::array kVolatileFunctions{
    PlainFunction{"clock_timestamp", 0, &now},     PlainFunction{"now", 0, &now},
    PlainFunction{"pg_conf_load_time", 0, &now},   PlainFunction{"pg_postmaster_start_time", 0, &now},
    PlainFunction{"statement_timestamp", 0, &now}, PlainFunction{"transaction_timestamp", 0, &now},
};

/// What clients ask for and the server does not tell of.
const std::map<std::string, std::string>& default_settings() {
  static const std::map<std::string, std::string> kSettings{{"client_encoding", "UTF8"},
                                                            {"datestyle", "ISO, MDY"},
                                                            {"default_transaction_isolation", "serializable"},
                                                            {"default_transaction_read_only", "off"},
                                                            {"extra_float_digits", "1"},
                                                            {"integer_datetimes", "on"},
                                                            {"intervalstyle", "postgres"},
                                                            {"is_superuser", "off"},
                                                            {"jit", "off"},
                                                            {"max_identifier_length", "63"},
                                                            {"max_index_keys", "32"},
                                                            {"search_path", "\"$user\", public"},
                                                            {"server_encoding", "UTF8"},
                                                            {"server_version", "15.0"},
                                                            {"server_version_num", "150000"},
                                                            {"standard_conforming_strings", "on"},
                                                            {"timezone", "UTC"},
                                                            {"transaction_isolation", "serializable"},
                                                            {"transaction_read_only", "off"}};
  return kSettings;
}

/// current_setting(name [, missing_ok])
SqliteValue current_setting(const ClientIdentity& client, Values values) {
  if (values.empty() || is_null(values[0])) return kNull;
  const auto name = to_lower(text_of(values[0]));
  for (const auto* settings : {&client.settings, &default_settings()})
    if (const auto found = settings->find(name); found != settings->end()) return found->second;
  if (values.size() > 1 && integer_of(values[1]) != 0) return kNull;
  throw Error(ErrorKind::UnknownName, "unrecognized configuration parameter \"" + name + "\"");
}

SqliteValue all_settings(const ClientIdentity& client) {
  auto all = client.settings;
  all.insert(default_settings().begin(), default_settings().end());
  return nlohmann::json(all).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Those that tell of the client.
void add_identity_functions(std::vector<SqlFunction>& functions, const Identity& client) {
  const auto add = [&](const char* name, int arguments, SqlFunction::Body body) {
    functions.push_back({.name = name, .arguments = arguments, .body = std::move(body), .deterministic = false});
  };
  for (const char* name : {"current_user", "session_user", "current_role"})
    add(name, 0, [client](Values) -> SqliteValue { return client->user; });
  for (const char* name : {"current_database", "current_catalog"})
    add(name, 0, [client](Values) -> SqliteValue { return client->database; });
  add("pg_backend_pid", 0, [client](Values) -> SqliteValue { return std::int64_t{client->process_id}; });
  add("current_setting", -1, [client](Values values) { return current_setting(*client, values); });
  add("pg_settings_json", 0, [client](Values) { return all_settings(*client); });
  for (const char* name : {"txid_current", "pg_current_xact_id"})
    add(name, 0, [client](Values) -> SqliteValue { return std::int64_t{client->process_id}; });
}

}  // namespace

std::vector<SqlFunction> pg_functions(const std::shared_ptr<const ClientIdentity>& client) {
  std::vector<SqlFunction> functions;
  for (const auto& [name, arguments, body] : kFunctions)
    functions.push_back({.name = name, .arguments = arguments, .body = SqlFunction::Body(body), .deterministic = true});
  for (const auto& [name, arguments, body] : kVolatileFunctions)
    functions.push_back(
        {.name = name, .arguments = arguments, .body = SqlFunction::Body(body), .deterministic = false});
  functions.push_back({.name = "regexp", .arguments = 2, .body = regexp_match(), .deterministic = true});
  for (const int arguments : {3, 4})
    functions.push_back(
        {.name = "regexp_replace", .arguments = arguments, .body = regexp_replace(), .deterministic = true});
  add_identity_functions(functions, client);
  return functions;
}

}  // namespace eindb
