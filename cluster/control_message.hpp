#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "cluster/peer_lost.hpp"
#include "common/error.hpp"
#include "executor/execution_profile.hpp"
#include "storage/shards/shard_numbers.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// Raised with every change of what messages mean or of the format of plans: nodes of different versions refuse each
/// other, because a plan means the same on all of them or nothing.
inline constexpr std::uint32_t kControlVersion = 5;

/// Who hears nothing for so many heartbeats takes the other for lost.
inline constexpr int kMissedHeartbeats = 3;

/// Contents on their way to one worker that it has not stored yet.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;

/// An Error on its way to another node; places in the statement's text stay behind.
struct RemoteError {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  std::string hint;

  /// Waits for the memory that it takes: who has asked is told whatever happens.
  static RemoteError of(const Error& error);
  static RemoteError of(const std::exception_ptr& error);
  Error error() const { return {kind, message, std::nullopt, hint}; }

  friend bool operator==(const RemoteError&, const RemoteError&) = default;
  static auto fields(auto& self) { return std::tie(self.kind, self.message, self.hint); }
};

/// How a worker is, told with every heartbeat.
struct WorkerLoad {
  bool draining = false;
  std::uint32_t statements = 0;  ///< that run
  std::int64_t memory_used = 0;  ///< by them
  std::int64_t tiles_stored = 0;
  std::int64_t bytes_stored = 0;
  std::int64_t bytes_free = 0;  ///< of tiles that it has room for, about; 0: its disk is full
  std::int64_t bytes_sent = 0;  ///< by the exchanges of statements, since the worker began
  std::int64_t bytes_received = 0;
  std::chrono::milliseconds disk_silence{0};  ///< its disk hangs for so long; 0: it answers
  bool coordinator_left = false;  ///< one has, and nobody has asked since for what it may have left undecided

  friend bool operator==(const WorkerLoad&, const WorkerLoad&) = default;
  static auto fields(auto& self) {
    return std::tie(self.draining, self.statements, self.memory_used, self.tiles_stored, self.bytes_stored,
                    self.bytes_free, self.bytes_sent, self.bytes_received, self.disk_silence, self.coordinator_left);
  }
};

/// A tile of a result that a worker has stored.
struct StoredTile {
  std::int64_t tile = 0;
  std::uint64_t bytes = 0;     ///< as of TileReference
  std::uint64_t checksum = 0;  ///< likewise

  friend bool operator==(const StoredTile&, const StoredTile&) = default;
  static auto fields(auto& self) { return std::tie(self.tile, self.bytes, self.checksum); }
};

/// The report of one rank on its part of a statement.
struct RankReport {
  ExecutionProfile profile;
  /// Of each result of the statement those tiles that are not all zero, in ascending order; empty lists of results that
  /// are not stored, or no lists at all.
  std::vector<std::vector<StoredTile>> stored;

  static auto fields(auto& self) { return std::tie(self.profile, self.stored); }
};

/// Where workers put the tiles of a result that they store.
struct ResultContents {
  std::string tensor;  ///< its name, for people
  ShardTransaction transaction{};
  ContentId first{};  ///< of tile 0; that of tile n is n more

  friend bool operator==(const ResultContents&, const ResultContents&) = default;
  static auto fields(auto& self) { return std::tie(self.tensor, self.transaction, self.first); }
};

/// What a coordinator and a worker say to each other on their channel. The coordinator begins with Hello, the worker
/// answers Welcome or Refusal; from then on both send what they have to say, at least their heartbeat.
namespace control {

/// C to W: who asks, and how often both give a sign of life.
struct Hello {
  std::uint32_t version = kControlVersion;
  std::int64_t database = 0;  ///< its identity (ShardLog); 0: it has none yet
  std::chrono::milliseconds heartbeat{0};
  std::vector<std::int64_t> former = {};  ///< identities that the database had before

  friend bool operator==(const Hello&, const Hello&) = default;
  static auto fields(auto& self) { return std::tie(self.version, self.database, self.heartbeat, self.former); }
};

/// W to C.
struct Welcome {
  std::uint32_t version = kControlVersion;
  std::string program;       ///< its version: "0.1.0"
  DataId data{};             ///< whose its data directory is
  std::string data_address;  ///< as of ExchangeFactory::address()
  std::uint32_t threads = 1;
  std::int64_t memory_limit = 0;  ///< of all statements together
  ShardEpoch epoch = {};          ///< that it was told of last
  std::int64_t bytes_free = 0;    ///< as of WorkerLoad
  std::string memory_pool = {};   ///< as of WorkerOptions

