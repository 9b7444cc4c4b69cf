#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"
#include "catalog/macro_catalog.hpp"
#include "catalog/tensor_tables.hpp"
#include "catalog/user_catalog.hpp"
#include "common/cancellation.hpp"
#include "engine/attached_tensors.hpp"
#include "engine/compiled_sql.hpp"
#include "engine/login.hpp"
#include "engine/permissions.hpp"
#include "engine/plan_cache.hpp"
#include "engine/prepared_statement.hpp"
#include "engine/session.hpp"
#include "engine/settings.hpp"
#include "engine/side_schema.hpp"
#include "engine/sql_names.hpp"
#include "engine/tile_cache.hpp"
#include "engine/unwritten_tensors.hpp"
#include "executor/scheduler.hpp"
#include "optimizer/partitions/machine_figures.hpp"
#include "parser/ast.hpp"
#include "parser/binder/binder.hpp"
#include "storage/database_file.hpp"

namespace eindb {

class Cluster;

/// The variable of a loop while a round of it runs.
struct LoopVariableValue {
  std::string name;
  std::int64_t value = 0;
};

/// What the statements of one session share. Owned by the Session; used by one thread at a time, but for
/// `cancellation`.
struct SessionState {
  SessionState(const std::string& path, const SessionOptions& options);

  /// The scheduler for the current number of threads.
  Scheduler& scheduler();
  /// Tells the user's callback, if there is one and the setting progress is on.
  /// Statements of a loop say nothing, and of loops inside each other only the outermost does.
  void report(std::string_view stage, std::int64_t done, std::int64_t total) const;
  void report_rounds(std::int64_t done, std::int64_t total) const;
  /// Tells the user something that is no error, if there is a callback for it.
  void tell(const std::string& notice) const;
  /// The tensor; Error{UnknownName} with the nearest name, or Error{Type} if it is a table.
  TensorInfo tensor(const ast::Identifier& name);
  /// Whether there is an ordinary table or view of this name.
  bool is_table(const std::string& name);
  /// The tensor as a plan sees it, attached or of the catalog; nullopt if there is none.
  std::optional<InputTensor> find_tensor(const std::string& name);
  NameSource name_source();
  /// TensorInfo::replicas of a tensor that is made now. Error{Unsupported} or Error{Value} where the session has not
  /// enough workers for the clause.
  int replicas(const std::optional<ast::ReplicasClause>& clause);
  /// The file that a COPY names, as far as it may, or the one that it is given in its place.
  FilePath file_to_read(const std::string& path) const;
  FilePath file_to_write(const std::string& path) const;
  /// The user's macro, parsed; null if there is none. Error{Corrupt} if the database has something else in its place.
  MacroPtr macro(const std::string& name);
  MacroPtr parsed(const StoredMacro& stored);
  /// The user of that name, or a decoy. Error{Corrupt} if the database has something else in its place.
  Login login(std::string_view name);
  /// Waits until others leave `bytes` of memory and the cores to a statement that nobody has planned; null where nobody
  /// is asked. Errors as AdmissionGate::admit.
  std::unique_ptr<Admission> admit(std::int64_t bytes);
  /// What connections to the database may take, by the settings and by what all sessions share.
  void limit_database_memory();
  /// This machine's figures: of the setting machine_file, else those that `eindb calibrate` left, else built-in ones.
  /// A file that changed is read again. Error as read_machine_file.
  const MachineFigures& machine() const;
  /// Another number whenever machine() has other figures.
  std::uint64_t machine_version() const;

  const std::shared_ptr<Cluster> cluster;  ///< null: queries run here
  DatabaseFile database;
  Catalog catalog;
  MacroCatalog macros;
  UserCatalog users;
  TensorTables tensor_tables;
  AttachedTensors attached;
  SideSchemas side_schemas;
  KnownNames sql_names;
  CompiledStatements compiled;
  std::uint64_t query_tables = 0;   ///< tables made so far for results of queries inside SQL
  bool may_have_temporary = false;  ///< temporary tables: SQL ran that may have made some
  Settings settings;
  Permissions permissions;
  std::shared_ptr<AdmissionGate> gate;  ///< null: nobody is asked
  Cancellation cancellation;
  ProgressCallback progress;
  NoticeCallback notices;
  std::map<std::string, PreparedStatement> prepared;  ///< by name in lower case
  std::vector<ParameterValue> parameters;             ///< of the prepared statement that runs
  std::vector<LoopVariableValue> loop_variables;  ///< of the loops around the statement that runs, the innermost last
  bool is_in_transaction = false;                 ///< the statement that runs is a part of one that goes on after it
  int loop_depth = 0;                             ///< loops around the statement that runs
  std::string transfer;                           ///< StatementInputs::file of the statement that runs
  PlanCache plans;
  TileCache tiles;
  UnwrittenTensors unwritten;

 private:
  void show_progress(std::string_view stage, std::int64_t done, std::int64_t total) const;

  // The file as it was read last.
  struct KnownMachine {
    std::string path;
    std::filesystem::file_time_type changed;
    MachineFigures figures;
    std::uint64_t version = 0;
  };

  std::unique_ptr<Scheduler> scheduler_;
  mutable KnownMachine machine_;
};

}  // namespace eindb
