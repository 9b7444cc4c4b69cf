#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string_view>

#include "cluster/connection.hpp"
#include "cluster/message_memory.hpp"
#include "common/check.hpp"
#include "common/error.hpp"

namespace eindb {

class ConnectionTask;

/// The state of a node's thread. Only that thread uses it, except `log` and `messages`. Tasks stay in `alive` until
/// they are over.
struct NodeTasks {
  boost::asio::io_context io{1};
  std::set<std::shared_ptr<ConnectionTask>> alive;
  std::function<void(std::string_view)> log;                                    ///< thread-safe
  std::shared_ptr<MessageMemory> messages = std::make_shared<MessageMemory>();  ///< thread-safe
};

/// Work on a connection that continues whenever its socket is ready. All functions are called in the node's thread.
/// Created by start_task(); over once it has given the connection away or closed it.
class ConnectionTask : public std::enable_shared_from_this<ConnectionTask> {
 public:
  ConnectionTask(NodeTasks& tasks, std::unique_ptr<Connection> connection);
  virtual ~ConnectionTask() = default;
  ConnectionTask(const ConnectionTask&) = delete;
  ConnectionTask& operator=(const ConnectionTask&) = delete;

  void start();
  /// Ends at once, because the node ends or has too many tasks.
  void shut_down();
  bool is_over() const { return connection_ == nullptr; }

 protected:
  using Wait = Connection::Wait;

  /// Continues the work. Exceptions are passed to failed().
  virtual void step() = 0;
  /// Called after step() has thrown, after the time limit, or when the node ends. The connection is closed after the
  /// call.
  virtual void failed(const Error& error) = 0;

  Connection& connection() {
    DCHECK(!is_over(), "a task uses its connection until it is over");
    return *connection_;
  }
  NodeTasks& tasks() { return tasks_; }
  /// Calls step() when the socket is ready, once for each readiness.
  void step_when(Wait wait);
  /// Calls step() soon.
  void step_soon();
  /// Calls step() after the given time.
  void step_after(std::chrono::milliseconds time);
  /// Calls failed() with the message `late` after the given time.
  void expire_after(std::chrono::milliseconds time, std::string late);
  void expire_never() { timer_->cancel(); }
  /// Ends the task; the connection is used elsewhere.
  std::unique_ptr<Connection> give_away();
  void end(const Error& error);

 private:
  void guarded_step();

  NodeTasks& tasks_;
  std::unique_ptr<Connection> connection_;
  // Reset when the task is over, since they must not outlive the node.
  std::optional<boost::asio::posix::stream_descriptor> waiter_;
  std::optional<boost::asio::steady_timer> timer_;
  std::optional<boost::asio::steady_timer> pause_;
  bool waits_for_reading_ = false;
  bool waits_for_writing_ = false;
};

/// Creates and starts a task, which may be over on return.
template <class Task, class... Arguments>
std::shared_ptr<Task> start_task(NodeTasks& tasks, Arguments&&... arguments) {
  auto task = std::make_shared<Task>(tasks, std::forward<Arguments>(arguments)...);
  task->start();
  return task;
}

}  // namespace eindb
