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
#include "storage/shards/content_runs.hpp"
#include "storage/shards/shard_numbers.hpp"
#include "storage/sqlite/write_ahead_log.hpp"
#include "tensor/stored_type.hpp"
#include "tensor/tile_format.hpp"
#include "tensor/tile_holders.hpp"

namespace eindb {

/// Increases with every change to the meaning of messages or the format of plans. Nodes of different versions refuse
/// each other, because a plan must mean the same on all of them.
inline constexpr std::uint32_t kControlVersion = 11;

/// A node that receives nothing for this many heartbeats considers the other lost.
inline constexpr int kMissedHeartbeats = 3;

/// The limit for contents sent to one worker that it has not stored yet.
inline constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;

/// An Error for another node, without its places in the statement's text.
struct RemoteError {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  std::string hint;

  /// Waits for memory if necessary, so that an error can always be reported.
  static RemoteError of(const Error& error);
  static RemoteError of(const std::exception_ptr& error);
  Error error() const { return {kind, message, std::nullopt, hint}; }

  friend bool operator==(const RemoteError&, const RemoteError&) = default;
  static auto fields(auto& self) { return std::tie(self.kind, self.message, self.hint); }
};

/// The state of a worker, sent with every heartbeat.
struct WorkerLoad {
  bool draining = false;
  std::uint32_t statements = 0;  ///< number of running statements
  std::int64_t memory_used = 0;  ///< by running statements
  std::int64_t tiles_stored = 0;
  std::int64_t bytes_stored = 0;
  std::int64_t bytes_free = 0;  ///< approximate room for tiles; 0: the disk is full
  std::int64_t bytes_sent = 0;  ///< by the exchanges of statements, since the worker started
  std::int64_t bytes_received = 0;
  std::chrono::milliseconds disk_silence{0};  ///< how long its disk has not answered; 0: it answers
  /// A coordinator has left, and its undecided transactions have not been asked for since.
  bool coordinator_left = false;

  friend bool operator==(const WorkerLoad&, const WorkerLoad&) = default;
  static auto fields(auto& self) {
    return std::tie(self.draining, self.statements, self.memory_used, self.tiles_stored, self.bytes_stored,
                    self.bytes_free, self.bytes_sent, self.bytes_received, self.disk_silence, self.coordinator_left);
  }
};

/// A tile of a result that a worker has stored.
struct StoredTile {
  std::int64_t tile = 0;
  std::uint64_t bytes = 0;     ///< as in TileReference
  std::uint64_t checksum = 0;  ///< as in TileReference
  TileFormat format = TileFormat::Dense;
  std::uint32_t count = 0;  ///< of stored cells, as the tile's header has it

  friend bool operator==(const StoredTile&, const StoredTile&) = default;
  static auto fields(auto& self) { return std::tie(self.tile, self.bytes, self.checksum, self.format, self.count); }
};

/// The report of one rank on its part of a statement.
struct RankReport {
  ExecutionProfile profile;
  /// For each result of the statement, its tiles that are not all zero, in ascending order. Lists are empty for results
  /// that are not stored; there may be no lists at all.
  std::vector<std::vector<StoredTile>> stored;

  static auto fields(auto& self) { return std::tie(self.profile, self.stored); }
};

/// The numbering of the contents that workers store for a result.
struct ResultContents {
  std::string tensor;  ///< name for messages
  ShardTransaction transaction{};
  ContentId first{};  ///< content of tile 0; tile n has this number plus n
  Encoding encoding = Encoding::Plain;
  FormatChoice formats = FormatChoice::Auto;

  friend bool operator==(const ResultContents&, const ResultContents&) = default;
  static auto fields(auto& self) {
    return std::tie(self.tensor, self.transaction, self.first, self.encoding, self.formats);
  }
};

/// The messages between a coordinator (C) and a worker (W) on their channel. The coordinator begins with Hello, and the
/// worker answers Welcome or Refusal. Then both send messages at any time, at least a heartbeat.
namespace control {

/// C to W: the coordinator's database, and the heartbeat interval of both sides.
struct Hello {
  std::uint32_t version = kControlVersion;
  std::int64_t database = 0;  ///< identity (ShardLog); 0: none yet
  std::chrono::milliseconds heartbeat{0};
  std::vector<std::int64_t> former = {};  ///< earlier identities of the database
  bool transient = false;                 ///< a database in memory: nobody knows its tiles after this process

