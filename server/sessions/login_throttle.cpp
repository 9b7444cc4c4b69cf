#include "server/sessions/login_throttle.hpp"

#include "common/check.hpp"

namespace eindb {
namespace {

// A unique key, since an address has no spaces.
std::string key_of(std::string_view address, std::string_view user) {
  return std::string(address) + " " + std::string(user);
}

}  // namespace

LoginThrottle::Refusal::Refusal(LoginThrottle& throttle, std::string_view address, std::string_view user)
    : throttle_(throttle), keys_{std::string(address), key_of(address, user)} {
  const std::lock_guard lock(throttle_.mutex_);
  for (const auto& key : keys_) ++throttle_.waiting_[key];
}

LoginThrottle::Refusal::~Refusal() {
  const std::lock_guard lock(throttle_.mutex_);
  for (const auto& key : keys_) {
    const auto found = throttle_.waiting_.find(key);
    if (--found->second == 0) throttle_.waiting_.erase(found);
  }
}

bool LoginThrottle::allows(std::string_view address, std::string_view user) const {
  const std::lock_guard lock(mutex_);
  return waiting(std::string(address)) < kMostOfAddress && waiting(key_of(address, user)) < kMostOfUser;
}

std::size_t LoginThrottle::waiting(const std::string& key) const {
  const auto found = waiting_.find(key);
  DCHECK(found == waiting_.end() || found->second > 0, "who is kept has a refusal that waits");
  return found == waiting_.end() ? 0 : found->second;
}

}  // namespace eindb
