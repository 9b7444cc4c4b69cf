#include "python/src/signals.hpp"

#include <pybind11/pybind11.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

namespace eindb_python {
namespace {

namespace py = pybind11;

constexpr std::chrono::milliseconds kPollInterval{20};
unsigned long main_thread = 0;

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

}  // namespace

void set_main_thread(unsigned long identity) { main_thread = identity; }

void run_interruptibly(eindb::Connection& connection, const std::function<void()>& work) {
  if (PyThread_get_thread_ident() != main_thread) return work();
  std::optional<py::error_already_set> raised;
  Background background(work);
  while (!background.is_done_after(kPollInterval)) {
    if (!raised) raised = handled_signals();
    if (raised) connection.cancel();  // again and again: a statement that has just begun forgets it
  }
  if (raised) throw py::error_already_set(*raised);
  if (background.error()) std::rethrow_exception(background.error());
}

}  // namespace eindb_python
