#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/shared_bytes.hpp"

namespace eindb {

/// Limits the items of one kind that the server keeps for a client between messages: their number, their bytes, and
/// their part of the limit for all clients. Each item holds a Share, which returns its part when it is destroyed. Not
/// thread-safe.
class ClientQuota {
 public:
  class Share {
   public:
    Share() = default;
    ~Share() { give_back(); }
    Share(Share&& other) noexcept;
    Share& operator=(Share&& other) noexcept;

   private:
    friend class ClientQuota;
    Share(ClientQuota* quota, std::size_t bytes) : quota_(quota), bytes_(bytes) {}
    void give_back() noexcept;

    ClientQuota* quota_ = nullptr;  // null: an empty share
    std::size_t bytes_ = 0;
  };

  /// `things` names the items in errors and `remedy` is their hint; both must be literals.
  ClientQuota(std::string_view things, std::string_view remedy, std::size_t most, std::size_t most_bytes,
              std::shared_ptr<SharedBytes> of_all = std::make_shared<SharedBytes>())
      : things_(things), remedy_(remedy), most_(most), most_bytes_(most_bytes), of_all_(std::move(of_all)) {
    CHECK(of_all_ != nullptr, "what one client keeps is a part of what all keep");
  }
  ClientQuota(const ClientQuota&) = delete;
  ClientQuota& operator=(const ClientQuota&) = delete;

  /// Reserves a share for one more item; the quota must outlive it. Throws Error with code 53400
  /// (configuration_limit_exceeded) if the client exceeds its limit, 53200 (out_of_memory) if all clients together
  /// exceed theirs.
  Share take(std::size_t bytes);

 private:
  const std::string_view things_;
  const std::string_view remedy_;
  const std::size_t most_;
  const std::size_t most_bytes_;
  const std::shared_ptr<SharedBytes> of_all_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace eindb
