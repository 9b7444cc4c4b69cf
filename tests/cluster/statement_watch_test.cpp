#include "cluster/statement_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace eindb {
namespace {

const Cancellation kNever;
const Error kGone(ErrorKind::WorkerLost, "it is gone");

TEST(StatementWatch, WaitsForAllRanks) {
  StatementWatch watch(2, kNever);
  watch.ended(0, {});
  watch.ended(1, {});
  watch.wait();
  EXPECT_FALSE(watch.has_failed());
}

// Data that its rank has sent may be lost in transit, while others wait for it.
TEST(StatementWatch, WorkerThatIsLostAfterItsPartHasEndedEndsTheStatement) {
  StatementWatch watch(3, kNever);
  watch.ended(0, {});
  watch.ended(2, {});
  watch.lost(0, kGone);
  EXPECT_TRUE(watch.has_failed());
  watch.wait();
  EXPECT_THROW(watch.cancellation().check(), Error);
}

// No rank waits any more; later access to its results detects the loss.
TEST(StatementWatch, WorkerThatIsLostAfterAllHaveEndedChangesNothing) {
  StatementWatch watch(2, kNever);
  watch.ended(0, {});
  watch.ended(1, {});
  watch.lost(0, kGone);
  EXPECT_FALSE(watch.has_failed());
  EXPECT_EQ(watch.failure(), nullptr);
}

// A failure stops the coordinator's part by the same means as a cancellation.
TEST(StatementWatch, AFailureWhileItWaitsIsNoCancellation) {
  for (int n = 0; n < 3000; ++n) {
    StatementWatch watch(2, kNever, std::chrono::milliseconds(0));
    std::jthread losing([&] { watch.lost(0, kGone); });
    ASSERT_NO_THROW(watch.wait()) << n;
    EXPECT_TRUE(watch.has_failed());
  }
}

TEST(StatementWatch, LostWorkerIsTheReasonOfAllElse) {
  StatementWatch watch(3, kNever);
  watch.failed(1, Error(ErrorKind::Io, "a disk"));
  watch.lost(0, kGone);
  try {
    std::rethrow_exception(watch.failure());
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), kGone.message());
  }
}

Error failure_of(const StatementWatch& watch) {
  try {
    std::rethrow_exception(watch.failure());
  } catch (const Error& error) {
    return error;
  }
}

// The report of a rank that was stopped may arrive before that of the rank that failed.
TEST(StatementWatch, ARankThatWasStoppedIsNoReason) {
  StatementWatch watch(3, kNever);
  watch.failed(1, Error(ErrorKind::Cancelled, "the statement was cancelled"));
  watch.failed(0, kGone);
  EXPECT_EQ(failure_of(watch).message(), kGone.message());
}

TEST(StatementWatch, WhatNobodyHasCancelledIsNotCancelled) {
  StatementWatch watch(3, kNever);
  watch.failed(1, Error(ErrorKind::Cancelled, "the statement was cancelled"));
  EXPECT_EQ(failure_of(watch).kind(), ErrorKind::WorkerLost);
}

TEST(StatementWatch, WhatTheUserCancelsIsCancelled) {
  Cancellation cancellation;
  cancellation.request();
  StatementWatch watch(3, cancellation);
  watch.failed(1, Error(ErrorKind::Cancelled, "the statement was cancelled"));
  EXPECT_EQ(failure_of(watch).kind(), ErrorKind::Cancelled);
}

}  // namespace
}  // namespace eindb
