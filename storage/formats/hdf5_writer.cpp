#include "storage/formats/hdf5_writer.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/dense_block_writer.hpp"
#include "storage/formats/hdf5_library.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLargestChunk = 1 << 20;
/// Chunks that neighbouring tiles share are compressed once if they fit.
constexpr std::size_t kChunkCache = 32 << 20;
constexpr unsigned kDeflateLevel = 4;

/// The longest dimension is halved until the chunk fits.
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
    longest = longest / 2 + longest % 2;
  }
  return chunk;
}

/// "/group/x" or "x": at least one name, none of them empty, "." or "..".
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

}  // namespace

/// In the reverse order of their closing.
struct Hdf5Writer::Handles {
  Hdf5Handle file;
  Hdf5Handle dataset;
  Hdf5Handle memory_type;
};

Hdf5Writer::Hdf5Writer(const FilePath& path, const std::string& name, DType dtype, Shape shape,
                       const Hdf5Layout& layout)
    : output_(path, OutputFile::Naming::Early), dtype_(dtype), shape_(std::move(shape)) {
  require_regular_file(output_.is_seekable(), output_.path(), "HDF5");
  check_name(name);
  if (shape_.rank() > H5S_MAX_RANK) {
    throw Error(ErrorKind::Unsupported,
                "HDF5 holds " + std::to_string(H5S_MAX_RANK) + " dimensions, not " + std::to_string(shape_.rank()),
                std::nullopt, "write it as npy");
  }
  checked_multiply(shape_.element_count(), static_cast<std::int64_t>(size_of(dtype_)));
  const std::scoped_lock lock(hdf5_mutex());
  prepare_hdf5();
  handles_ = std::make_unique<Handles>();
  try {
    create(name, layout);
  } catch (...) {
    handles_.reset();  // with the mutex held, which the members' destruction would not be
    throw;
  }
}

Hdf5Writer::~Hdf5Writer() {
  const std::scoped_lock lock(hdf5_mutex());
  handles_.reset();
}

void Hdf5Writer::fail() const { throw hdf5_error(ErrorKind::Io, "cannot write " + output_.path()); }

/// The library truncates the file that is there and fills it; its name and its inode stay, for output_ to publish.
void Hdf5Writer::create(const std::string& name, const Hdf5Layout& layout) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_sec2(access.get());
  H5Pset_file_locking(access.get(), false, true);  // nobody else knows the name
  handles_->file =
      Hdf5Handle(H5Fcreate(output_.path_of_descriptor().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
  if (!handles_->file) fail();

  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);  // equal tensors give equal files
  const bool chunked = layout.chunk && shape_.rank() > 0 && shape_.element_count() > 0;
  if (chunked) {
    const auto chunk = chunk_extents(*layout.chunk, shape_, static_cast<std::int64_t>(size_of(dtype_)));
    H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
    if (layout.deflate && (H5Pset_shuffle(creation.get()) < 0 || H5Pset_deflate(creation.get(), kDeflateLevel) < 0))
      fail();
  }
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links.get(), 1);
  H5Pset_char_encoding(links.get(), H5T_CSET_UTF8);
  const Hdf5Handle data_access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  H5Pset_chunk_cache(data_access.get(), 12421, kChunkCache, 0.75);

  const std::vector<hsize_t> extents(shape_.extents().begin(), shape_.extents().end());
  const Hdf5Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                         : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                         H5Sclose);
  handles_->memory_type = hdf5_memory_type(dtype_);
  handles_->dataset = Hdf5Handle(H5Dcreate2(handles_->file.get(), name.c_str(), hdf5_file_type(dtype_).get(),
                                            space.get(), links.get(), creation.get(), data_access.get()),
                                 H5Dclose);
  if (!handles_->dataset) fail();
}

void Hdf5Writer::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  CHECK(block.dtype() == dtype_, "a block has the type of its file");
  if (block.shape().element_count() == 0) return;
  const std::scoped_lock lock(hdf5_mutex());
  const std::vector<hsize_t> start(begin.begin(), begin.end());
  const std::vector<hsize_t> count(block.shape().extents().begin(), block.shape().extents().end());
  const Hdf5Handle file_space(H5Dget_space(handles_->dataset.get()), H5Sclose);
  Hdf5Handle memory_space;
  if (!count.empty()) {
    memory_space = Hdf5Handle(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    if (H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) < 0) fail();
  }
  const auto status =
      H5Dwrite(handles_->dataset.get(), handles_->memory_type.get(), count.empty() ? H5S_ALL : memory_space.get(),
               count.empty() ? H5S_ALL : file_space.get(), H5P_DEFAULT, block.bytes().data());
  if (status < 0) fail();
}

void Hdf5Writer::commit() {
  {
    const std::scoped_lock lock(hdf5_mutex());
    if (!handles_->dataset.close() || !handles_->file.close()) fail();
  }
  output_.commit();
}

}  // namespace eindb
