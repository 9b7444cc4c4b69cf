#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "common/error.hpp"

namespace eindb {

/// A private directory of a test, removed with its contents.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "eindb-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no scratch directory";
    path_ = name;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_file(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// The Error that `action` throws; fails the test and returns an Internal error if it throws none.
template <class Action>
Error error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorKind::Internal, "none"};
}

}  // namespace eindb

/// Expects that the action fails with this kind of error and a message that contains the text.
#define EXPECT_ERROR(action, expected_kind, text)                                  \
  do {                                                                             \
    const auto thrown = ::eindb::error_of([&] { action; });                        \
    EXPECT_EQ(::eindb::describe(thrown.kind()), ::eindb::describe(expected_kind)); \
    EXPECT_NE(thrown.message().find(text), std::string::npos) << thrown.message(); \
  } while (false)