  friend bool operator==(const Welcome&, const Welcome&) = default;
  static auto fields(auto& self) {
    return std::tie(self.version, self.program, self.data, self.data_address, self.threads, self.memory_limit,
                    self.epoch, self.bytes_free, self.memory_pool);
  }
};

/// W to C: it does not take this coordinator, and the channel ends.
struct Refusal {
  RemoteError error;

  friend bool operator==(const Refusal&, const Refusal&) = default;
  static auto fields(auto& self) { return std::tie(self.error); }
};

/// C to W.
struct Heartbeat {
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
  static auto fields(auto& /*self*/) { return std::tie(); }
};

/// W to C: its heartbeat.
struct Pulse {
  WorkerLoad load;

  friend bool operator==(const Pulse&, const Pulse&) = default;
  static auto fields(auto& self) { return std::tie(self.load); }
};

/// C to W: be a rank of a statement.
struct Run {
  std::uint64_t statement = 0;  ///< no other has the number, at any coordinator
  Rank rank = 0;
  std::vector<std::string> addresses;  ///< of all ranks' exchanges
  std::vector<std::byte> plan;         ///< as of encode_plan()
  std::uint32_t threads = 0;           ///< 0: as many as the worker has
  std::int64_t memory_limit = 0;       ///< 0: what the worker has to give
  /// Of each list of holders the contents of the tiles that this rank holds, in ascending order of the tiles.
  std::vector<std::vector<ContentId>> contents;
  /// Of each result; absent where it is not stored. An empty list if none is.
  std::vector<std::optional<ResultContents>> results;

  friend bool operator==(const Run&, const Run&) = default;
  static auto fields(auto& self) {
    return std::tie(self.statement, self.rank, self.addresses, self.plan, self.threads, self.memory_limit,
                    self.contents, self.results);
  }
};

/// W to C: the statement has ended here; once for each Run.
struct Done {
  std::uint64_t statement = 0;
  std::variant<RankReport, RemoteError> outcome;
  /// Of the contents that the rank was to read those that are not there as they were written, if it came upon one.
  std::vector<ContentId> damaged;
  std::optional<UnreachablePeer> unreachable = std::nullopt;  ///< as of PeerLost

  static auto fields(auto& self) { return std::tie(self.statement, self.outcome, self.damaged, self.unreachable); }
};

/// C to W: end the statement with this error; it is answered by Done as ever.
struct Stop {
  std::uint64_t statement = 0;
  RemoteError error;

  friend bool operator==(const Stop&, const Stop&) = default;
  static auto fields(auto& self) { return std::tie(self.statement, self.error); }
};

/// C to W: finish what runs, take nothing new, and then leave.
struct Drain {
  friend bool operator==(const Drain&, const Drain&) = default;
  static auto fields(auto& /*self*/) { return std::tie(); }
};

/// W to C: it ends, in order.
struct Leave {
  std::string reason;

  friend bool operator==(const Leave&, const Leave&) = default;
  static auto fields(auto& self) { return std::tie(self.reason); }
};

// ---- Contents of sharded tensors: see storage/shards/shard_access.hpp. Requests are answered in their order, each by
// a Reply.

struct NewContent {
  ContentId content{};
  std::string tensor;
  std::vector<std::byte> bytes;  ///< the encoded tile

  friend bool operator==(const NewContent&, const NewContent&) = default;
  static auto fields(auto& self) { return std::tie(self.content, self.tensor, self.bytes); }
};

/// C to W; Reply: Acknowledged, when it is stored, or what went wrong, which shows at Prepare, too. Of contents that
/// are not stored yet a coordinator sends so many bytes at most (kMostWaitingBytes), or one Put of any size.
struct Put {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::vector<NewContent> contents;

  friend bool operator==(const Put&, const Put&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.contents); }
};

/// Of the contents that a Put brings.
std::size_t bytes_of(const Put& put);

/// C to W; Reply: Content.
struct Fetch {
  std::uint64_t request = 0;
  ContentId content{};

  friend bool operator==(const Fetch&, const Fetch&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.content); }
};

/// C to W; Reply: Acknowledged.
struct Prepare {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::int64_t contents = 0;  ///< that it must have

  friend bool operator==(const Prepare&, const Prepare&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.contents); }
};

struct KeptRange {
  ContentId first{};
  ContentId last{};

  friend bool operator==(const KeptRange&, const KeptRange&) = default;
  static auto fields(auto& self) { return std::tie(self.first, self.last); }
};

/// C to W; Reply: Acknowledged.
struct Commit {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::vector<KeptRange> kept;

  friend bool operator==(const Commit&, const Commit&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.kept); }
};

/// C to W; no Reply.
struct Abort {
  ShardTransaction transaction{};

