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
  std::string name;  ///< for messages and logs of others: "coordinator", "10.0.0.3:7700"
  std::optional<std::string> listen =
      std::nullopt;  ///< HOST:PORT, port 0: one that is free; absent: nobody connects to this node
  ClusterSecret secret = {};
  /// The node's certificate, its key, and the authority that has signed the certificates of all nodes, and of nobody
  /// else: whoever has such a certificate is a node, whatever its name. Absent: connections are in the clear.
  std::optional<TlsOptions> tls = std::nullopt;
  /// One line for those who run the node: why a connection was refused or closed. Called by several threads.
  std::function<void(std::string_view)> log = [](std::string_view) {};
  /// A node has opened a channel to this one, `name` as it says. Called by the node's own thread: must not wait.
  std::function<void(std::unique_ptr<Channel>, const std::string& name)> on_channel = nullptr;
  /// Of messages on channels that were received, or begun to be, and not taken; null: as much as they need.
  std::shared_ptr<MessageMemory> messages = nullptr;
  std::chrono::milliseconds handshake_time{5000};  ///< for all of one, on both sides
  std::chrono::milliseconds connect_time{10'000};  ///< for a channel, or for all connections of a statement
  /// How long a rank may be silent on a connection of a statement that others wait for; a few times kSignOfLife.
  std::chrono::milliseconds data_silence{15'000};
};

/// How often a rank says on each connection of a statement that it goes on.
inline constexpr std::chrono::milliseconds kSignOfLife{1000};

/// The ranks of one statement, as each of them sees it.
struct StatementRanks {
  std::uint64_t statement = 0;  ///< the same at all ranks, and of no other statement: a random number
  Rank rank = 0;                ///< of this node
  /// Of each rank, where it listens: HOST:PORT. Of the last one, which connects to all, it may be empty.
  std::vector<std::string> addresses;
};

/// A process of a cluster: listens for other nodes, connects to them, and keeps connections between statements, so that
/// a statement begins without handshakes. One thread of its own does that; the exchanges of statements run in their
/// callers' threads.
///
/// Who connects proves to know the cluster's secret, and has it proved (cluster/handshake.hpp); before, it can do
/// nothing but wait, and not for long. Frames that were altered, repeated or made by others close the connection with a
/// line in the log, and concern nobody else. Thread-safe.
class TcpNode {
 public:
  /// Listens. Error{Permission} if that is beyond this machine and there is neither a secret nor an authority for
  /// certificates; Error{Value} for what is no address; Error{Io} where the address cannot be had; TlsContext's errors.
  explicit TcpNode(TcpNodeOptions options);
  /// Its channels are closed; its exchanges go on. After all calls have returned.
  ~TcpNode();
  TcpNode(const TcpNode&) = delete;
  TcpNode& operator=(const TcpNode&) = delete;

  /// 0 if it does not listen.
  std::uint16_t port() const;

  /// A channel to the node that listens at `address`. Waits, and looks for cancellation as Exchange does.
  /// Error{WorkerLost} if nobody answers there in time; Error{Permission, Unsupported, Corrupt} as
  /// Handshake; Error{Value, Permission} as for listening.
  std::unique_ptr<Channel> connect(const std::string& address);

  /// This node's part in a statement: waits until all ranks have come, and may be called before or after others call
  /// it. Rank r connects to all lower ranks. Errors as connect(), as a PeerLost with the rank's address. The exchange
  /// keeps its connections until it is destroyed; then they are kept for the next statement, unless it has failed.
  std::unique_ptr<Exchange> open_exchange(const StatementRanks& ranks);

  /// Of each address whether this node can exchange data with the node that listens there: absent, or why not. Waits a
  /// few times the handshake's time at most, and looks for cancellation.
  std::vector<std::optional<Error>> probe(const std::vector<std::string>& addresses);

  /// Connections that wait for a statement, for tests and for statistics.
  std::size_t idle_connections();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace eindb
