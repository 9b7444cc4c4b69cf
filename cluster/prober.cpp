#include "cluster/prober.hpp"

#include <utility>

#include "common/check.hpp"
#include "common/memory_wait.hpp"

namespace eindb {

void Prober::ask(std::vector<std::string> addresses, Answer answer) {
  CHECK(answer != nullptr, "who asks hears the answer");
  const std::lock_guard lock(mutex_);
  if (ends_) return;
  questions_.push_back({std::move(addresses), std::move(answer)});
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void Prober::end() noexcept {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  ending_.request();
  if (thread_.joinable()) thread_.join();
}

void Prober::run() noexcept {
  const CancellationScope scope(ending_);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !questions_.empty(); });
    if (ends_) return;
    const auto question = std::move(questions_.front());
    questions_.pop_front();
    lock.unlock();
    try {
      question.answer(exchanges_.probe(question.addresses));
    } catch (const std::exception&) {  // the process ends, or lacks resources: the result stays unknown
      when_there_is_memory([&] { question.answer({}); });
    }
    lock.lock();
  }
}

}  // namespace eindb
