#include "storage/sqlite/write_ahead_log.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "common/error.hpp"

namespace eindb {
namespace {

constexpr std::uint32_t kLogMagic = 0x377f0682;  // with the lowest bit: checksums of big-endian words
constexpr std::uint32_t kLogVersion = 3007000;
constexpr std::size_t kChecksummedOfHeader = 24;
constexpr std::size_t kLeastPage = 512;
constexpr std::size_t kLargestPage = 65536;

// Offsets in a log's header, in a frame's and in the index of the log in shared memory.
constexpr std::size_t kPageSizeAt = 8;
constexpr std::size_t kSaltsAt = 16;
constexpr std::size_t kHeaderChecksumAt = 24;
constexpr std::size_t kSizeAfterCommitAt = 4;
constexpr std::size_t kFrameSaltsAt = 8;
constexpr std::size_t kFrameChecksumAt = 16;
constexpr std::size_t kIndexHeaderBytes = 48;
constexpr std::size_t kIndexTransactionsAt = 8;
constexpr std::size_t kIndexIsThereAt = 12;
constexpr std::size_t kIndexFramesAt = 16;
constexpr std::size_t kIndexSaltsAt = 32;
constexpr int kIndexRegionBytes = 32 * 1024;

template <class T>
T native_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

std::uint32_t big_endian_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t n = 0; n < sizeof(value); ++n) value = value << 8U | std::to_integer<std::uint32_t>(bytes[at + n]);
  return value;
}

std::uint64_t two_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::uint64_t{big_endian_at(bytes, at)} << 32U | big_endian_at(bytes, at + sizeof(std::uint32_t));
}

[[noreturn]] void refuse_log(const char* why) {
  throw Error(ErrorKind::Corrupt, std::string("this is no write-ahead log: ") + why);
}

sqlite3_file* file_of(SqliteHandle& database, int which) {
  sqlite3_file* file = nullptr;
  const int code = sqlite3_file_control(database.handle(), "main", which, static_cast<void*>(&file));
  if (code != SQLITE_OK || file == nullptr || file->pMethods == nullptr)
    throw Error(ErrorKind::Unsupported, database.name() + " has no file of its own");
  return file;
}

std::vector<std::byte> read_file(SqliteHandle& database, int which, std::int64_t from, std::size_t bytes) {
  auto* const file = file_of(database, which);
  constexpr int kTries = 10;
  for (int n = 0; n < kTries; ++n) {
    sqlite3_int64 size = 0;
    if (file->pMethods->xFileSize(file, &size) != SQLITE_OK) break;
    std::vector<std::byte> out(
        static_cast<std::size_t>(std::clamp<std::int64_t>(size - from, 0, static_cast<std::int64_t>(bytes))));
    if (out.empty()) return out;
    const int code = file->pMethods->xRead(file, out.data(), static_cast<int>(out.size()), from);
    if (code == SQLITE_OK) return out;
    if (code != SQLITE_IOERR_SHORT_READ) break;  // which it has become shorter before
  }
  throw Error(ErrorKind::Io, database.name() + ": the file or its log cannot be read");
}

}  // namespace

LogChain::LogChain(std::span<const std::byte> header) : header_(header.begin(), header.end()) {
  if (header.size() != kLogHeaderBytes) refuse_log("its header is cut off");
  const auto magic = big_endian_at(header, 0);
  if ((magic & ~1U) != kLogMagic) refuse_log("it does not begin as one");
  if (big_endian_at(header, sizeof(magic)) != kLogVersion) refuse_log("it is of an unknown version");
  big_endian_ = (magic & 1U) != 0;
  page_bytes_ = big_endian_at(header, kPageSizeAt);
  if (page_bytes_ < kLeastPage || page_bytes_ > kLargestPage || !std::has_single_bit(page_bytes_))
    refuse_log("its pages are of an improper size");
  place_.generation = native_at<std::uint64_t>(header, kSaltsAt);
  place_.checksum = sum(0, header.first(kChecksummedOfHeader));
  if (place_.checksum != two_at(header, kHeaderChecksumAt)) refuse_log("its header is damaged");
}

