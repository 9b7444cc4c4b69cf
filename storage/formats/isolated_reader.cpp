// The messages on the socket, in this machine's byte order; isolated_process.cpp documents errors. The answer to the
// fork is type (1 byte), rank (4 bytes), extents (8 bytes each), the number of labels (4 bytes), and for each its
// length (4 bytes) and its text; the answer to a request is the elements. A request is begin and extents, 8 bytes per
// number; for a scalar it is one byte.

#include "storage/formats/isolated_reader.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <span>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/process_limits.hpp"

namespace eindb {
namespace {

/// The file may be intact, and the library have failed for lack of memory.
constexpr const char* kMemoryHint = "restore the file from a copy; if it is sound, the machine's memory may be short";

constexpr std::uint32_t kLongestLabel = 4096;

/// The code of the child.
class ReaderProcess {
 public:
  explicit ReaderProcess(const IsolatedChild& child) : child_(child) {}

  template <class Act>
  auto answer(const Act& act) const {
    return child_.answer([&] {
      errno = 0;
      try {
        return act();
      } catch (const Error& error) {
        if (errno != ENOMEM || !error.hint().empty()) throw;
        throw Error(error.kind(), error.message(), std::nullopt, kMemoryHint);
      } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::Corrupt, "the file wants more memory than its values take", std::nullopt, kMemoryHint);
      }
    });
  }

  void run_once(const std::function<std::vector<std::byte>()>& make, std::size_t most) const {
    limits_.begin_opening();
    limits_.allow_memory(static_cast<std::int64_t>(most));
    answer([&] {
      const auto bytes = make();
      child_.send_value<std::uint8_t>(0);
      child_.send_value(static_cast<std::uint64_t>(bytes.size()));
      child_.send(bytes);
      return true;
    });
    ::_exit(0);
  }

  void run(const IsolatedReader::Open& open) const {
    limits_.begin_opening();
    const auto reader = answer([&] {
      auto opened = open();
      child_.send_value<std::uint8_t>(0);
      child_.send_value(static_cast<std::uint8_t>(opened->type().values));
      child_.send_value(static_cast<std::uint8_t>(opened->type().encoding));
      child_.send_value(static_cast<std::uint32_t>(opened->shape().rank()));
      for (const auto extent : opened->shape().extents()) child_.send_value(extent);
      const auto labels = opened->labels();
      child_.send_value(static_cast<std::uint32_t>(labels.size()));
      for (const auto& label : labels) {
        child_.send_value(static_cast<std::uint32_t>(label.size()));
        child_.send(std::as_bytes(std::span(label)));
      }
      return opened;
    });
    if (!reader) ::_exit(1);
    limits_.end_opening(allowance(**reader, 0));
    while (serve(**reader)) {
    }
    ::_exit(0);  // without the library's cleanup of open objects
  }

 private:
  static std::int64_t allowance(const BlockReader& reader, std::int64_t block_bytes) {
    return checked_add(reader.working_bytes(), checked_multiply(3, block_bytes));
  }

  bool serve(BlockReader& reader) const {
    const auto rank = reader.shape().rank();
    std::vector<std::int64_t> numbers(2 * rank);
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    // A scalar has no coordinates, so one byte requests it.
    std::byte scalar{};
    if (!child_.receive(rank > 0 ? bytes : std::span(&scalar, 1))) return false;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(rank);
    const auto done = answer([&] {
      const std::vector<std::int64_t> begin(numbers.begin(), middle);
      const Shape extents(std::vector<std::int64_t>(middle, numbers.end()));
      limits_.allow_memory(allowance(
          reader, checked_multiply(extents.element_count(), static_cast<std::int64_t>(size_of(reader.dtype())))));
      const auto tile = reader.read_block(begin, extents);
      child_.send_value<std::uint8_t>(0);
      child_.send(tile.bytes());
      return true;
    });
    return done.has_value();
  }

  const IsolatedChild& child_;
  ProcessLimits limits_;
};

Error death_of_reader(const std::string& path, int status) {
  std::string how = "its reader stopped";
  if (WIFSIGNALED(status)) how = WTERMSIG(status) == SIGXCPU ? "its reader found no end" : "its reader crashed";
  return {ErrorKind::Corrupt, path + " is damaged: " + how, std::nullopt, kMemoryHint};
}

}  // namespace

IsolatedReader::IsolatedReader(const std::string& path, std::mutex& library, const Open& open,
                               const Cancellation* cancellation)
    : process_(
          library, [&](const IsolatedChild& child) { ReaderProcess(child).run(open); },
          [path](int status) { return death_of_reader(path, status); }, cancellation) {
  process_.receive_status();
  receive_shape();
}

void IsolatedReader::receive_shape() {
  const auto dtype = dtype_from_code(process_.receive_value<std::uint8_t>());
  const auto encoding = encoding_from_code(process_.receive_value<std::uint8_t>());
  const auto rank = process_.receive_value<std::uint32_t>();
  if (!dtype || !encoding || rank > kMaxStoredRank) process_.fail();
  if (*encoding != Encoding::Plain && with_encoding(*encoding).values != *dtype) process_.fail();
  std::vector<std::int64_t> extents(rank);
  process_.receive(std::as_writable_bytes(std::span(extents)));
  const bool negative = std::any_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; });
  if (negative || !try_product(extents)) process_.fail();
  type_ = {*dtype, *encoding};
  shape_ = Shape(std::move(extents));
  const auto count = process_.receive_value<std::uint32_t>();
  if (count != 0 && count != rank) process_.fail();
  for (std::uint32_t d = 0; d < count; ++d) {
    const auto size = process_.receive_value<std::uint32_t>();
    if (size > kLongestLabel) process_.fail();
    std::string label(size, '\0');
    process_.receive(std::as_writable_bytes(std::span(label)));
    labels_.push_back(std::move(label));
  }
}

std::vector<std::byte> isolated_answer(const std::string& path, std::mutex& library,
                                       const std::function<std::vector<std::byte>()>& make, std::size_t most,
                                       const Cancellation* cancellation) {
  IsolatedProcess process(
      library, [&](const IsolatedChild& child) { ReaderProcess(child).run_once(make, most); },
      [path](int status) { return death_of_reader(path, status); }, cancellation);
  process.receive_status();
  const auto size = process.receive_value<std::uint64_t>();
  if (size > most)
    throw Error(ErrorKind::Corrupt,
                path + " is damaged: what it says takes more than " + std::to_string(most) + " bytes");
  std::vector<std::byte> bytes(size);
  process.receive(bytes);
  return bytes;
}

Tile IsolatedReader::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  CHECK(begin.size() == shape_.rank() && extents.rank() == shape_.rank(), "a block has the rank of its array");
  std::vector<std::int64_t> request(begin);
  request.insert(request.end(), extents.extents().begin(), extents.extents().end());
  std::span<const std::byte> bytes = std::as_bytes(std::span(request));
  const std::byte scalar{};
  if (request.empty()) bytes = std::span(&scalar, 1);
  process_.send(bytes);
  process_.receive_status();
  auto tile = Tile::uninitialized(type_.values, extents);
  process_.receive(tile.mutable_bytes());
  return tile;
}

}  // namespace eindb
