// Requests to the writer's process, in this machine's byte order; each is answered (isolated_process.cpp):
//
//     a block   1 byte 1, begin and extents (8 bytes per number), elements
//     the end   1 byte 0: the library closes the file

#include "storage/formats/hdf5_writer.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/hdf5_library.hpp"
#include "storage/formats/hdf5_output.hpp"
#include "storage/formats/process_limits.hpp"

namespace eindb {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
/// Memory for adding to a file: caches of chunks and of metadata, and chunks that are compressed.
constexpr std::int64_t kWorkingBytes = kHdf5ChunkCache + (std::int64_t{32} << 20);

/// Accepts "/group/x" or "x": at least one name, none of them empty, "." or "..".
void check_name(const std::string& name) {
  std::size_t begin = name.starts_with('/') ? 1 : 0;
  for (;;) {
    const auto end = std::min(name.find('/', begin), name.size());
    const auto part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
      throw Error(ErrorKind::Value, quoted_name(name) + " is no name of a data set", std::nullopt,
                  "names of groups and of the data set are parted by one slash each: '/group/x'");
    }
    if (end == name.size()) return;
    begin = end + 1;
  }
}

/// Whether the file has the signature that HDF5 files have at their beginning, or at byte 512, 1024, 2048, ... behind a
/// block of the user's.
bool has_hdf5_signature(const InputFile& file) {
  std::array<std::byte, kSignature.size()> bytes{};
  for (std::int64_t at = 0; at < file.size(); at = at == 0 ? 512 : 2 * at) {
    const auto got = file.read_some(at, bytes);
    if (got == bytes.size() && std::memcmp(bytes.data(), kSignature.data(), bytes.size()) == 0) return true;
  }
  return false;
}

/// The code of the writer's process.
class WriterProcess {
 public:
  using Begin = Hdf5Output::Begin;

  WriterProcess(const IsolatedChild& child, const std::string& path, DType dtype, std::size_t rank, Begin begin)
      : child_(child), path_(path), dtype_(dtype), rank_(rank), begin_(begin) {}

  /// Turns the library's failure into Error{MemoryLimit}; it reports a lack of memory in other words, or not at all,
  /// and goes on.
  template <class Act>
  auto with_memory(const Act& act) const {
    errno = 0;
    try {
      auto done = act();
      if (errno != ENOMEM) return done;
    } catch (const Error&) {
      if (errno != ENOMEM) throw;
    }
    throw out_of_memory("the process that writes " + path_);
  }

  /// Like IsolatedChild::answer, for requests without a result.
  template <class Act>
  auto answer(const Act& act) const {
    auto done = child_.answer([&] { return with_memory(act); });
    if (done) child_.send_value<std::uint8_t>(0);
    return done;
  }

  template <class Open>
  void run(const Open& open) const {
    if (is_untrusted()) limits_.begin_opening();
    // Skips the library's orderly closing of open objects, as the file must not be published.
    const auto file = answer([&] { return open(); });
    if (is_untrusted()) limits_.end_opening(kWorkingBytes);
    bool goes_on = file.has_value();
    while (goes_on) goes_on = serve(**file);
    ::_exit(0);
  }

 private:
  bool is_untrusted() const { return begin_ == Begin::FromFile; }

  bool serve(Hdf5Output& file) const {
    std::uint8_t more = 0;
    if (!child_.receive(std::as_writable_bytes(std::span(&more, 1)))) return false;
    return answer([&] {
             if (more != 0) receive_block(file);
             else file.close();
             return more != 0;
           })
        .value_or(false);
  }

  void receive_block(Hdf5Output& file) const {
    std::vector<std::int64_t> begin(rank_);
    std::vector<std::int64_t> extents(rank_);
    child_.receive(std::as_writable_bytes(std::span(begin)));
    child_.receive(std::as_writable_bytes(std::span(extents)));
    const Shape shape(std::move(extents));
    const auto bytes = checked_multiply(shape.element_count(), static_cast<std::int64_t>(size_of(dtype_)));
    if (is_untrusted()) limits_.allow_memory(checked_add(kWorkingBytes, checked_multiply(3, bytes)));
    auto block = Tile::uninitialized(dtype_, shape);
    child_.receive(block.mutable_bytes());
    file.write_block(begin, block);
  }