  friend bool operator==(const Hello&, const Hello&) = default;
  static auto fields(auto& self) {
    return std::tie(self.version, self.database, self.heartbeat, self.former, self.transient);
  }
};

/// W to C: accepts the coordinator.
struct Welcome {
  std::uint32_t version = kControlVersion;
  std::string program;       ///< program version: "0.1.0"
  DataId data{};             ///< identity of its data directory
  std::string data_address;  ///< see ExchangeFactory::address()
  std::uint32_t threads = 1;
  std::int64_t memory_limit = 0;  ///< of all statements together
  ShardEpoch epoch = {};          ///< the last one it was told of
  std::int64_t bytes_free = 0;    ///< as in WorkerLoad
  std::string memory_pool = {};   ///< as in WorkerOptions

  friend bool operator==(const Welcome&, const Welcome&) = default;
  static auto fields(auto& self) {
    return std::tie(self.version, self.program, self.data, self.data_address, self.threads, self.memory_limit,
                    self.epoch, self.bytes_free, self.memory_pool);
  }
};

/// W to C: refuses the coordinator; the channel ends.
struct Refusal {
  RemoteError error;

  friend bool operator==(const Refusal&, const Refusal&) = default;
  static auto fields(auto& self) { return std::tie(self.error); }
};

/// C to W: a sign of life.
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

/// ContentRuns as differences, so that a run takes a few bytes.
struct HeldContents {
  struct Run {
    std::uint64_t skipped = 0;  ///< tiles between the end of the run before, or tile 0, and this run
    std::uint64_t more = 0;     ///< tiles behind the first one
    std::int64_t jump = 0;  ///< from the content that the run before would go on with, or 0, to that of the first tile

    friend bool operator==(const Run&, const Run&) = default;
    static auto fields(auto& self) { return std::tie(self.skipped, self.more, self.jump); }
  };
  std::vector<Run> runs;

  static HeldContents of(const ContentRuns& contents);
  /// Error{Corrupt} if the numbers are not those of ContentRuns.
  ContentRuns contents() const;

  friend bool operator==(const HeldContents&, const HeldContents&) = default;
  static auto fields(auto& self) { return std::tie(self.runs); }
};

/// C to W: run a rank of a statement.
struct Run {
  std::uint64_t statement = 0;  ///< unique among all coordinators
  Rank rank = 0;
  std::vector<std::string> addresses;  ///< of the exchanges of all ranks
  std::vector<std::byte> plan;         ///< from encode_plan()
  std::uint32_t threads = 0;           ///< 0: all of the worker's
  std::int64_t memory_limit = 0;       ///< 0: the share that the worker gives
  /// For each holder list, the contents of the tiles that this rank holds; arbitrary for others.
  std::vector<HeldContents> contents;
  /// For each result; nullopt if it is not stored. Empty if none is stored.
  std::vector<std::optional<ResultContents>> results;

  friend bool operator==(const Run&, const Run&) = default;
  static auto fields(auto& self) {
    return std::tie(self.statement, self.rank, self.addresses, self.plan, self.threads, self.memory_limit,
                    self.contents, self.results);
  }
};

/// W to C: the statement has ended here. Sent once for each Run.
struct Done {
  std::uint64_t statement = 0;
  std::variant<RankReport, RemoteError> outcome;
  /// The contents for this rank that are missing or damaged; listed if the rank has found one such content.
  std::vector<ContentId> damaged;
  std::optional<UnreachablePeer> unreachable = std::nullopt;  ///< as in PeerLost

  static auto fields(auto& self) { return std::tie(self.statement, self.outcome, self.damaged, self.unreachable); }
};

/// C to W: end the statement with this error. Done follows as usual.
struct Stop {
  std::uint64_t statement = 0;
  RemoteError error;

  friend bool operator==(const Stop&, const Stop&) = default;
  static auto fields(auto& self) { return std::tie(self.statement, self.error); }
};

/// C to W: finish running statements, take no new ones, then leave.
struct Drain {
  friend bool operator==(const Drain&, const Drain&) = default;
  static auto fields(auto& /*self*/) { return std::tie(); }
};

/// W to C: the worker is about to leave.
struct Leave {
  std::string reason;

