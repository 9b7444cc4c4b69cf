#include "engine/query/plan_key.hpp"

#include <cstring>
#include <type_traits>

#include "engine/plans/query_key.hpp"

namespace eindb {
namespace {

// Bytes that a key takes beside the query and the settings, mostly.
constexpr std::size_t kRoomForOthers = 64;

template <class Number>
void append(std::string& key, Number value) {
  static_assert(std::is_arithmetic_v<Number>);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  key.append(bytes, sizeof value);
}

void append(std::string& /*key*/, std::monostate /*null*/) {}

void append(std::string& key, std::complex<double> value) {
  append(key, value.real());
  append(key, value.imag());
}

void append(std::string& key, const std::string& text) {
  append(key, text.size());
  key += text;
}

void append(std::string& key, const std::vector<std::byte>& bytes) {
  append(key, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void append(std::string& key, const ResultRequest& request) {
  const auto& [dtype, stored, encoding, partitions, wanted, compare_strategies, for_workers, without_workers] = request;
  key += dtype ? static_cast<char>(*dtype) : '\xFF';
  key += stored ? '\1' : '\0';
  key += static_cast<char>(encoding);
  key += compare_strategies ? '\1' : '\0';
  key += for_workers ? '\1' : '\0';
  key += without_workers ? '\1' : '\0';
  append(key, partitions.size());
  for (const auto& partition : partitions) {
    append(key, partition ? partition->size() + 1 : 0);
    if (partition)
      for (const auto parts : *partition) append(key, parts);
  }
  append(key, wanted.size());
  for (const auto& name : wanted) append(key, name.text);
}

// Whether the plan may leave the value open. Complex numbers become two constants in an expression, and text and NULL
// are errors, so these are bound by value. So are indices in plans for workers, since they determine which workers are
// asked for tiles.
bool can_wait(const ParameterValue& value, ParameterUse use, const ResultRequest& request) {
  if (use == ParameterUse::Shape) return false;
  if (std::holds_alternative<std::int64_t>(value)) return use == ParameterUse::Number || !request.for_workers;
  return use == ParameterUse::Number && std::holds_alternative<double>(value);
}

}  // namespace

void append_value(std::string& key, const ParameterValue& value) {
  key += static_cast<char>(value.index());
  std::visit([&](const auto& given) { append(key, given); }, value);
}

PlanKey plan_key(const ast::Query& query, const SessionUser& user, const StatementContext& statement,
                 const ResultRequest& request) {
  const auto* known = statement.key_of_prepared(query);
  QueryKey made;
  if (known == nullptr) made = key_of(query);
  const auto& [text, parameters] = known != nullptr ? *known : made;
  PlanKey key;
  key.text.reserve(text.size() + user.settings.plan_fingerprint().size() + kRoomForOthers);
  key.text = text;
  append(key.text, request);
  key.text += user.settings.plan_fingerprint();
  if (user.settings.calibrated()) {
    // Settings at their defaults are chosen by the machine's figures, which may be measured anew.
    key.text += user.settings.parallelism_is_set() ? '\1' : '\0';
    key.text += user.settings.tile_bytes_is_set() ? '\1' : '\0';
    append(key.text, user.machine_version());
  } else if (request.for_workers && user.settings.small_statements() == SmallStatements::Here) {
    append(key.text, user.machine_version());  // says how long an exchange takes
  }
  for (const auto& [number, use] : parameters) {
    if (number == 0 || number > statement.parameters().size()) continue;  // the binder reports it
    const auto& value = statement.parameters()[number - 1];
    const bool deferred = can_wait(value, use, request);
    append(key.text, number);
    key.text += static_cast<char>(2 * value.index() + (deferred ? 1 : 0));
    if (deferred) key.deferred.insert(number);
    else std::visit([&](const auto& given) { append(key.text, given); }, value);
  }
  return key;
}

}  // namespace eindb