// SQLite's checksum: two sums that take a word in turns, each with the other.
std::uint64_t LogChain::sum(std::uint64_t before, std::span<const std::byte> bytes) const {
  auto first = static_cast<std::uint32_t>(before >> 32U);
  auto second = static_cast<std::uint32_t>(before);
  const bool swaps = big_endian_ == (std::endian::native == std::endian::little);
  for (std::size_t at = 0; at + 2 * sizeof(std::uint32_t) <= bytes.size(); at += 2 * sizeof(std::uint32_t)) {
    auto one = native_at<std::uint32_t>(bytes, at);
    auto other = native_at<std::uint32_t>(bytes, at + sizeof(std::uint32_t));
    if (swaps) {
      one = __builtin_bswap32(one);
      other = __builtin_bswap32(other);
    }
    first += one + second;
    second += other + first;
  }
  return std::uint64_t{first} << 32U | second;
}

bool LogChain::is_of_log(std::span<const std::byte> frame) const {
  return frame.size() >= kLogFrameHeaderBytes && native_at<std::uint64_t>(frame, kFrameSaltsAt) == place_.generation;
}

bool LogChain::take(std::span<const std::byte> frame) {
  if (frame.size() != frame_bytes() || big_endian_at(frame, 0) == 0 || !is_of_log(frame)) return false;
  const auto begun = sum(place_.checksum, frame.first(kFrameSaltsAt));
  const auto checksum = sum(begun, frame.subspan(kLogFrameHeaderBytes));
  if (checksum != checksum_in(frame)) return false;
  ++place_.frames;
  place_.checksum = checksum;
  return true;
}

bool LogChain::ends_transaction(std::span<const std::byte> frame) {
  return big_endian_at(frame, kSizeAfterCommitAt) != 0;
}

std::uint64_t LogChain::checksum_in(std::span<const std::byte> frame) { return two_at(frame, kFrameChecksumAt); }

// SQLite writes the header of the index twice, the second one first; both are equal unless somebody writes now.
LogEnd log_end(SqliteHandle& database) {
  auto* const file = file_of(database, SQLITE_FCNTL_FILE_POINTER);
  void volatile* region = nullptr;
  if (file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr ||
      file->pMethods->xShmMap(file, 0, kIndexRegionBytes, 0, &region) != SQLITE_OK || region == nullptr)
    throw Error(ErrorKind::Unsupported, database.name() + " has no write-ahead log");
  const auto* words = static_cast<const std::uint32_t volatile*>(region);
  constexpr std::size_t kWords = kIndexHeaderBytes / sizeof(std::uint32_t);
  std::array<std::uint32_t, kWords> one{};
  std::array<std::uint32_t, kWords> other{};
  constexpr int kTries = 10'000;
  for (int n = 0; n < kTries; ++n) {
    for (std::size_t w = 0; w < kWords; ++w) one[w] = words[w];
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (std::size_t w = 0; w < kWords; ++w) other[w] = words[kWords + w];
    if (one != other) continue;
    const auto bytes = std::as_bytes(std::span(one));
    if (bytes[kIndexIsThereAt] == std::byte{0}) break;
    return {.generation = native_at<std::uint64_t>(bytes, kIndexSaltsAt),
            .frames = native_at<std::uint32_t>(bytes, kIndexFramesAt),
            .transactions = native_at<std::uint32_t>(bytes, kIndexTransactionsAt)};
  }
  throw Error(ErrorKind::Busy, database.name() + ": the end of its log is not to be found");
}

std::vector<std::byte> read_log(SqliteHandle& database, std::int64_t from, std::size_t bytes) {
  return read_file(database, SQLITE_FCNTL_JOURNAL_POINTER, from, bytes);
}

std::vector<std::byte> read_database_file(SqliteHandle& database, std::int64_t from, std::size_t bytes) {
  return read_file(database, SQLITE_FCNTL_FILE_POINTER, from, bytes);
}

std::string log_file_of(const std::string& database) { return database + "-wal"; }

}  // namespace eindb
