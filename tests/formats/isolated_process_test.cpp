// A process forked for a library: what it is asked and answers, and what becomes of its end.
#include "storage/formats/isolated_process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <numeric>
#include <string>
#include <vector>

namespace eindb {
namespace {

Error death(int status) {
  return {ErrorKind::Io, WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status)) : "it stopped"};
}

class IsolatedProcessTest : public ::testing::Test {
 protected:
  /// The error that the first answer of such a process is.
  Error error_of(const IsolatedProcess::Serve& serve) {
    IsolatedProcess process(library_, serve, &death, nullptr);
    try {
      process.receive_status();
    } catch (const Error& error) {
      return error;
    }
    return {ErrorKind::Internal, "there is no error"};
  }

  std::mutex library_;
};

TEST_F(IsolatedProcessTest, ManyBytesGoBothWays) {
  std::vector<std::int64_t> numbers(1 << 18);
  std::iota(numbers.begin(), numbers.end(), 0);
  IsolatedProcess process(
      library_,
      [&](IsolatedChild& child) {
        std::vector<std::int64_t> got(numbers.size());
        child.receive(std::as_writable_bytes(std::span(got)));
        for (auto& number : got) number = -number;
        child.send(std::as_bytes(std::span(got)));
      },
      &death, nullptr);
  process.send(std::as_bytes(std::span(numbers)));
  std::vector<std::int64_t> answer(numbers.size());
  process.receive(std::as_writable_bytes(std::span(answer)));
  EXPECT_EQ(answer[1000], -1000);
  EXPECT_EQ(answer.back(), -numbers.back());
}

TEST_F(IsolatedProcessTest, WhatItThrowsIsItsAnswer) {
  const auto error = error_of([](IsolatedChild& child) { child.answer([]() -> int { throw std::bad_alloc(); }); });
  EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
  EXPECT_FALSE(error.hint().empty());
}

TEST_F(IsolatedProcessTest, ItsEndIsAnError) {
  EXPECT_EQ(error_of([](IsolatedChild&) { ::raise(SIGSEGV); }).message(), "signal 11");
  EXPECT_EQ(error_of([](IsolatedChild&) {}).message(), "it stopped");
}

TEST_F(IsolatedProcessTest, WhatIsSentToItAfterItsEndIsAnError) {
  IsolatedProcess process(
      library_, [](IsolatedChild&) { ::_exit(0); }, &death, nullptr);
  const std::vector<std::byte> bytes(1 << 20);
  EXPECT_THROW(process.send(bytes), Error);
}

TEST_F(IsolatedProcessTest, WaitingForItCanBeCancelled) {
  Cancellation cancellation;
  IsolatedProcess process(
      library_, [](IsolatedChild&) { ::pause(); }, &death, &cancellation);
  cancellation.request();
  EXPECT_THROW(process.receive_value<int>(), Error);
}

}  // namespace
}  // namespace eindb
