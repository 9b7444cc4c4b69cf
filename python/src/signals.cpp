#include "python/src/signals.hpp"

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace eindb_python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kPollInterval{20};
unsigned long main_thread = 0;

// ---- Ctrl-C with Python's own handler ------------------------------------------------------------------------------

// The connection whose statement the main thread runs; null: none. A handler may use it on any thread.
std::atomic<eindb::Connection*> running = nullptr;
std::atomic<bool> interrupted = false;
std::atomic<int> handlers = 0;
struct sigaction handler_before {};

void on_interrupt(int signal, siginfo_t* info, void* context) {
  ++handlers;
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) handler_before.sa_sigaction(signal, info, context);
  else if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    handler_before.sa_handler(signal);
  interrupted = true;
  if (auto* connection = running.load()) connection->cancel();
  --handlers;
}

// While it lives SIGINT is noted by Python and cancels the connection's statement.
class InterruptScope {
 public:
  explicit InterruptScope(eindb::Connection& connection) {
    interrupted = false;
    running = &connection;
    struct sigaction action {};
    action.sa_sigaction = &on_interrupt;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGINT, nullptr, &handler_before);
    sigaction(SIGINT, &action, nullptr);
  }
  ~InterruptScope() {
    sigaction(SIGINT, &handler_before, nullptr);
    running = nullptr;
    while (handlers > 0) std::this_thread::yield();  // one may still use the connection
  }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

bool has_pythons_handler() {
  const py::gil_scoped_acquire gil;
  // Looked up once and never released: each statement asks.
  static const auto* const signals = new py::object(py::module_::import("signal"));
  static const auto* const own = new py::object(signals->attr("default_int_handler"));
  static const auto* const number = new py::int_(SIGINT);
  return signals->attr("getsignal")(*number).is(*own);
}

void raise_of_handlers() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void run_with_interrupts(eindb::Connection& connection, const std::function<void()>& work) {
  try {
    const InterruptScope scope(connection);
    work();
  } catch (const eindb::Exception& error) {
    if (error.code() == eindb::ErrorCode::Cancelled) raise_of_handlers();
    throw;
  }
}

// ---- Handlers of the program's own ---------------------------------------------------------------------------------

// Work on a thread of its own.
class Background {
 public:
  explicit Background(const std::function<void()>& work) : thread_([this, &work] { run(work); }) {}
  ~Background() { thread_.join(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  bool is_done_after(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return done_; });
  }
  std::exception_ptr error() const { return error_; }

 private:
  void run(const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;  // guards done_
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;  // set before done_
  std::thread thread_;        // the last: it uses the others
};

// The error of a handler that has raised.
std::optional<py::error_already_set> handled_signals() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return std::nullopt;
  return py::error_already_set();
}

void run_in_background(eindb::Connection& connection, const std::function<void()>& work) {
  std::optional<py::error_already_set> raised;
  Background background(work);
  while (!background.is_done_after(kPollInterval)) {
    if (!raised) raised = handled_signals();
    if (raised) connection.cancel();  // again and again: a statement that has just begun forgets it
  }
  if (raised) throw py::error_already_set(*raised);
  if (background.error()) std::rethrow_exception(background.error());
}

}  // namespace

void set_main_thread(unsigned long identity) { main_thread = identity; }

void watch_interrupts(eindb::Connection& connection, std::function<void(const eindb::ProgressInfo&)> tell) {
  connection.on_progress([&connection, tell = std::move(tell)](const eindb::ProgressInfo& progress) {
    if (interrupted && running.load() == &connection) connection.cancel();
    if (tell) tell(progress);
  });
}

void run_interruptibly(eindb::Connection& connection, const std::function<void()>& work) {
  if (PyThread_get_thread_ident() != main_thread) return work();
  if (has_pythons_handler()) return run_with_interrupts(connection, work);
  run_in_background(connection, work);
}

}  // namespace eindb_python
