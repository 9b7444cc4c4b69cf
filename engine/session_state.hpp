#pragma once

#include <memory>
#include <string>

#include "catalog/catalog.hpp"
#include "common/cancellation.hpp"
#include "engine/session.hpp"
#include "engine/settings.hpp"
#include "executor/scheduler.hpp"
#include "parser/ast.hpp"
#include "parser/binder.hpp"
#include "storage/database_file.hpp"

namespace eindb {

/// What the statements of one session share. Owned by the Session; used by one thread at a time, but for
/// `cancellation`.
struct SessionState {
  SessionState(const std::string& path, SessionOptions options);

  /// The scheduler for the current number of threads.
  Scheduler& scheduler();
  /// Tells the user's callback, if there is one and the setting progress is on.
  void report(std::string_view stage, std::int64_t done, std::int64_t total) const;
  /// The tensor, or Error{UnknownName} with the nearest name.
  TensorInfo tensor(const ast::Identifier& name);
  NameSource name_source();

  DatabaseFile database;
  Catalog catalog;
  Settings settings;
  Cancellation cancellation;
  ProgressCallback progress;

 private:
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace eindb
