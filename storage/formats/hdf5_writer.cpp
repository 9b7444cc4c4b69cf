// Requests to the writer's process, in this machine's byte order; each is answered (isolated_process.cpp):
//
//     a block   1 byte 1, begin and extents (8 bytes per number), elements
//     the end   1 byte 0: the library closes the file

#include "storage/formats/hdf5_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "common/caught_error.hpp"
#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/hdf5_library.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLargestChunk = 1 << 20;
constexpr unsigned kDeflateLevel = 4;

/// Halves the longest dimension until the chunk fits.
std::vector<hsize_t> chunk_extents(const std::vector<std::int64_t>& wanted, const Shape& shape, std::int64_t element) {
  std::vector<hsize_t> chunk;
  for (std::size_t d = 0; d < wanted.size(); ++d)
    chunk.push_back(static_cast<hsize_t>(std::clamp<std::int64_t>(wanted[d], 1, shape[d])));
  const auto bytes = [&] {
    std::int64_t total = element;
    for (const auto extent : chunk) total = checked_multiply(total, static_cast<std::int64_t>(extent));
    return total;
  };
  while (bytes() > kLargestChunk) {
    auto& longest = *std::max_element(chunk.begin(), chunk.end());
    CHECK(longest > 1, "a chunk of one element is small enough");
    longest = longest / 2 + longest % 2;
  }
  return chunk;
}

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

/// The file being written, in a process where libhdf5 may crash.
class Hdf5File {
 public:
  Hdf5File(std::string path, const std::string& target, const std::string& name, DType dtype, const Shape& shape,
           const Hdf5Layout& layout)
      : path_(std::move(path)) {
    prepare_hdf5();
    create(target, name, dtype, shape, layout);
  }

  void write_block(const std::vector<std::int64_t>& begin, const Tile& block);

  void close() {
    if (!dataset_.close() || !file_.close()) fail();
  }

 private:
  void create(const std::string& target, const std::string& name, DType dtype, const Shape& shape,
              const Hdf5Layout& layout);
  void require(herr_t status) const {
    if (status < 0) fail();
  }
  [[noreturn]] void fail() const { throw hdf5_error(ErrorKind::Io, "cannot write " + path_); }

  // In the reverse order of closing.
  std::string path_;
  Hdf5Handle file_;
  Hdf5Handle dataset_;
  Hdf5Handle memory_type_;
};

/// The library truncates and fills the existing file. Name and inode stay, so that the parent can publish it.
void Hdf5File::create(const std::string& target, const std::string& name, DType dtype, const Shape& shape,
                      const Hdf5Layout& layout) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  require(H5Pset_fapl_sec2(access.get()));
  require(H5Pset_file_locking(access.get(), false, true));  // no other process knows the name
  file_ = Hdf5Handle(H5Fcreate(target.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  if (!file_) fail();

  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  require(H5Pset_obj_track_times(creation.get(), false));  // equal tensors give identical files
  const bool chunked = layout.chunk && shape.rank() > 0 && shape.element_count() > 0;
  if (chunked) {
    const auto chunk = chunk_extents(*layout.chunk, shape, static_cast<std::int64_t>(size_of(dtype)));
    require(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()));
    if (layout.deflate) require(H5Pset_shuffle(creation.get()));
    if (layout.deflate) require(H5Pset_deflate(creation.get(), kDeflateLevel));
  }
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links.get(), 1));
  require(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8));
  const Hdf5Handle data_access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  require(H5Pset_chunk_cache(data_access.get(), 12421, static_cast<std::size_t>(kHdf5ChunkCache), 0.75));

  const std::vector<hsize_t> extents(shape.extents().begin(), shape.extents().end());
  const Hdf5Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                         H5Sclose);
  memory_type_ = hdf5_memory_type(dtype);
  dataset_ = Hdf5Handle(H5Dcreate2(file_.get(), name.c_str(), hdf5_file_type(dtype).get(), space.get(), links.get(),
                                   creation.get(), data_access.get()),
                        H5Dclose);
  if (!dataset_) fail();
}