  friend bool operator==(const Leave&, const Leave&) = default;
  static auto fields(auto& self) { return std::tie(self.reason); }
};

// ---- Contents of sharded tensors: see storage/shards/shard_access.hpp ---------------------------------------------
// Requests are answered in order, each by a Reply.

struct NewContent {
  ContentId content{};
  std::string tensor;
  std::vector<std::byte> bytes;  ///< the encoded tile
  std::int64_t since = 0;        ///< as in OutgoingContent

  friend bool operator==(const NewContent&, const NewContent&) = default;
  static auto fields(auto& self) { return std::tie(self.content, self.tensor, self.bytes, self.since); }
};

/// C to W: store contents. Reply: Acknowledged once they are stored, or an error, which Prepare repeats. Unstored
/// contents are limited to kMostWaitingBytes, or to one Put of any size.
struct Put {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::vector<NewContent> contents;

  friend bool operator==(const Put&, const Put&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.contents); }
};

/// The total size of a Put's contents in bytes.
std::size_t bytes_of(const Put& put);

/// C to W: send contents. Reply: Contents.
struct Fetch {
  std::uint64_t request = 0;
  std::vector<ContentId> contents;

  friend bool operator==(const Fetch&, const Fetch&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.contents); }
};

/// C to W: prepare the transaction. Reply: Acknowledged.
struct Prepare {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::int64_t contents = 0;  ///< number of contents that the worker must have

  friend bool operator==(const Prepare&, const Prepare&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.contents); }
};

/// As ContentRange.
struct SentRange {
  ContentId first{};
  ContentId last{};

  friend bool operator==(const SentRange&, const SentRange&) = default;
  static auto fields(auto& self) { return std::tie(self.first, self.last); }
};

/// C to W: commit the transaction and keep these contents. Reply: Acknowledged.
struct Commit {
  std::uint64_t request = 0;
  ShardTransaction transaction{};
  std::vector<SentRange> kept;

  friend bool operator==(const Commit&, const Commit&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.transaction, self.kept); }
};

/// C to W: abort the transaction. No Reply.
struct Abort {
  ShardTransaction transaction{};

  friend bool operator==(const Abort&, const Abort&) = default;
  static auto fields(auto& self) { return std::tie(self.transaction); }
};

/// C to W: drop the contents of these ranges that came up to this epoch (ShardAccess::drop). Reply: Acknowledged.
struct Drop {
  std::uint64_t request = 0;
  std::vector<SentRange> contents;
  std::int64_t as_of = kAnyEpoch;

  friend bool operator==(const Drop&, const Drop&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.contents, self.as_of); }
};

/// C to W: list prepared transactions without an outcome. Reply: Undecided.
struct AskUndecided {
  std::uint64_t request = 0;

  friend bool operator==(const AskUndecided&, const AskUndecided&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

/// C to W: replaces a damaged or lost content. Reply: Acknowledged.
struct Repair {
  std::uint64_t request = 0;
  NewContent content;

  friend bool operator==(const Repair&, const Repair&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.content); }
};

/// C to W: check whether data can be exchanged with the nodes at these addresses. Reply: Probed, possibly out of order.
struct Probe {
  std::uint64_t request = 0;
  std::vector<std::string> addresses;

  friend bool operator==(const Probe&, const Probe&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.addresses); }
};

/// C to W: later messages belong to this epoch of the database. No Reply.
struct Advance {
  ShardEpoch epoch;

  friend bool operator==(const Advance&, const Advance&) = default;
  static auto fields(auto& self) { return std::tie(self.epoch); }
};

/// C to W: `among` workers, including this one, share the memory of its pool. No Reply.
struct ShareMemory {
  std::uint32_t among = 1;

  friend bool operator==(const ShareMemory&, const ShareMemory&) = default;
  static auto fields(auto& self) { return std::tie(self.among); }
};

/// C to W: a copy of the database's file has taken over. The data now belongs to `database`; `former` are earlier
/// identities, as in Hello. Reply: Acknowledged.
struct Claim {
  std::uint64_t request = 0;
  std::int64_t database = 0;
  std::vector<std::int64_t> former;

  friend bool operator==(const Claim&, const Claim&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.database, self.former); }
};

/// C to W: list all contents. Reply: ContentList.
struct AskContents {
  std::uint64_t request = 0;