  friend bool operator==(const Abort&, const Abort&) = default;
  static auto fields(auto& self) { return std::tie(self.transaction); }
};

/// C to W; Reply: Acknowledged.
struct Drop {
  std::uint64_t request = 0;
  std::vector<ContentId> contents;

  friend bool operator==(const Drop&, const Drop&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.contents); }
};

/// C to W: which transactions have been prepared and have no end? Reply: Undecided.
struct AskUndecided {
  std::uint64_t request = 0;

  friend bool operator==(const AskUndecided&, const AskUndecided&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

/// C to W: a content in place of what the worker has damaged, or lost. Reply: Acknowledged.
struct Repair {
  std::uint64_t request = 0;
  NewContent content;

  friend bool operator==(const Repair&, const Repair&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.content); }
};

/// C to W: can it exchange data with those who listen at these addresses? Reply: Probed, out of the order of the
/// others.
struct Probe {
  std::uint64_t request = 0;
  std::vector<std::string> addresses;

  friend bool operator==(const Probe&, const Probe&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.addresses); }
};

/// C to W; no Reply: what follows is of that epoch of the database.
struct Advance {
  ShardEpoch epoch;

  friend bool operator==(const Advance&, const Advance&) = default;
  static auto fields(auto& self) { return std::tie(self.epoch); }
};

/// C to W: `among` workers, itself included, share the memory of its pool. No Reply.
struct ShareMemory {
  std::uint32_t among = 1;

  friend bool operator==(const ShareMemory&, const ShareMemory&) = default;
  static auto fields(auto& self) { return std::tie(self.among); }
};

/// C to W: a copy of the database's file has taken over; the data belongs to `database`, which was `former` before, as
/// in Hello. Reply: Acknowledged.
struct Claim {
  std::uint64_t request = 0;
  std::int64_t database = 0;
  std::vector<std::int64_t> former;

  friend bool operator==(const Claim&, const Claim&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.database, self.former); }
};

/// C to W: what is there? Reply: ContentList.
struct AskContents {
  std::uint64_t request = 0;

  friend bool operator==(const AskContents&, const AskContents&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

struct Acknowledged {
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
  static auto fields(auto& /*self*/) { return std::tie(); }
};

struct Content {
  std::optional<std::vector<std::byte>> bytes;  ///< absent: the worker does not have it

  friend bool operator==(const Content&, const Content&) = default;
  static auto fields(auto& self) { return std::tie(self.bytes); }
};

struct Undecided {
  std::vector<ShardTransaction> transactions;

  friend bool operator==(const Undecided&, const Undecided&) = default;
  static auto fields(auto& self) { return std::tie(self.transactions); }
};

/// Of each address why not; absent: it can.
struct Probed {
  std::vector<std::optional<RemoteError>> errors;

  friend bool operator==(const Probed&, const Probed&) = default;
  static auto fields(auto& self) { return std::tie(self.errors); }
};

struct ContentList {
  std::vector<ContentId> contents;

  friend bool operator==(const ContentList&, const ContentList&) = default;
  static auto fields(auto& self) { return std::tie(self.contents); }
};

/// W to C.
struct Reply {
  std::uint64_t request = 0;
  std::variant<RemoteError, Acknowledged, Content, Undecided, Probed, ContentList> answer;

  friend bool operator==(const Reply&, const Reply&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.answer); }
};

}  // namespace control

/// Hello, Welcome and Refusal come first and keep their form in all versions.
using ToWorker = std::variant<control::Hello, control::Heartbeat, control::Run, control::Stop, control::Drain,
                              control::Put, control::Fetch, control::Prepare, control::Commit, control::Abort,
                              control::Drop, control::AskUndecided, control::Repair, control::Probe, control::Advance,
                              control::AskContents, control::ShareMemory, control::Claim>;
using ToCoordinator =
    std::variant<control::Welcome, control::Refusal, control::Pulse, control::Done, control::Leave, control::Reply>;

std::vector<std::byte> encode(const ToWorker& message);
std::vector<std::byte> encode(const ToCoordinator& message);
/// Reads a message that encode() wrote. The bytes may be anything: Error{Corrupt} if they are no such message.
ToWorker decode_to_worker(std::span<const std::byte> bytes);
ToCoordinator decode_to_coordinator(std::span<const std::byte> bytes);
/// The first message of a channel, of whatever version. Error{Corrupt} if it is no Hello; Error{Unsupported} if it is
/// one of another version.
control::Hello decode_hello(std::span<const std::byte> bytes);
/// Its answer: as decode_hello(); what a Refusal says is thrown.
control::Welcome decode_welcome(std::span<const std::byte> bytes);

}  // namespace eindb
