#include "server/sessions/session_pool.hpp"

#include <new>
#include <utility>

#include "common/check.hpp"

namespace eindb {

SessionPool::SessionPool(std::string database, SessionOptions options, std::size_t kept)
    : database_(std::move(database)),
      options_(std::move(options)),
      kept_(kept),
      default_settings_(initial_settings(options_)) {
  idle_.reserve(kept);
}

// Takes the most recently used session, as its caches are fullest.
std::unique_ptr<PooledSession> SessionPool::take() {
  {
    const std::lock_guard lock(mutex_);
    CHECK(idle_.size() <= kept_, "no more sessions are kept than may be");
    if (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      CHECK(session != nullptr, "a session that nobody uses is there");
      return session;
    }
  }
  return std::make_unique<PooledSession>(database_, options_);
}

void SessionPool::release_pages() noexcept {
  for (auto& session : idle_) session->session.release_pages();
}

void SessionPool::give_back(std::unique_ptr<PooledSession> session) noexcept {
  session->session.on_progress(nullptr);
  session->session.on_notice(nullptr);
  const std::lock_guard lock(mutex_);
  try {
    if (idle_.size() < kept_) idle_.push_back(std::move(session));
  } catch (const std::bad_alloc&) {  // the session is closed
  }
  // Idle sessions must not keep memory from running ones.
  if (is_sql_memory_short()) release_pages();
}

std::size_t SessionPool::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

}  // namespace eindb
