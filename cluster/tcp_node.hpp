#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/channel.hpp"
#include "cluster/cluster_secret.hpp"
#include "cluster/message_memory.hpp"
#include "common/error.hpp"
#include "executor/exchange.hpp"
#include "security/tls_context.hpp"

namespace eindb {

struct TcpNodeOptions {
  std::string name;  ///< for messages and logs of peers: "coordinator", "10.0.0.3:7700"
  std::optional<std::string> listen =
      std::nullopt;  ///< HOST:PORT, port 0: one that is free; absent: nobody connects to this node
  ClusterSecret secret = {};
  /// The node's certificate, its key, and the authority that has signed the certificates of all nodes and of nobody
  /// else: every holder of such a certificate counts as a node, whatever its name. nullopt: connections are in clear
  /// text.
  std::optional<TlsOptions> tls = std::nullopt;
  /// Whether data connections to nodes of this host and user go through sockets of the host (cluster/local_socket)
  /// instead of TCP, where both ends would. Not with TLS.
  bool local_sockets = true;
  /// Called with one line for the node's operator, the reason why a connection was refused or closed. Called by several
  /// threads.
  std::function<void(std::string_view)> log = [](std::string_view) {};
  /// Called when a node has opened a channel to this one; `name` is as stated by the peer. Called by the node's own
  /// thread, so it must not wait.
  std::function<void(std::unique_ptr<Channel>, const std::string& name)> on_channel = nullptr;
  /// The limit for received messages on channels that are not taken yet, including incomplete ones; null: unlimited.
  std::shared_ptr<MessageMemory> messages = nullptr;
  std::chrono::milliseconds handshake_time{5000};  ///< for a whole handshake, on both sides
  std::chrono::milliseconds connect_time{10'000};  ///< for a channel, or for all connections of a statement
  /// The longest silence of a rank on a connection of a statement that others wait for; a multiple of kSignOfLife.
  std::chrono::milliseconds data_silence{15'000};
};

/// The interval at which a rank sends a sign of life on each connection of a statement.
inline constexpr std::chrono::milliseconds kSignOfLife{1000};

/// The ranks of a statement, from the view of one of them.
struct StatementRanks {
  std::uint64_t statement = 0;  ///< equal at all ranks and unique: a random number
  Rank rank = 0;                ///< of this node
  /// By rank, the HOST:PORT where it listens. May be empty for the last rank, which connects to all others.
  std::vector<std::string> addresses;
};

/// A process of a cluster: listens for other nodes, connects to them, and keeps connections between statements, so that
/// statements begin without handshakes. It has a thread of its own for this; exchanges of statements run in their
/// callers' threads.
///
/// Both sides of a connection prove that they know the cluster's secret (cluster/handshake.hpp). Before that, a peer
/// can only wait, for a limited time. Altered, repeated or forged frames close the connection with a line in the log,
/// and affect no other connection. Thread-safe.
class TcpNode {
 public:
  /// Starts listening. Error{Permission} if other machines can reach the address and there is neither a secret nor an
  /// authority for certificates; Error{Value} for an invalid address; Error{Io} if the address is not available; also
  /// TlsContext's errors.
  explicit TcpNode(TcpNodeOptions options);
  /// Closes its channels; its exchanges continue. All calls must have returned.
  ~TcpNode();
  TcpNode(const TcpNode&) = delete;
  TcpNode& operator=(const TcpNode&) = delete;

  /// 0 if it does not listen.
  std::uint16_t port() const;

  /// Opens a channel to the node that listens at `address`. Waits, and polls for cancellation as Exchange does.
  /// Error{WorkerLost} if the node does not answer in time; Error{Permission, Unsupported, Corrupt} as for Handshake;
  /// Error{Value, Permission} as for listening.
  std::unique_ptr<Channel> connect(const std::string& address);

  /// Opens this node's exchange of a statement. Waits until all ranks have connected; the ranks may call it in any
  /// order. Rank r connects to all lower ranks. Throws the errors of connect(), as a PeerLost with the rank's address.
  /// The exchange owns its connections; when it is destroyed, they are kept for the next statement unless this one has
  /// failed.
  std::unique_ptr<Exchange> open_exchange(const StatementRanks& ranks);

  /// For each address, nullopt if this node can exchange data with the node that listens there, otherwise the error.
  /// Waits at most a few times handshake_time, and polls for cancellation.
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses);

  /// The number of idle connections, for tests and statistics.
  std::size_t idle_connections();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace eindb