  const IsolatedChild& child_;
  const std::string& path_;
  DType dtype_;
  std::size_t rank_;
  Begin begin_;
  ProcessLimits limits_;
};

/// libhdf5 ignores some failed allocations, and the system kills processes that take too much memory. Our own values
/// are not known to crash it for any other reason; a file that others have made may.
Error death_of_writer(const std::string& path, Hdf5Output::Begin begin, int status) {
  if (begin == Hdf5Output::Begin::Empty) {
    return {ErrorKind::MemoryLimit, "cannot write " + path + ": libhdf5 crashed, as it does where memory is short",
            std::nullopt, "end what else takes memory, or write it as npy"};
  }
  const bool endless = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
  return {ErrorKind::Corrupt, path + " is damaged: its writer " + (endless ? "found no end" : "crashed"), std::nullopt,
          "write to another file; if this one is sound, the machine's memory may be short"};
}

}  // namespace

Hdf5Writer::Hdf5Writer(const FilePath& path, const Hdf5NewDataset& dataset, Overwrite overwrite,
                       const Cancellation* cancellation)
    : output_(path, OutputFile::Naming::Early), dtype_(dataset.type.values), shape_(dataset.shape) {
  require_regular_file(output_.is_seekable(), output_.path(), "HDF5");
  check_name(dataset.name);
  if (shape_.rank() > H5S_MAX_RANK) {
    throw Error(ErrorKind::Unsupported,
                "HDF5 holds " + std::to_string(H5S_MAX_RANK) + " dimensions, not " + std::to_string(shape_.rank()),
                std::nullopt, "write it as npy");
  }
  CHECK(!dataset.layout.chunk || dataset.layout.chunk->size() == shape_.rank(), "a chunk has the rank of its file");
  checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size_of(dtype_)));
  output_.require_unchanged_target();
  const auto begin =
      copy_target(path, overwrite, cancellation) ? Hdf5Output::Begin::FromFile : Hdf5Output::Begin::Empty;
  const auto open = [&] {
    auto file = std::make_unique<Hdf5Output>(output_.path(), output_.path_of_descriptor(), begin);
    file->create(dataset, overwrite);
    return file;
  };
  process_.emplace(
      hdf5_mutex(),
      [&](const IsolatedChild& child) { WriterProcess(child, output_.path(), dtype_, shape_.rank(), begin).run(open); },
      [file = output_.path(), begin](int status) { return death_of_writer(file, begin, status); }, cancellation);
  process_->receive_status();
}

/// Whether there is an HDF5 file to add to; its bytes are then in the new file.
bool Hdf5Writer::copy_target(const FilePath& path, Overwrite overwrite, const Cancellation* cancellation) {
  if (!output_.replaces_bytes()) return false;
  const InputFile existing(path);
  if (!has_hdf5_signature(existing)) {
    if (overwrite == Overwrite::Yes) return false;
    throw Error(ErrorKind::Corrupt, path.text() + " is there, and is no HDF5 file", std::nullopt,
                "write to another file, or add OVERWRITE to replace this one");
  }
  if (!existing.try_lock_shared()) {
    throw Error(ErrorKind::Busy, "cannot write " + path.text() + ": another program is writing it", std::nullopt,
                "wait until that program has closed the file");
  }
  output_.copy(existing, cancellation);
  return true;
}

void Hdf5Writer::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  CHECK(begin.size() == shape_.rank() && block.shape().rank() == shape_.rank(), "a block has the rank of its file");
  if (block.shape().element_count() == 0) return;
  constexpr std::uint8_t kBlock = 1;
  process_->send(std::as_bytes(std::span(&kBlock, 1)));
  process_->send(std::as_bytes(std::span(begin)));
  process_->send(std::as_bytes(std::span(block.shape().extents())));
  process_->send(block.bytes());
  process_->receive_status();
}

void Hdf5Writer::commit() {
  constexpr std::uint8_t kEnd = 0;
  process_->send(std::as_bytes(std::span(&kEnd, 1)));
  process_->receive_status();
  output_.commit();
}

}  // namespace eindb
