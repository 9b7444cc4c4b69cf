#pragma once

#include <eindb/eindb.hpp>
#include <string_view>
#include <utility>

#include "common/error.hpp"

namespace eindb {

/// Throws the engine's error as an Exception. Its span, if any, counts from `offset` in `text`.
[[noreturn]] void throw_exception(const Error& error, std::string_view text, std::size_t offset);

/// Runs `f`, and turns an Error into an Exception.
template <class F>
decltype(auto) translated(std::string_view text, F&& f, std::size_t offset = 0) {
  try {
    return std::forward<F>(f)();
  } catch (const Error& error) {
    throw_exception(error, text, offset);
  }
}

}  // namespace eindb
