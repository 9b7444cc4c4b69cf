#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace eindb {

/// Where bytes come from, for messages about them: a text such as "tile [0, 3] of tensor A", or a function that makes
/// it where a message needs one. An argument, which refers to what it is made from.
class ByteOrigin {
 public:
  ByteOrigin(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor): a text is one
  ByteOrigin(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  ByteOrigin(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  template <std::invocable Make>
  ByteOrigin(const Make& make)  // NOLINT(google-explicit-constructor)
      : make_(&make),
        call_([](const void* function) -> std::string { return (*static_cast<const Make*>(function))(); }) {}

  std::string text() const { return make_ == nullptr ? std::string(text_) : call_(make_); }

 private:
  std::string_view text_;
  const void* make_ = nullptr;
  std::string (*call_)(const void*) = nullptr;
};

}  // namespace eindb
