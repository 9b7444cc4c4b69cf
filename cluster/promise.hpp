#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {

/// Passes one value or error from one thread to another, like std::promise and std::future. Destroying an unfulfilled
/// Promise makes the other thread's get() fail; that needs no memory here, while std::promise would allocate, and end
/// the process if it could not.
template <class T>
class Promise {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<T> value;
    std::exception_ptr error;
    bool is_over = false;
  };

 public:
  class Future {
   public:
    explicit Future(std::shared_ptr<State> state) : state_(std::move(state)) {}
    /// Waits at most that long; true if the promise is fulfilled or destroyed.
    bool wait_for(std::chrono::milliseconds time) {
      std::unique_lock lock(state_->mutex);
      return state_->changed.wait_for(lock, time, [this] { return state_->is_over; });
    }
    /// Call only after wait_for() has returned true. Throws the given error; Error{WorkerLost} if neither value nor
    /// error was given.
    T get() {
      const std::lock_guard lock(state_->mutex);
      CHECK(state_->is_over, "a value is taken when it is known whether there is one");
      if (state_->error) std::rethrow_exception(state_->error);
      if (!state_->value) throw Error(ErrorKind::WorkerLost, "nobody answers: it was given up");
      return std::move(*state_->value);
    }

   private:
    std::shared_ptr<State> state_;
  };

  Promise() = default;
  ~Promise() {
    end([] {});
  }
  Promise(const Promise&) = delete;
  Promise& operator=(const Promise&) = delete;

  Future future() const { return Future(state_); }
  void set_value(T value) {
    end([&] { state_->value.emplace(std::move(value)); });
  }
  void set_error(std::exception_ptr error) {
    end([&] { state_->error = std::move(error); });
  }

 private:
  /// Only the first call has an effect.
  template <class F>
  void end(F give) {
    const std::lock_guard lock(state_->mutex);
    if (state_->is_over) return;
    give();
    state_->is_over = true;
    state_->changed.notify_all();
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace eindb
