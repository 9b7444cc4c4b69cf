#include "storage/formats/hdf5_output.hpp"

#include <algorithm>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/hdf5_dimensions.hpp"

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

Hdf5Handle space_of(const Shape& shape) {
  const std::vector<hsize_t> extents(shape.extents().begin(), shape.extents().end());
  if (extents.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose};
}

}  // namespace

/// The library truncates and fills the existing file. Name and inode stay, so that the parent can publish it.
Hdf5Output::Hdf5Output(std::string path, const std::string& target, Begin begin)
    : path_(std::move(path)), is_trusted_(begin == Begin::Empty) {
  prepare_hdf5();
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  require(H5Pset_fapl_sec2(access.get()));
  require(H5Pset_file_locking(access.get(), false, true));  // no other process knows the name
  if (begin == Begin::Empty) {
    file_ = Hdf5Handle(H5Fcreate(target.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    if (!file_) fail();
    return;
  }
  bound_hdf5_metadata(access.get());
  file_ = Hdf5Handle(H5Fopen(target.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  if (!file_) throw hdf5_read_error(path_, " is no valid HDF5 file, to which a data set could be added");
}

void Hdf5Output::fail() const { throw hdf5_write_error(path_, is_trusted_); }

void Hdf5Output::refuse(const std::string& name, const std::string& what) const {
  throw Error(ErrorKind::DuplicateName, path_ + ": " + quoted_name(name) + " is " + what, std::nullopt,
              "give the data set another name: (DATASET '/group/name')");
}

/// The kind of object (group, data set) of this name; nullopt if the name is free. The name's parent is a group.
std::optional<H5O_type_t> Hdf5Output::kind_of(const std::string& name) const {
  const auto exists = H5Lexists(file_.get(), name.c_str(), H5P_DEFAULT);
  require(exists);
  if (exists == 0) return std::nullopt;
  H5L_info_t link{};
  require(H5Lget_info(file_.get(), name.c_str(), &link, H5P_DEFAULT));
  if (link.type != H5L_TYPE_HARD) refuse(name, "a link to another name");
  H5O_info_t info{};
  require(H5Oget_info_by_name2(file_.get(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT));
  return info.type;
}

void Hdf5Output::make_room(const std::string& name, Overwrite overwrite) {
  for (std::size_t at = name.find('/', 1); at != std::string::npos; at = name.find('/', at + 1)) {
    const auto group = name.substr(0, at);
    const auto kind = kind_of(group);
    if (!kind) return;
    if (*kind != H5O_TYPE_GROUP) refuse(group, "no group");
  }
  const auto kind = kind_of(name);
  if (!kind) return;
  if (*kind != H5O_TYPE_DATASET) refuse(name, *kind == H5O_TYPE_GROUP ? "a group" : "no data set");
  if (overwrite == Overwrite::No) {
    throw Error(ErrorKind::DuplicateName, path_ + " holds a data set " + quoted_name(name) + " already", std::nullopt,
                "add OVERWRITE to replace it, or give another name: (DATASET '/group/name')");
  }
  require(H5Ldelete(file_.get(), name.c_str(), H5P_DEFAULT));
}

Hdf5Handle Hdf5Output::creation_properties(const Hdf5NewDataset& dataset) const {
  Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  require(H5Pset_obj_track_times(creation.get(), false));  // equal tensors give identical files
  // What is never written is zero: also where the library takes the place of something that was there before.
  if (!is_trusted_) require(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_ALLOC));
  const auto& [name, type, shape, layout, dimensions] = dataset;
  const bool chunked = layout.chunk && shape.rank() > 0 && shape.element_count() > 0;
  if (!chunked) return creation;
  const auto chunk = chunk_extents(*layout.chunk, shape, static_cast<std::int64_t>(size_of(type.values)));
  require(H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()));
  if (layout.deflate) require(H5Pset_shuffle(creation.get()));
  if (layout.deflate) require(H5Pset_deflate(creation.get(), kDeflateLevel));
  return creation;
}

void Hdf5Output::create(const Hdf5NewDataset& dataset, Overwrite overwrite) {
  make_room(dataset.name, overwrite);
  const auto creation = creation_properties(dataset);
  const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  require(H5Pset_create_intermediate_group(links.get(), 1));
  require(H5Pset_char_encoding(links.get(), H5T_CSET_UTF8));
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  require(H5Pset_chunk_cache(access.get(), 12421, static_cast<std::size_t>(kHdf5ChunkCache), 0.75));
  refuse_hdf5_external_links(access.get());
  memory_type_ = hdf5_memory_type(dataset.type.values);
  dataset_ = Hdf5Handle(H5Dcreate2(file_.get(), dataset.name.c_str(), hdf5_file_type(dataset.type).get(),
                                   space_of(dataset.shape).get(), links.get(), creation.get(), access.get()),
                        H5Dclose);
  if (!dataset_) fail();
  if (!dataset.dimensions.empty())
    name_hdf5_dimensions(file_.get(), dataset_.get(), dataset.name, dataset.shape, dataset.dimensions, [&] { fail(); });
}

void Hdf5Output::write_block(const std::vector<std::int64_t>& begin, const Tile& block) {
  const std::vector<hsize_t> start(begin.begin(), begin.end());
  const std::vector<hsize_t> count(block.shape().extents().begin(), block.shape().extents().end());
  const Hdf5Handle file_space(H5Dget_space(dataset_.get()), H5Sclose);
  Hdf5Handle memory_space;
  if (!count.empty()) {
    memory_space = space_of(block.shape());
    require(H5Sselect_hyperslab(file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr));
  }
  require(H5Dwrite(dataset_.get(), memory_type_.get(), count.empty() ? H5S_ALL : memory_space.get(),
                   count.empty() ? H5S_ALL : file_space.get(), H5P_DEFAULT, block.bytes().data()));
}

void Hdf5Output::close() {
  if (!dataset_.close() || !file_.close()) fail();
}

}  // namespace eindb
