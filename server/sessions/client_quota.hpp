#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "common/check.hpp"
#include "server/protocol/shared_bytes.hpp"

namespace eindb {

/// How much of one kind a client may have the server keep for it from message to message: so many things, of so many
/// bytes in all, and of what all clients may. Whatever is kept holds its share, and gives it back when it goes. Not
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

    ClientQuota* quota_ = nullptr;  // null: of nothing
    std::size_t bytes_ = 0;
  };

  /// `things` are named in errors, whose hint is `remedy`: both are literals.
  ClientQuota(std::string_view things, std::string_view remedy, std::size_t most, std::size_t most_bytes,
              std::shared_ptr<SharedBytes> of_all = std::make_shared<SharedBytes>())
      : things_(things), remedy_(remedy), most_(most), most_bytes_(most_bytes), of_all_(std::move(of_all)) {
    CHECK(of_all_ != nullptr, "what one client keeps is a part of what all keep");
  }
  ClientQuota(const ClientQuota&) = delete;
  ClientQuota& operator=(const ClientQuota&) = delete;

  /// For one more thing; the quota outlives it. Throws Error with code 53400 (configuration_limit_exceeded) if the
  /// client has too much already, 53200 (out_of_memory) if all of them together have.
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