  friend bool operator==(const AskContents&, const AskContents&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

// ---- The copy of the coordinator's file: see storage/worker_file/standby_copy.hpp ---------------------------------

/// C to W: where the copy ends. Reply: StandbyEnd.
struct AskStandby {
  std::uint64_t request = 0;

  friend bool operator==(const AskStandby&, const AskStandby&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

/// C to W: begin a new copy. Reply: Acknowledged.
struct BeginStandby {
  std::uint64_t request = 0;

  friend bool operator==(const BeginStandby&, const BeginStandby&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

/// C to W: the next bytes of the new copy's file. Reply: Acknowledged.
struct StandbyBytes {
  std::uint64_t request = 0;
  std::int64_t from = 0;
  std::vector<std::byte> bytes;

  friend bool operator==(const StandbyBytes&, const StandbyBytes&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.from, self.bytes); }
};

/// C to W: frames of the coordinator's log, behind the end of the copy's. Reply: Acknowledged once they are durable.
struct StandbyFrames {
  std::uint64_t request = 0;
  bool of_new_copy = false;
  LogPlace behind = {};
  std::vector<std::byte> header;  ///< of the log
  std::vector<std::byte> frames;

  friend bool operator==(const StandbyFrames&, const StandbyFrames&) = default;
  static auto fields(auto& self) {
    return std::tie(self.request, self.of_new_copy, self.behind, self.header, self.frames);
  }
};

/// C to W: the new copy is whole. Reply: Acknowledged.
struct FinishStandby {
  std::uint64_t request = 0;

  friend bool operator==(const FinishStandby&, const FinishStandby&) = default;
  static auto fields(auto& self) { return std::tie(self.request); }
};

struct Acknowledged {
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
  static auto fields(auto& /*self*/) { return std::tie(); }
};

struct Contents {
  std::vector<std::optional<std::vector<std::byte>>> bytes;  ///< in the order asked for; absent: it is not there

  friend bool operator==(const Contents&, const Contents&) = default;
  static auto fields(auto& self) { return std::tie(self.bytes); }
};

struct Undecided {
  std::vector<ShardTransaction> transactions;

  friend bool operator==(const Undecided&, const Undecided&) = default;
  static auto fields(auto& self) { return std::tie(self.transactions); }
};

/// For each address the error; nullopt: data can be exchanged.
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

struct StandbyEnd {
  std::optional<LogPlace> place;  ///< as StandbyCopy::place()

  friend bool operator==(const StandbyEnd&, const StandbyEnd&) = default;
  static auto fields(auto& self) { return std::tie(self.place); }
};

/// W to C: all contents that the worker has found damaged without having been asked for them (Scrubber).
struct Damaged {
  std::vector<ContentId> contents;

  friend bool operator==(const Damaged&, const Damaged&) = default;
  static auto fields(auto& self) { return std::tie(self.contents); }
};

/// W to C: the answer to a request.
struct Reply {
  std::uint64_t request = 0;
  std::variant<RemoteError, Acknowledged, Contents, Undecided, Probed, ContentList, StandbyEnd> answer;

  friend bool operator==(const Reply&, const Reply&) = default;
  static auto fields(auto& self) { return std::tie(self.request, self.answer); }
};

}  // namespace control

/// Hello, Welcome and Refusal come first and have the same form in all versions.
using ToWorker =
    std::variant<control::Hello, control::Heartbeat, control::Run, control::Stop, control::Drain, control::Put,
                 control::Fetch, control::Prepare, control::Commit, control::Abort, control::Drop,
                 control::AskUndecided, control::Repair, control::Probe, control::Advance, control::AskContents,
                 control::ShareMemory, control::Claim, control::AskStandby, control::BeginStandby,
                 control::StandbyBytes, control::StandbyFrames, control::FinishStandby>;
using ToCoordinator = std::variant<control::Welcome, control::Refusal, control::Pulse, control::Done, control::Leave,
                                   control::Reply, control::Damaged>;

std::vector<std::byte> encode(const ToWorker& message);
std::vector<std::byte> encode(const ToCoordinator& message);
/// Decodes a message from encode(). The bytes are untrusted: Error{Corrupt} if they are not a valid message.
ToWorker decode_to_worker(std::span<const std::byte> bytes);
ToCoordinator decode_to_coordinator(std::span<const std::byte> bytes);
/// Decodes the first message of a channel, of any version. Error{Corrupt} if it is not a Hello, Error{Unsupported} for
/// another version.
control::Hello decode_hello(std::span<const std::byte> bytes);
/// Decodes the answer to Hello, with the same errors; throws the error in a Refusal.
control::Welcome decode_welcome(std::span<const std::byte> bytes);

}  // namespace eindb
