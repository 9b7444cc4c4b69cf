// The conversion of exceptions to errors for users.
#include "common/caught_error.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <system_error>

namespace eindb {
namespace {

template <class Exception>
Error caught(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return caught_error("this test");
  }
}

TEST(CaughtError, AnErrorIsItself) {
  const auto error = caught(Error(ErrorKind::Shape, "too long", SourceSpan{1, 2}, "shorten it"));
  EXPECT_EQ(error.kind(), ErrorKind::Shape);
  EXPECT_EQ(error.message(), "too long");
  EXPECT_EQ(error.hint(), "shorten it");
  EXPECT_TRUE(error.span().has_value());
}

TEST(CaughtError, AFailedAllocationIsALackOfMemory) {
  const auto error = caught(std::bad_alloc());
  EXPECT_EQ(error.kind(), ErrorKind::MemoryLimit);
  EXPECT_EQ(error.message(), "the machine has no memory left for this test");
  EXPECT_FALSE(error.hint().empty());
}

TEST(CaughtError, AThreadThatCannotBeStartedIsNoBug) {
  const auto error = caught(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
  EXPECT_EQ(error.kind(), ErrorKind::Io);
  EXPECT_TRUE(error.message().starts_with("cannot start a thread: ")) << error.message();
  EXPECT_FALSE(error.hint().empty());
}

TEST(CaughtError, AnythingElseIsABug) { EXPECT_EQ(caught(std::logic_error("impossible")).kind(), ErrorKind::Internal); }

}  // namespace
}  // namespace eindb
