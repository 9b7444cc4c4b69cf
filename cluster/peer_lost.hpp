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
  bool is_silent = false;  ///< its connection is open, but nothing arrives

  friend bool operator==(const UnreachablePeer&, const UnreachablePeer&) = default;
  static auto fields(auto& self) { return std::tie(self.peer, self.is_silent); }
};

/// The failure of a data connection as seen by the rank at one end: it cannot be established, it has broken, or nothing
/// arrives through it. The other rank may be running, and connected to the coordinator.
class PeerLost : public Error {
 public:
  PeerLost(const UnreachablePeer& peer, const Error& error) : Error(error), peer_(peer) {}
  const UnreachablePeer& peer() const { return peer_; }

 private:
  UnreachablePeer peer_;
};

/// The peer of a PeerLost; nullopt for other failures.
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
