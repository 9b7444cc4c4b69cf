#include "cluster/worker.hpp"

#include <utility>

#include "common/check.hpp"

namespace eindb {

Worker::Worker(WorkerOptions options, ShardFile& shards, ExchangeFactory& exchanges, NodeLog& log)
    : databases_(std::move(options), shards, exchanges, log) {}

void Worker::serve(std::unique_ptr<Channel> channel) {
  CHECK(channel != nullptr, "a coordinator has a channel");
  const std::lock_guard lock(mutex_);
  std::erase_if(sessions_, [](const auto& session) { return session->has_ended(); });
  sessions_.push_back(std::make_shared<CoordinatorSession>(databases_, std::move(channel)));
}

void Worker::end_statements() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& session : sessions_) session->close_channel();
}

void Worker::wait_until_left() {
  databases_.wait_until_drained();
  CHECK(databases_.first().is_draining(), "a worker leaves when it takes no more statements");
  std::vector<std::shared_ptr<CoordinatorSession>> leaving;
  {
    const std::lock_guard lock(mutex_);
    leaving = sessions_;  // they also stay in sessions_, for end_statements()
  }
  for (const auto& session : leaving) session->announce_leave("it was drained");
  for (const auto& session : leaving) session->wait_until_link_ended();
}

}  // namespace eindb
