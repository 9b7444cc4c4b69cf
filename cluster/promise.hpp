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

/// A value or an error that one thread gives another, once, as by std::promise and std::future. A Promise that is
/// destroyed without either fails the other's get(), for which it needs no memory; std::promise allocates there, and
/// ends the process where it cannot.
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
    /// Whether it is over.
    bool wait_for(std::chrono::milliseconds time) {
      std::unique_lock lock(state_->mutex);
      return state_->changed.wait_for(lock, time, [this] { return state_->is_over; });
    }
    /// When it is over. Throws what was given as an error; Error{WorkerLost} if nothing was given.
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
  /// The first time counts.
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
