#pragma once

#include <array>

namespace eindb {

/// The costs of moving a relation between ranks by a transport, in seconds. The seconds of an exchange are a sum of
/// counts times these costs (optimizer/redistribution/exchange_choice).
struct TransportCosts {
  double per_exchange = 0;     ///< for each operation in which a rank sends anything
  double per_peer = 0;         ///< for each other rank that it sends to
  double per_byte = 0;         ///< received from others
  double per_copied_byte = 0;  ///< copied by a rank within its memory, in whatever order
  double per_piece = 0;        ///< for each piece of a tile that a rank receives, keeps or gives
  double per_streams = 0;      ///< for an exchange of pieces, beside per_exchange: its streams between all ranks

  /// Built-in figures, measured with all ranks on one machine (optimizer/redistribution/README.md).
  static constexpr TransportCosts of_tcp() { return {260e-6, 160e-6, 1.7e-9, 0.95e-9, 21e-6, 140e-6}; }
  static constexpr TransportCosts of_mpi() { return {80e-6, 12e-6, 0.33e-9, 0.35e-9, 5e-6, 115e-6}; }

  friend bool operator==(const TransportCosts&, const TransportCosts&) = default;
};

/// One of the costs by name.
struct TransportCost {
  const char* name;
  double TransportCosts::*value;
};
inline constexpr std::array<TransportCost, 6> kTransportCosts{{{"per_exchange", &TransportCosts::per_exchange},
                                                               {"per_peer", &TransportCosts::per_peer},
                                                               {"per_byte", &TransportCosts::per_byte},
                                                               {"per_copied_byte", &TransportCosts::per_copied_byte},
                                                               {"per_piece", &TransportCosts::per_piece},
                                                               {"per_streams", &TransportCosts::per_streams}}};

}  // namespace eindb
