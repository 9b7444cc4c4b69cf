#pragma once

#include <gtest/gtest.h>

#include <eindb/eindb.hpp>
#include <string>

namespace eindb_test {

/// The Exception that `action` throws; fails the test if it throws none.
template <class Action>
eindb::Exception exception_of(Action&& action) {
  try {
    action();
  } catch (const eindb::Exception& error) {
    return error;
  }
  ADD_FAILURE() << "no exception was thrown";
  return {"none", {}};
}

}  // namespace eindb_test

/// Expects that the action fails with this code and a message that contains the text.
#define EXPECT_EXCEPTION(action, expected, text)                                   \
  do {                                                                             \
    const auto thrown = ::eindb_test::exception_of([&] { action; });               \
    EXPECT_EQ(to_string(thrown.code()), to_string(::eindb::ErrorCode::expected));  \
    EXPECT_NE(thrown.message().find(text), std::string::npos) << thrown.message(); \
  } while (false)
