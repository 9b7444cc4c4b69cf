#include "tests/cluster/memory_network.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>

#include "cluster/peer_lost.hpp"
#include "common/error.hpp"
#include "executor/in_process_exchange.hpp"

namespace eindb {

class MemoryPipe {
 public:
  using Message = std::vector<std::byte>;

  void send(std::size_t to, std::span<const std::byte> message) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) throw Error(ErrorKind::WorkerLost, "the connection was closed");
      if (!is_frozen_) messages_[to].emplace_back(message.begin(), message.end());
    }
    changed_.notify_all();
  }

  std::optional<Message> receive(std::size_t at, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    auto& messages = messages_[at];
    changed_.wait_for(lock, timeout, [&] { return !messages.empty() || is_closed_; });
    if (!messages.empty()) {
      auto message = std::move(messages.front());
      messages.pop_front();
      return message;
    }
    if (is_closed_) throw Error(ErrorKind::WorkerLost, "the connection was closed");
    return std::nullopt;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_.notify_all();
  }

  void freeze() {
    const std::lock_guard lock(mutex_);
    is_frozen_ = true;
  }

 private:
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Message> messages_[2];  // for each end
  bool is_closed_ = false;
  bool is_frozen_ = false;
};

namespace {

class MemoryChannel final : public Channel {
 public:
  MemoryChannel(std::shared_ptr<MemoryPipe> pipe, std::size_t end, std::string peer)
      : pipe_(std::move(pipe)), end_(end), peer_(std::move(peer)) {}
  ~MemoryChannel() override { pipe_->close(); }
  MemoryChannel(const MemoryChannel&) = delete;
  MemoryChannel& operator=(const MemoryChannel&) = delete;

  void send(std::span<const std::byte> message) override { pipe_->send(1 - end_, message); }
  std::optional<std::vector<std::byte>> receive(std::chrono::milliseconds timeout) override {
    return pipe_->receive(end_, timeout);
  }
  void close() noexcept override { pipe_->close(); }
  std::string peer() const override { return peer_; }

 private:
  const std::shared_ptr<MemoryPipe> pipe_;
  const std::size_t end_;
  const std::string peer_;
};

}  // namespace

void MemoryNetwork::listen(const std::string& address, Accept accept) {
  const std::lock_guard lock(mutex_);
  listeners_[address] = std::move(accept);
}

void MemoryNetwork::close(const std::string& address) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(address);
}

std::unique_ptr<Channel> MemoryNetwork::connect(const std::string& address, std::chrono::milliseconds) {
  const std::lock_guard lock(mutex_);
  const auto listener = listeners_.find(address);
  if (listener == listeners_.end()) throw Error(ErrorKind::WorkerLost, "nobody listens there");
  const auto pipe = std::make_shared<MemoryPipe>();
  pipes_.emplace(address, pipe);
  listener->second(std::make_unique<MemoryChannel>(pipe, 1, "coordinator"));
  return std::make_unique<MemoryChannel>(pipe, 0, address);
}

void MemoryNetwork::cut(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = pipes_.equal_range(address);
  std::for_each(first, last, [](const auto& pipe) { pipe.second->close(); });
  pipes_.erase(first, last);
}

void MemoryNetwork::freeze(const std::string& address) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = pipes_.equal_range(address);
  std::for_each(first, last, [](const auto& pipe) { pipe.second->freeze(); });
}

std::unique_ptr<Exchange> MemoryExchanges::open(const ExchangeRequest& request, const Cancellation&) {
  const std::lock_guard lock(mutex_);
  if (is_broken_ && request.rank == 1 && request.coordinator != 1)
    throw PeerLost({0, true}, Error(ErrorKind::WorkerLost, "no answer"));
  auto& exchanges = statements_[request.statement];
  if (exchanges.empty()) exchanges = in_process_exchanges(request.addresses.size());
  auto exchange = std::move(exchanges[request.rank]);
  if (std::all_of(exchanges.begin(), exchanges.end(), [](const auto& e) { return e == nullptr; }))
    statements_.erase(request.statement);
  return exchange;
}

std::vector<std::optional<Error>> MemoryExchanges::probe(const std::vector<std::string>& addresses) {
  const std::lock_guard lock(mutex_);
  std::optional<Error> error;
  if (is_broken_ && is_noticed_) error.emplace(ErrorKind::WorkerLost, "no answer");
  return std::vector(addresses.size(), error);
}

void MemoryExchanges::break_first_ranks(bool is_noticed) {
  const std::lock_guard lock(mutex_);
  is_broken_ = true;
  is_noticed_ = is_noticed;
}

void MemoryExchanges::mend() {
  const std::lock_guard lock(mutex_);
  is_broken_ = false;
}

}  // namespace eindb
