// A message is the number of its kind in ToWorker or ToCoordinator, a byte, and then its fields in the order of
// fields(), as ByteWriter writes them: see message_fields.hpp.
#include "cluster/control_message.hpp"

#include "cluster/message_fields.hpp"
#include "common/caught_error.hpp"
#include "common/memory_wait.hpp"

namespace eindb {

template <>
struct FieldsOf<NodeProfile> {
  static auto tie(auto& p) {
    return std::tie(p.seconds, p.kernel_calls, p.skipped_calls, p.tiles_in, p.tiles_out, p.bytes, p.elements);
  }
};
template <>
struct FieldsOf<StepProfile> {
  static auto tie(auto& p) {
    return std::tie(p.seconds, p.seconds_exchanging, p.seconds_waiting, p.bytes_sent, p.bytes_received, p.messages_sent,
                    p.messages_received, p.pieces_received, p.tiles, p.bytes, p.compute);
  }
};
template <>
struct FieldsOf<ExecutionProfile> {
  static auto tie(auto& p) { return std::tie(p.steps, p.seconds, p.peak_bytes, p.workspace_bytes); }
};
template <>
struct FieldsOf<LogPlace> {
  static auto tie(auto& place) { return std::tie(place.generation, place.frames, place.checksum); }
};

namespace {

template <class Message>
std::vector<std::byte> encode_message(const Message& message) {
  ByteWriter out;
  FieldWriter(out).put(message);
  return out.take();
}

template <class Message>
Message decode_message(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Message message;
  FieldReader(in).get(message);
  in.end();
  return message;
}

void check_version(std::uint32_t version, const char* peer) {
  if (version == kControlVersion) return;
  throw Error(ErrorKind::Unsupported,
              std::string(peer) + " speaks version " + std::to_string(version) +
                  " of the cluster's protocol, this one " + std::to_string(kControlVersion),
              std::nullopt, "install the same version of eindb on all nodes");
}

// Reads the version in a side's first message, after the number of its kind.
std::uint32_t version_in(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  ByteReader::require(in.byte() == 0, "a node does not begin as nodes of a cluster do");
  std::uint32_t version = 0;
  FieldReader(in).get(version);
  return version;
}

}  // namespace

RemoteError RemoteError::of(const Error& error) {
  return when_there_is_memory([&] { return RemoteError{error.kind(), error.message(), error.hint()}; });
}

RemoteError RemoteError::of(const std::exception_ptr& error) {
  return when_there_is_memory([&] {
    try {
      std::rethrow_exception(error);
    } catch (...) {
      return of(caught_error("this request"));
    }
  });
}

std::vector<std::byte> encode(const ToWorker& message) { return encode_message(message); }
std::vector<std::byte> encode(const ToCoordinator& message) { return encode_message(message); }
ToWorker decode_to_worker(std::span<const std::byte> bytes) { return decode_message<ToWorker>(bytes); }
ToCoordinator decode_to_coordinator(std::span<const std::byte> bytes) { return decode_message<ToCoordinator>(bytes); }

control::Hello decode_hello(std::span<const std::byte> bytes) {
  check_version(version_in(bytes), "the coordinator");
  return std::get<control::Hello>(decode_to_worker(bytes));
}

control::Welcome decode_welcome(std::span<const std::byte> bytes) {
  constexpr std::byte kRefusal{1};
  if (!bytes.empty() && bytes.front() == kRefusal)
    throw std::get<control::Refusal>(decode_to_coordinator(bytes)).error.error();
  check_version(version_in(bytes), "the worker");
  return std::get<control::Welcome>(decode_to_coordinator(bytes));
}

// Differences wrap, so that every number has one.
control::HeldContents control::HeldContents::of(const ContentRuns& contents) {
  HeldContents out;
  std::int64_t next_tile = 0;
  std::uint64_t next_content = 0;
  for (const auto& run : contents.runs()) {
    const auto content = static_cast<std::uint64_t>(number(run.content));
    const auto skipped = static_cast<std::uint64_t>(run.first - next_tile);
    const auto more = static_cast<std::uint64_t>(run.last - run.first);
    out.runs.push_back({skipped, more, static_cast<std::int64_t>(content - next_content - skipped)});
    next_tile = run.last + 1;
    next_content = content + more + 1;
  }
  return out;
}

ContentRuns control::HeldContents::contents() const {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  ContentRuns out;
  std::uint64_t next_tile = 0;
  std::uint64_t next_content = 0;
  for (const auto& run : runs) {
    ByteReader::require(run.skipped <= kMost - next_tile && run.more < kMost - next_tile - run.skipped,
                        "the tiles of a list of contents are too many");
    const auto first = next_tile + run.skipped;
    const auto content = next_content + run.skipped + static_cast<std::uint64_t>(run.jump);
    ByteReader::require(content > 0 && content <= kMost - run.more, "a list of contents has an improper number");
    out.add({static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + run.more),
             ContentId{static_cast<std::int64_t>(content)}});
    next_tile = first + run.more + 1;
    next_content = content + run.more + 1;
  }
  return out;
}

std::size_t control::bytes_of(const Put& put) {
  std::size_t bytes = 0;
  for (const auto& content : put.contents) bytes += content.bytes.size();
  return bytes;
}

}  // namespace eindb