void Hdf5File::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  const std::vector<hsize_t> start(begin.begin(), begin.end());
  const std::vector<hsize_t> count(block.shape().extents().begin(), block.shape().extents().end());
  const Hdf5Handle file_space(H5Dget_space(dataset_.get()), H5Sclose);
  Hdf5Handle memory_space;
  if (!count.empty()) {
    memory_space = Hdf5Handle(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    require(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
  }
  require(H5Dwrite(dataset_.get(), memory_type_.get(), count.empty() ? H5S_ALL : memory_space.get(),
                   count.empty() ? H5S_ALL : file_space.get(), H5P_DEFAULT, block.bytes().data()));
}

/// The code of the writer's process.
class WriterProcess {
 public:
  WriterProcess(const IsolatedChild& child, const std::string& path, DType dtype, std::size_t rank)
      : child_(child), path_(path), dtype_(dtype), rank_(rank) {}

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
    // Skips the library's orderly closing of open objects, as the file must not be published.
    const auto file = answer([&] { return open(); });
    bool goes_on = file.has_value();
    while (goes_on) goes_on = serve(**file);
    ::_exit(0);
  }

 private:
  bool serve(Hdf5File& file) const {
    std::uint8_t more = 0;
    if (!child_.receive(std::as_writable_bytes(std::span(&more, 1)))) return false;
    return answer([&] {
             if (more != 0) receive_block(file);
             else file.close();
             return more != 0;
           })
        .value_or(false);
  }

  void receive_block(Hdf5File& file) const {
    std::vector<std::int64_t> begin(rank_);
    std::vector<std::int64_t> extents(rank_);
    child_.receive(std::as_writable_bytes(std::span(begin)));
    child_.receive(std::as_writable_bytes(std::span(extents)));
    auto block = Tile::uninitialized(dtype_, Shape(std::move(extents)));
    child_.receive(block.mutable_bytes());
    file.write_block(begin, block);
  }

  const IsolatedChild& child_;
  const std::string& path_;
  DType dtype_;
  std::size_t rank_;
};

/// libhdf5 ignores some failed allocations, and the system kills processes that take too much memory. The values are
/// our own and are not known to crash it for any other reason.
Error death_of_writer(const std::string& path) {
  return {ErrorKind::MemoryLimit, "cannot write " + path + ": libhdf5 crashed, as it does where memory is short",
          std::nullopt, "end what else takes memory, or write it as npy"};
}

}  // namespace

Hdf5Writer::Hdf5Writer(const FilePath& path, const std::string& name, DType dtype, Shape shape,
                       const Hdf5Layout& layout, const Cancellation* cancellation)
    : output_(path, OutputFile::Naming::Early), dtype_(dtype), shape_(std::move(shape)) {
  require_regular_file(output_.is_seekable(), output_.path(), "HDF5");
  check_name(name);
  if (shape_.rank() > H5S_MAX_RANK) {
    throw Error(ErrorKind::Unsupported,
                "HDF5 holds " + std::to_string(H5S_MAX_RANK) + " dimensions, not " + std::to_string(shape_.rank()),
                std::nullopt, "write it as npy");
  }
  CHECK(!layout.chunk || layout.chunk->size() == shape_.rank(), "a chunk has the rank of its file");
  checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size_of(dtype_)));
  const auto open = [&] {
    return std::make_unique<Hdf5File>(output_.path(), output_.path_of_descriptor(), name, dtype_, shape_, layout);
  };
  process_.emplace(
      hdf5_mutex(),
      [&](const IsolatedChild& child) { WriterProcess(child, output_.path(), dtype_, shape_.rank()).run(open); },
      [file = output_.path()](int) { return death_of_writer(file); }, cancellation);
  process_->receive_status();
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
