#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/results/progress.hpp"
#include "engine/results/result.hpp"
#include "engine/results/row_loader.hpp"
#include "engine/results/statement_description.hpp"
#include "engine/results/tensor_strips.hpp"
#include "engine/session/prepared_statement.hpp"
#include "engine/session/session_options.hpp"
#include "engine/settings/admission.hpp"
#include "engine/settings/client_policy.hpp"
#include "engine/settings/login.hpp"
#include "engine/settings/settings.hpp"
#include "engine/sql/side_schema.hpp"
#include "engine/sql/sql_function.hpp"
#include "engine/tensors/memory_tensor.hpp"

namespace eindb {

/// What a prepared statement runs with.
struct StatementInputs {
  /// Value n is that of parameter $n + 1; monostate is NULL, which SQL alone takes, as text and bytes.
  std::vector<
      std::variant<std::monostate, std::int64_t, double, std::complex<double>, std::string, std::vector<std::byte>>>
      parameters;
  /// Attached by name for this one run.
  std::map<std::string, MemoryTensor> tensors;
  /// Of COPY: the file that is read or written in place of the one that it names. Empty: that one.
  std::string file = {};
};

/// One user's connection to one database: runs statements one after another.
/// Not thread-safe, except cancel(). Errors are thrown as Error, with spans into the statement's text; the database
/// is then as it was before the statement.
class Session {
 public:
  /// Opens or creates the database file; ":memory:" is a database of its own that ends with the session.
  explicit Session(const std::string& database, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs exactly one statement; a trailing semicolon may be there. An empty statement gives an empty result.
  Result execute(std::string_view statement);

  /// Reads a statement once, to be run often; names are looked up when it runs. Errors have spans into its text.
  std::shared_ptr<const PreparedStatement> prepare(std::string_view statement);
  Result execute(const PreparedStatement& statement, const StatementInputs& inputs);
  /// Names are looked up, but nothing runs and nothing changes. Errors as of the statement itself. `parameters`: the
  /// types of $1, $2, ... as far as they are known; Any, or none, where they are not.
  StatementDescription describe(const PreparedStatement& statement, std::span<const ColumnType> parameters = {});
  /// The elements of the tensor that the last statement gave. They stop with Error{Cancelled} when that statement is
  /// to, and must not outlive the session.
  TensorStrips strips(std::shared_ptr<const TensorRelation> tensor) const;

  /// Begins to take rows; Error{UnknownName} for a table or column that is not there, Error{Busy} while
  /// somebody else writes.
  std::unique_ptr<RowLoader> load(const LoadTarget& target);

  /// For whom the next statements run, where there is a policy.
  void act_for(ClientUser user);

  /// True between BEGIN and COMMIT or ROLLBACK.
  bool in_transaction() const;
  /// Whether statements may depend on what earlier ones left here beside the database and the settings: a transaction,
  /// prepared statements, temporary tables, attached tensors. If not, any session of the database will do as well.
  bool has_state();
  /// Lets go of pages of the database that are kept for the next statement. While none runs.
  void release_pages() noexcept;
  /// The values of SET.
  const Settings& settings() const;
  void set_settings(const Settings& settings);

  /// Makes a tensor in the caller's memory visible to statements, which cannot change it, until it is detached. It
  /// stays where it is, unchanged, until then, and until rows of SQL that read it are at their end. Tensors of results
  /// are memory of their own. Error{DuplicateName} if a tensor, table or view has the name.
  void attach(const std::string& name, MemoryTensor tensor);
  void detach(const std::string& name);

  /// Makes a function known to SQL; the last one of a name and a number of arguments counts.
  void add_function(SqlFunction function);
  /// Makes the schema's tables visible to SQL, which only reads them, or brings them up to date with the database.
  void show(const SideSchema& schema);

  /// Measures this machine for the cost model `calibrated` and writes the figures to `path` (empty: where sessions look
  /// for them); gives them as rows. Takes about `seconds`. Error{Io}, Error{Cancelled}.
  Result calibrate(const std::string& path, double seconds);

  /// Whether the database has users: a server then lets nobody in without a password.
  bool has_users();
  /// The user of that name, or what looks like one and fits no password. Only where has_users().
  Login find_login(std::string_view name);

  /// Asks the running statement to stop with Error{Cancelled}. Any thread, also a signal handler.
  void cancel() noexcept;
  void on_progress(ProgressCallback callback);
  void on_notice(NoticeCallback callback);

  /// Names for completion and for .tables: tensors in alphabetical order.
  std::vector<std::string> tensor_names();
  /// Words that a statement may use beside the language's own: tensors, their labels, macros, settings, SQL's tables
  /// and views. Distinct, in no order.
  std::vector<std::string> known_words();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb
