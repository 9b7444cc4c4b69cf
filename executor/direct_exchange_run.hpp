#pragma once

#include <vector>

#include "executor/block_copy.hpp"
#include "executor/exchange.hpp"

namespace eindb {

/// A box of elements to transfer between this rank and a peer.
struct PeerPiece {
  Rank peer = 0;
  IndexBox box;
};

/// Sends pieces of `source` to peers and receives others into `target`, at most one per peer and direction. Pieces
/// travel in messages of a few megabytes, without a copy if they are contiguous. Returns when all pieces have arrived.
/// Error{Corrupt} if a peer sends a different number of bytes than its piece has.
void exchange_pieces(const BoxSource& source, const std::vector<PeerPiece>& to_send, const BoxTarget& target,
                     const std::vector<PeerPiece>& to_receive, DType dtype, Exchange& exchange);

}  // namespace eindb
