#include "shell/interrupts.hpp"

#include <atomic>
#include <csignal>
#include <string>

#include "common/error.hpp"

namespace eindb {
namespace {

// Written by the signal handler and by the shell's thread.
std::atomic<bool> g_pending{false};
std::atomic<bool> g_interactive{false};
std::atomic<Session*> g_session{nullptr};  // the session with the running statement; owned by the shell
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<Session*>::is_always_lock_free);

void end_program() {
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);  // delivered when the handler returns
}

void on_interrupt(int /*signal*/) {
  const bool again = g_pending.exchange(true);
  Session* session = g_session.load();
  if (session != nullptr) session->cancel();
  if (!g_interactive && (again || session == nullptr)) end_program();
}

}  // namespace

void Interrupts::install(bool interactive) {
  g_interactive = interactive;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

bool Interrupts::pending() noexcept { return g_pending; }
void Interrupts::check(const char* what) {
  if (pending()) throw Error(ErrorKind::Cancelled, std::string(what) + " was interrupted");
}
void Interrupts::clear() noexcept { g_pending = false; }

Interrupts::Scope::Scope(Session& session) : outer_(g_session) {
  if (outer_ == nullptr) clear();
  g_session = &session;
}

Interrupts::Scope::~Scope() { g_session = outer_; }

}  // namespace eindb
