#include "cluster/connection_task.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "common/check.hpp"

namespace eindb {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

int socket_of(const Connection* connection) {
  CHECK(connection != nullptr, "a task has a connection");
  return connection->socket();
}

}  // namespace

ConnectionTask::ConnectionTask(NodeTasks& tasks, std::unique_ptr<Connection> connection)
    : tasks_(tasks),
      connection_(std::move(connection)),
      waiter_(std::in_place, tasks.io, socket_of(connection_.get())),
      timer_(std::in_place, tasks.io),
      pause_(std::in_place, tasks.io) {}

void ConnectionTask::start() {
  const bool is_new = tasks_.alive.insert(shared_from_this()).second;
  CHECK(is_new && !is_over(), "a task starts once");
  guarded_step();
}

void ConnectionTask::shut_down() {
  const auto self = shared_from_this();
  if (!is_over()) end(Error(ErrorKind::WorkerLost, "the connection to " + connection_->peer() + " was closed"));
}

void ConnectionTask::guarded_step() {
  const auto self = shared_from_this();
  try {
    step();
  } catch (const Error& error) {
    if (!is_over()) end(error);
  }
}

void ConnectionTask::step_when(Wait wait) {
  if (wait != Wait::Readable && wait != Wait::Writable) return;
  CHECK(waiter_.has_value(), "who waits for a connection has it");
  const bool reads = wait == Wait::Readable;
  auto& waits = reads ? waits_for_reading_ : waits_for_writing_;
  if (std::exchange(waits, true)) return;
  const auto what = reads ? asio::posix::stream_descriptor::wait_read : asio::posix::stream_descriptor::wait_write;
  waiter_->async_wait(what, [self = shared_from_this(), reads](const error_code&) {
    (reads ? self->waits_for_reading_ : self->waits_for_writing_) = false;
    if (!self->is_over()) self->guarded_step();
  });
}

void ConnectionTask::step_soon() {
  asio::post(tasks_.io, [self = shared_from_this()] {
    if (!self->is_over()) self->guarded_step();
  });
}

void ConnectionTask::step_after(std::chrono::milliseconds time) {
  CHECK(pause_.has_value(), "a task that is over does not go on");
  pause_->expires_after(time);
  pause_->async_wait([self = shared_from_this()](const error_code& error) {
    if (!error && !self->is_over()) self->guarded_step();
  });
}

void ConnectionTask::expire_after(std::chrono::milliseconds time, std::string late) {
  CHECK(timer_.has_value(), "a task that is over does not expire");
  timer_->expires_after(time);
  timer_->async_wait([self = shared_from_this(), late = std::move(late)](const error_code& error) {
    if (!error && !self->is_over()) self->end(Error(ErrorKind::WorkerLost, late));
  });
}

std::unique_ptr<Connection> ConnectionTask::give_away() {
  CHECK(!is_over() && tasks_.alive.contains(shared_from_this()), "a task gives its connection away once");
  waiter_->release();
  waiter_.reset();
  timer_.reset();
  pause_.reset();
  tasks_.alive.erase(shared_from_this());
  return std::move(connection_);
}

void ConnectionTask::end(const Error& error) {
  failed(error);
  if (!is_over()) give_away().reset();
}

}  // namespace eindb
