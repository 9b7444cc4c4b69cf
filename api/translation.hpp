#pragma once

#include <eindb/eindb.hpp>
#include <string_view>
#include <utility>

#include "common/error.hpp"

namespace eindb {

/// The engine's error as the program gets it. Its span, if it has one, is in the part of `text` that begins at
/// `offset`.
[[noreturn]] void throw_exception(const Error& error, std::string_view text, std::size_t offset);

/// Runs `f`; what it throws as Error becomes Exception.
template <class F>
decltype(auto) translated(std::string_view text, F&& f, std::size_t offset = 0) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    throw_exception(error, text, offset);
  }
}

}  // namespace eindb
