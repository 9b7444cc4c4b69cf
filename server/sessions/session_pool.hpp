#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/session.hpp"
#include "server/dialect/translation_cache.hpp"
#include "server/pg_catalog/pg_catalog.hpp"

namespace eindb {

/// A session, its pg_catalog, and the statements that were translated for it.
struct PooledSession {
  PooledSession(const std::string& database, const SessionOptions& options)
      : session(database, options), catalog(session) {}

  Session session;
  PgCatalog catalog;
  TranslationCache translations;
};

/// Sessions of one database, lent to clients while they work. A session holds an open database, compiled statements and
/// tiles, so a thousand idle clients must not have one each. A client keeps its settings and takes any free session.
/// Thread-safe.
class SessionPool {
 public:
  /// Keeps at most `kept` idle sessions.
  SessionPool(std::string database, SessionOptions options, std::size_t kept);

  /// A session with default settings. Throws Error if the database cannot be opened.
  std::unique_ptr<PooledSession> take();
  /// Returns a session without state of a client's (Session::has_state()). A session that failed is closed.
  void give_back(std::unique_ptr<PooledSession> session) noexcept;

  /// Number of idle sessions.
  std::size_t idle() const;
  const Settings& default_settings() const { return default_settings_; }

 private:
  void release_pages() noexcept;

  const std::string database_;
  const SessionOptions options_;
  const std::size_t kept_;
  const Settings default_settings_;
  mutable std::mutex mutex_;  // guards idle_
  std::vector<std::unique_ptr<PooledSession>> idle_;
};

}  // namespace eindb
