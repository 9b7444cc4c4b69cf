#include "server/sessions/client_quota.hpp"

#include <string>
#include <utility>

#include "common/check.hpp"
#include "common/coded_error.hpp"

namespace eindb {
namespace {

constexpr std::string_view kLimitExceeded = "53400";

}  // namespace

ClientQuota::Share::Share(Share&& other) noexcept
    : quota_(std::exchange(other.quota_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ClientQuota::Share& ClientQuota::Share::operator=(Share&& other) noexcept {
  std::swap(quota_, other.quota_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void ClientQuota::Share::give_back() noexcept {
  if (quota_ == nullptr) return;
  DCHECK(quota_->count_ > 0 && quota_->bytes_ >= bytes_, "a share is given back once");
  --quota_->count_;
  quota_->bytes_ -= bytes_;
  quota_->of_all_->give_back(bytes_);
}

ClientQuota::Share ClientQuota::take(std::size_t bytes) {
  const auto refuse = [&](const std::string& limit) {
    throw CodedError(kLimitExceeded, ErrorKind::MemoryLimit, "a connection keeps at most " + limit,
                     std::string(remedy_));
  };
  const std::string things(things_);
  if (count_ >= most_) refuse(std::to_string(most_) + " " + things);
  if (bytes > most_bytes_ - bytes_) refuse(std::to_string(most_bytes_) + " bytes of " + things);
  if (!of_all_->try_take(bytes)) {
    throw CodedError(kOutOfMemory, ErrorKind::MemoryLimit,
                     "the server holds " + std::to_string(of_all_->most()) + " bytes of messages, " + things +
                         " and the like for all of its clients, and has no memory for more",
                     std::string(remedy_));
  }
  ++count_;
  bytes_ += bytes;
  CHECK(count_ <= most_ && bytes_ <= most_bytes_, "a client keeps no more than it may");
  return {this, bytes};
}

}  // namespace eindb
