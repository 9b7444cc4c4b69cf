#pragma once

#include <exception>
#include <optional>
#include <tuple>

#include "common/error.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// A rank that another one cannot exchange data with.
struct UnreachablePeer {
  Rank peer = 0;
  bool is_silent = false;  ///< its connection is open, and nothing comes

  friend bool operator==(const UnreachablePeer&, const UnreachablePeer&) = default;
  static auto fields(auto& self) { return std::tie(self.peer, self.is_silent); }
};

/// The failure of a data connection, as the rank at one end met it: it cannot be made, it has broken, or nothing comes
/// through it. The other may be well, and known to be so by the coordinator.
class PeerLost : public Error {
 public:
  PeerLost(const UnreachablePeer& peer, const Error& error) : Error(error), peer_(peer) {}
  const UnreachablePeer& peer() const { return peer_; }

 private:
  UnreachablePeer peer_;
};

/// Whom the failure is about, if it is a PeerLost.
inline std::optional<UnreachablePeer> lost_peer(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const PeerLost& error) {
    return error.peer();
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace eindb
