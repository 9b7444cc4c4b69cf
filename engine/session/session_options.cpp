#include "engine/session/session_options.hpp"

#include "cluster/cluster.hpp"

namespace eindb {

Settings initial_settings(const SessionOptions& options) {
  Settings settings(options.policy == nullptr ? Settings::of_machine() : options.policy->settings);
  settings.set_default_statement_timeout(options.statement_timeout_ms);
  settings.set_default_small_statements(options.small_statements);
  if (options.cluster != nullptr)
    settings.set_default_workers(static_cast<std::int64_t>(options.cluster->workers().size()) +
                                 (options.cluster->coordinator_computes() ? 1 : 0));
  return settings;
}

}  // namespace eindb
