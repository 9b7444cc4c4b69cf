#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace eindb {

/// Slows down who tries passwords. A wrong one is answered after a second; this keeps an address from trying on a
/// thousand connections instead: while so many of its wrong passwords wait for their answers, no other is looked at.
/// The same for each user of an address, and lower: who tries one user's passwords keeps nobody else there out.
/// Thread-safe; outlives its refusals.
class LoginThrottle {
 public:
  static constexpr std::size_t kMostOfUser = 8;
  static constexpr std::size_t kMostOfAddress = 64;

  /// A wrong password, from when it was seen until its answer has gone.
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

  /// Whether a password is looked at now. As many more as there are threads may be looked at in the same moment.
  bool allows(std::string_view address, std::string_view user) const;

 private:
  std::size_t waiting(const std::string& key) const;

  mutable std::mutex mutex_;                    // guards waiting_
  std::map<std::string, std::size_t> waiting_;  // refusals, by address and by address with user; none is zero
};

}  // namespace eindb
