#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/table_rights.hpp"
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
#include "engine/sql_types/sql_types.hpp"
#include "engine/tensors/memory_tensor.hpp"

namespace eindb {

/// The inputs of one run of a prepared statement.
struct StatementInputs {
  /// Element n is the value of parameter $n + 1. monostate is NULL; only SQL accepts NULL, text and bytes.
  std::vector<
      std::variant<std::monostate, std::int64_t, double, std::complex<double>, std::string, std::vector<std::byte>>>
      parameters;
  /// Tensors attached by name for this run only.
  std::map<std::string, MemoryTensor> tensors;
  /// For COPY: the file to read or write in place of the one it names. Empty: the named file.
  std::string file = {};
};

/// One user's connection to one database; runs statements one after another. Not thread-safe, except cancel(). Errors
/// are thrown as Error, with spans into the statement's text; the database is then as it was before the statement.
class Session {
 public:
  /// Opens or creates the database file. ":memory:" opens a private database that ends with the session.
  explicit Session(const std::string& database, const SessionOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs exactly one statement; a trailing semicolon is allowed. Rows of an earlier SELECT that are not read yet are
  /// taken into memory before a statement that may change anything: Error{MemoryLimit} where they are too many. An
  /// empty statement gives an empty result.
  Result execute(std::string_view statement);

  /// Parses a statement once, for many runs; names are looked up at each run. Errors have spans into its text.
  std::shared_ptr<const PreparedStatement> prepare(std::string_view statement);
  Result execute(const PreparedStatement& statement, const StatementInputs& inputs);
  /// Describes a statement without running it; its names are looked up. Throws the same errors as the statement.
  /// `parameters`: the known types of $1, $2, ...; Any, or none, for unknown ones.
  StatementDescription describe(const PreparedStatement& statement, std::span<const ColumnType> parameters = {});
  /// The elements of the tensor that the last statement gave. The strips throw Error{Cancelled} once that statement is
  /// cancelled, and must not outlive the session.
  TensorStrips strips(std::shared_ptr<const TensorRelation> tensor) const;

  /// Begins to load rows. Error{UnknownName} if the table or column does not exist, Error{Busy} if another connection
  /// writes.
  std::unique_ptr<RowLoader> load(const LoadTarget& target);

  /// The rights granted on a table, and the call that grants them again to a table that was made anew in the same
  /// transaction.
  std::vector<TableGrant> grants_on(const std::string& table);
  void restore_grants(const std::string& table, const std::vector<TableGrant>& grants);

  /// Sets the user that the next statements run for. Only where there is a policy.
  void act_for(ClientUser user);

  /// True between BEGIN and COMMIT or ROLLBACK.
  bool in_transaction() const;
  /// Whether later statements may depend on state of this session other than the database and the settings: a
  /// transaction, prepared statements, temporary tables, attached tensors, attached databases. If not, any session of
  /// the database can take its place.
  bool has_state();
  /// Frees the database pages that are cached for the next statement. Call while no statement runs.
  void release_pages() noexcept;
  /// The current values of all settings.
  const Settings& settings() const;
  void set_settings(const Settings& settings);

  /// Makes a tensor in the caller's memory visible to statements until it is detached; statements cannot change it. The
  /// memory must stay valid and unchanged until then, and until all rows of SQL that read it are consumed. Tensors of
  /// results never share it. Error{DuplicateName} if a tensor, table or view has the name.
  void attach(const std::string& name, MemoryTensor tensor);
  /// Puts a tensor in the place of the one attached under this name. Error{UnknownName} if there is none.
  void replace(const std::string& name, MemoryTensor tensor);
  void detach(const std::string& name);

  /// Adds a function to SQL. It replaces an earlier function of the same name and number of arguments.
  void add_function(SqlFunction function);
  /// Makes the schema's tables visible to SQL, read-only, or updates them from the database.
  void show(const SideSchema& schema);

  /// Measures this machine for the cost model `calibrated`, and with workers the costs of moving relations between them
  /// for about as long again; writes the figures to `path` (empty: the default path of sessions) and returns them as
  /// rows. Takes about `seconds`. Error{Io}, Error{Cancelled}, Error{Value} for fewer than two workers.
  Result calibrate(const std::string& path, double seconds);

  /// Whether the database has users. A server then requires a password from everybody.
  bool has_users();
  /// The user of that name, or a decoy that no password matches. Only if has_users().
  Login find_login(std::string_view name);

  /// As at the start of a statement: statement_timeout counts from now, and requests to cancel are forgotten. For what
  /// a front end reads between statements.
  void begin_time();
  /// Asks the running statement to stop with Error{Cancelled}. Safe from any thread and from a signal handler.
  void cancel() noexcept;
  void on_progress(ProgressCallback callback);
  void on_notice(NoticeCallback callback);

  /// The names of all tensors of the session and of its own database in alphabetical order, for .tables and the like.
  std::vector<std::string> tensor_names();
  /// The columns of a table, view or tensor as SQL sees it; nullopt if there is none. The schema may be empty. Names
  /// are case-insensitive.
  std::optional<std::vector<TypedColumn>> columns_of(const std::string& schema, const std::string& table);
  /// The text of CREATE VIEW; nullopt if there is no such view. The schema may be empty. The name is case-insensitive.
  std::optional<std::string> view_text(const std::string& schema, const std::string& view);
  /// Another number whenever tables, views, tensors or attached tensors may have changed, by whomever.
  std::uint64_t schema_version();
  /// The names of the indices of a stored tensor's dimensions. Error{UnknownName} if there is no tensor of that name.
  DimensionNames index_names(const std::string& tensor);
  /// Words that a statement may use beside the keywords: tensors, their labels, macros, settings, SQL's tables and
  /// views. Distinct, in no particular order.
  std::vector<std::string> known_words();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace eindb
