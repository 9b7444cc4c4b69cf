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

/// What the thread of a node works on. All of it, but log, belongs to that thread; the tasks are alive until they are
/// over.
struct NodeTasks {
  boost::asio::io_context io{1};
  std::set<std::shared_ptr<ConnectionTask>> alive;
  std::function<void(std::string_view)> log;                                    ///< any thread
  std::shared_ptr<MessageMemory> messages = std::make_shared<MessageMemory>();  ///< any thread
};

/// Something that goes on with a connection whenever its socket is ready. All is called in the thread of the node. Made
/// by start_task(); over when it has given the connection away or has closed it.
class ConnectionTask : public std::enable_shared_from_this<ConnectionTask> {
 public:
  ConnectionTask(NodeTasks& tasks, std::unique_ptr<Connection> connection);
  virtual ~ConnectionTask() = default;
  ConnectionTask(const ConnectionTask&) = delete;
  ConnectionTask& operator=(const ConnectionTask&) = delete;

  void start();
  /// Ends at once: the node ends, or there is no room.
  void shut_down();
  bool is_over() const { return connection_ == nullptr; }

 protected:
  using Wait = Connection::Wait;

  /// Goes on. What it throws comes to failed().
  virtual void step() = 0;
  /// step() has thrown, or the time is over, or the node ends. The connection is closed when it returns.
  virtual void failed(const Error& error) = 0;

  Connection& connection() {
    DCHECK(!is_over(), "a task uses its connection until it is over");
    return *connection_;
  }
  NodeTasks& tasks() { return tasks_; }
  /// step() is called again when the socket is ready; not twice for the same readiness.
  void step_when(Wait wait);
  /// step() is called soon.
  void step_soon();
  /// step() is called after that time.
  void step_after(std::chrono::milliseconds time);
  /// failed() is called then, with what `late` says.
  void expire_after(std::chrono::milliseconds time, std::string late);
  void expire_never() { timer_->cancel(); }
  /// The task is over; the connection goes on elsewhere.
  std::unique_ptr<Connection> give_away();
  void end(const Error& error);

 private:
  void guarded_step();

  NodeTasks& tasks_;
  std::unique_ptr<Connection> connection_;
  // Present until it is over: they must not outlive the node.
  std::optional<boost::asio::posix::stream_descriptor> waiter_;
  std::optional<boost::asio::steady_timer> timer_;
  std::optional<boost::asio::steady_timer> pause_;
  bool waits_for_reading_ = false;
  bool waits_for_writing_ = false;
};

/// The task has begun when it returns, and may be over.
template <class Task, class... Arguments>
std::shared_ptr<Task> start_task(NodeTasks& tasks, Arguments&&... arguments) {
  auto task = std::make_shared<Task>(tasks, std::forward<Arguments>(arguments)...);
  task->start();
  return task;
}

}  // namespace eindb
