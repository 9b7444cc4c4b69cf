#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace eindb {

/// Slows down guessing of passwords. A wrong password is answered after a second; the throttle prevents an address from
/// trying on a thousand connections instead. While too many of its wrong passwords wait for their answers, no further
/// password is checked. A lower limit applies to each user of an address, so that guessing one user's password does not
/// lock out other users there. Thread-safe; must outlive its refusals.
class LoginThrottle {
 public:
  static constexpr std::size_t kMostOfUser = 8;
  static constexpr std::size_t kMostOfAddress = 64;

  /// A wrong password, from its check until its answer is sent.
  class Refusal {
   public:
    Refusal(LoginThrottle& throttle, std::string_view address, std::string_view user);
    Refusal(const Refusal&) = delete;
    Refusal& operator=(const Refusal&) = delete;
    ~Refusal();

   private:
    LoginThrottle& throttle_;
    const std::array<std::string, 2> keys_;
  };

  /// Whether a password may be checked now. Concurrent calls can exceed the limit by at most the number of threads.
  bool allows(std::string_view address, std::string_view user) const;

 private:
  std::size_t waiting(const std::string& key) const;

  mutable std::mutex mutex_;                    // guards waiting_
  std::map<std::string, std::size_t> waiting_;  // counts of refusals by address, and by address and user; all positive
};

}  // namespace eindb
