#pragma once

#include <vector>

#include "executor/block_copy.hpp"
#include "executor/exchange.hpp"

namespace eindb {

/// One box of elements that travels between this rank and a peer.
struct PeerPiece {
  Rank peer = 0;
  IndexBox box;
};

/// Sends pieces of `source` to peers, and receives others into `target`, each peer at most one either way. Pieces
/// travel in messages of a few megabytes, from where they lie if they lie together. Ends when all of them are there;
/// Error{Corrupt} if a peer sends other bytes than those of its piece.
void exchange_pieces(const BoxSource& source, const std::vector<PeerPiece>& to_send, const BoxTarget& target,
                     const std::vector<PeerPiece>& to_receive, DType dtype, Exchange& exchange);

}  // namespace eindb
