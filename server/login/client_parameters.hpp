#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/sessions/client_limits.hpp"
#include "server/values/result_format.hpp"

namespace eindb {

/// The names of the parameters that are the modes of the current transaction.
inline constexpr std::string_view kTransactionReadOnly = "transaction_read_only";
inline constexpr std::string_view kTransactionDeferrable = "transaction_deferrable";
inline constexpr std::string_view kTransactionIsolation = "transaction_isolation";

/// The modes that a transaction is begun with; nullopt: as the parameters for all transactions say. All levels of
/// isolation are kept by the one that eindb has, and a transaction that may be deferred need not be.
struct TransactionModes {
  std::optional<bool> read_only = {};
  std::optional<bool> deferrable = {};
  std::optional<std::string> isolation = {};  ///< "read committed"
};

/// Whether the value of a parameter that is on or off is on. Error{Value} for any other value.
bool parse_switch(const std::string& name, std::string_view value);

/// A level of isolation in lower case. Error{Value} if it is none.
std::string parse_isolation(const std::string& name, std::string_view value);

/// The parameters of one client that PostgreSQL's clients set and read, such as client_encoding and DateStyle, the
/// formats of answers, and the limits on idle time. They are set by SET and by startup messages. Names are
/// case-insensitive. A parameter for fixed behaviour of eindb has one valid value. Not thread-safe.
class ClientParameters {
 public:
  /// A parameter and its displayed value.
  using Entry = std::pair<std::string, std::string>;

  /// `idle`: the defaults of idle_session_timeout and idle_in_transaction_session_timeout.
  explicit ClientParameters(IdleTimes idle = {}) : default_idle_(idle), idle_(idle) {}

  /// Whether there is a parameter of this name. Settings of the engine have other names.
  static bool knows(std::string_view name);
  /// Whether the value asks for dates and times in another zone or form than the server's. The parameter must exist.
  static bool is_other_style(std::string_view name, std::string_view value);
  /// Error{Value} for an invalid value, Error{Unsupported} for another style of dates and times. Returns true if the
  /// client must be told of the change (ParameterStatus).
  bool set(std::string_view name, std::string_view value);
  bool reset(std::string_view name);
  void reset_all();
  /// The value. The parameter must exist.
  std::string show(std::string_view name) const;
  /// The name that the client's program gives itself; empty: none.
  std::string application_name() const;
  /// The form of tensors in results: the parameter result_format.
  ResultFormat result_format() const;
  /// Whether the current transaction, or the next one, is READ ONLY: the parameter transaction_read_only.
  bool transaction_read_only() const { return transaction_.read_only.value_or(is_read_only_); }
  /// The modes of the current transaction, or of the next one.
  const TransactionModes& transaction() const { return transaction_; }
  void set_transaction(TransactionModes modes) { transaction_ = std::move(modes); }
  /// Whether the client wants progress reports of long statements.
  bool progress_notices() const;
  /// All parameters by name in lower case.
  std::map<std::string, std::string> all() const;
  /// The values of idle_session_timeout and idle_in_transaction_session_timeout.
  const IdleTimes& idle() const { return idle_; }
  /// The parameters that clients are told at the beginning of a session, with their spelling.
  std::vector<Entry> reported() const;

 private:
  void set_switch(std::string_view name, bool on);

  std::map<std::string, std::string, std::less<>>
      values_;  // by name in lower case; those with another than the default, but for times
  IdleTimes default_idle_;
  IdleTimes idle_;
  bool is_read_only_ = false;  // default_transaction_read_only
  TransactionModes transaction_;
};

}  // namespace eindb
