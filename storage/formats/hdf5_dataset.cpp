#include "storage/formats/hdf5_dataset.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/hdf5_dimensions.hpp"
#include "storage/formats/hdf5_packing.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kSieveBytes = 1 << 20;
/// Values may be implied by compression and by chunks that are not stored. But a few bytes that claim to be a disk full
/// of values are an attack.
constexpr std::int64_t kAlwaysAllowed = std::int64_t{1} << 30;
constexpr std::int64_t kLargestRatio = 65536;
constexpr std::size_t kMostNames = 1000;
constexpr std::int64_t kChunksAtOnce = 512;
/// Memory that the library takes per chunk for its location, metadata and cache entry, measured on chunks of a few
/// bytes; and an upper bound for all chunks.
constexpr std::int64_t kBytesPerChunk = 16 << 10;
constexpr std::int64_t kBytesOfAllChunks = 24 << 20;

struct CollectedNames {
  std::vector<std::string> names;
  std::size_t most;
};

extern "C" herr_t collect_dataset(hid_t /*group*/, const char* name, const H5O_info_t* info, void* data) {
  auto& [names, most] = *static_cast<CollectedNames*>(data);
  if (info->type == H5O_TYPE_DATASET) names.emplace_back(name);
  return names.size() < most ? 0 : 1;  // 1 stops the iteration
}

bool equals_any(hid_t type, std::initializer_list<hid_t> known) {
  return std::any_of(known.begin(), known.end(), [&](hid_t one) { return H5Tequal(type, one) > 0; });
}

StoredType integer_type(std::size_t size, bool is_signed) {
  switch (size) {
    case 1: return with_encoding(is_signed ? Encoding::Int8 : Encoding::UInt8);
    case 2: return with_encoding(is_signed ? Encoding::Int16 : Encoding::UInt16);
    case 4: return with_encoding(is_signed ? Encoding::Int32 : Encoding::UInt32);
    default: return DType::Int64;
  }
}

/// The element type for a real number of the file, or nullopt if there is none.
std::optional<StoredType> real_type(hid_t type) {
  const auto size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (equals_any(type, {H5T_IEEE_F64LE, H5T_IEEE_F64BE})) return DType::Float64;
      if (equals_any(type, {H5T_IEEE_F32LE, H5T_IEEE_F32BE})) return DType::Float32;
      if (equals_any(type, {hdf5_half_type(H5T_ORDER_LE).get(), hdf5_half_type(H5T_ORDER_BE).get()}))
        return with_encoding(Encoding::Float16);
      return std::nullopt;
    case H5T_INTEGER:
      if ((size == 1 || size == 2 || size == 4 || size == 8) && H5Tget_precision(type) == size * 8)
        return integer_type(size, H5Tget_sign(type) == H5T_SGN_2);
      return std::nullopt;
    case H5T_ENUM: {
      const Hdf5Handle base(H5Tget_super(type), H5Tclose);
      return base ? real_type(base.get()) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

/// COMPLEX64 or COMPLEX128 for a compound of two equal floats r and i; nullopt for other compounds.
std::optional<StoredType> complex_type(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return std::nullopt;
  const int r = H5Tget_member_index(type, "r");
  const int i = H5Tget_member_index(type, "i");
  if (r < 0 || i < 0) return std::nullopt;
  const Hdf5Handle real(H5Tget_member_type(type, static_cast<unsigned>(r)), H5Tclose);
  const Hdf5Handle imaginary(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
  const auto part = real_type(real.get());
  if (!part || part->values == DType::Int64 || H5Tequal(real.get(), imaginary.get()) <= 0) return std::nullopt;
  return part->values == DType::Float32 ? DType::Complex64 : DType::Complex128;
}

bool is_unsigned_64(hid_t type) {
  return H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8 && H5Tget_sign(type) == H5T_SGN_NONE;
}

// The type of elements for lists, as NumPy names it where it has one.
std::string type_text(hid_t type) {
  const auto bits = std::to_string(8 * H5Tget_size(type));
  switch (H5Tget_class(type)) {
    case H5T_FLOAT: return "float" + bits;
    case H5T_INTEGER: return (H5Tget_sign(type) == H5T_SGN_2 ? "int" : "uint") + bits;
    case H5T_ENUM: return "enum" + bits;
    case H5T_STRING: return "string";
    case H5T_COMPOUND: return complex_type(type) ? "complex" + bits : "compound";
    case H5T_BITFIELD: return "bits" + bits;
    case H5T_OPAQUE: return "opaque";
    case H5T_REFERENCE: return "reference";
    case H5T_VLEN: return "list";
    case H5T_ARRAY: return "array";
    case H5T_TIME: return "time";
    default: return "unknown";
  }
}

std::string without_slash(const std::string& name) {
  const auto first = name.find_first_not_of('/');
  return first == std::string::npos ? std::string() : name.substr(first);
}

}  // namespace

Hdf5Dataset::Hdf5Dataset(const InputFile& file, const std::string& name, std::int64_t largest_chunk,
                         PackedValues values)
    : input_(file) {
  const std::scoped_lock lock(hdf5_mutex());
  prepare_hdf5();
  try {
    open_file();
    open_dataset(without_slash(name), largest_chunk, values);
  } catch (...) {
    close();  // closes with the mutex held; the destructors of the members would not hold it
    throw;
  }
}

Hdf5Dataset::~Hdf5Dataset() {
  const std::scoped_lock lock(hdf5_mutex());
  close();
}

void Hdf5Dataset::close() {
  memory_type_.close();
  dataset_.close();
  file_.close();
}

Error Hdf5Dataset::fault(const std::string& what) const {
  return hdf5_read_error(input_.path(), (name_.empty() ? "" : ": data set " + quoted_name(name_)) + " " + what);
}

void Hdf5Dataset::fail(const std::string& what) const { throw fault(what); }

void Hdf5Dataset::refuse(const std::string& what, const std::string& hint) const {
  throw Error(ErrorKind::Unsupported, input_.path() + ": data set " + quoted_name(name_) + " " + what, std::nullopt,
              hint);
}

void Hdf5Dataset::open_file() {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_sec2(access.get());  // overrides the environment's choice
  H5Pset_sieve_buf_size(access.get(), kSieveBytes);
  H5Pset_file_locking(access.get(), true, true);
  bound_hdf5_metadata(access.get());
  file_ = Hdf5Handle(H5Fopen(input_.path_of_descriptor().c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file_) fail("is no valid HDF5 file");
}

std::vector<std::string> Hdf5Dataset::dataset_names(std::size_t most) const {
  CollectedNames collected{{}, most};
  if (H5Ovisit2(file_.get(), H5_INDEX_NAME, H5_ITER_INC, collect_dataset, &collected, H5O_INFO_BASIC) < 0)
    fail("has a damaged group");
  return std::move(collected.names);
}

std::vector<Hdf5Entry> Hdf5Dataset::entries_of(const InputFile& file, PackedValues values, std::size_t most) {
  Hdf5Dataset reader(file);  // closes after the lock has ended, with one of its own
  const std::scoped_lock lock(hdf5_mutex());
  prepare_hdf5();
  reader.open_file();
  const auto names = reader.dataset_names(most + 1);
  if (names.size() > most)
    throw Error(ErrorKind::Unsupported, file.path() + " has more than " + std::to_string(most) + " data sets",
                std::nullopt, "COPY X FROM '...' (DATASET '/group/x') reads one");
  std::vector<Hdf5Entry> entries;
  for (const auto& name : names)
    if (!is_hdf5_dimension_alone(reader.opened(name).get())) entries.push_back(reader.entry(name, values));
  return entries;
}

Hdf5Handle Hdf5Dataset::opened(const std::string& name) const {
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  refuse_hdf5_external_links(access.get());
  return {H5Dopen2(file_.get(), name.c_str(), access.get()), H5Dclose};
}

/// The names of those that an array may be meant to be: a dimension scale only if there are no others.
std::vector<std::string> Hdf5Dataset::names_of_values(std::size_t most) const {
  auto all = dataset_names(most);
  std::vector<std::string> names;
  for (const auto& name : all)
    if (const auto dataset = opened(name); !dataset || !is_hdf5_scale(dataset.get())) names.push_back(name);
  return names.empty() ? all : names;
}

Hdf5Entry Hdf5Dataset::entry(const std::string& name, PackedValues values) {
  name_ = name;
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  refuse_hdf5_external_links(access.get());
  dataset_.close();
  dataset_ = Hdf5Handle(H5Dopen2(file_.get(), name_.c_str(), access.get()), H5Dclose);
  if (!dataset_) fail("cannot be opened");
  const Hdf5Handle type(H5Dget_type(dataset_.get()), H5Tclose);
  if (!type) fail("has a damaged type");
  Hdf5Entry entry{.name = name, .file_type = type_text(type.get()), .type = {}, .shape = Shape({0})};
  // The shape of a virtual data set may depend on other files.
  const Hdf5Handle creation(H5Dget_create_plist(dataset_.get()), H5Pclose);
  if (!creation) fail("has damaged properties");
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL) return entry;
  try {
    read_shape();
    entry.shape = shape_;
    check_storage();
    read_type(values);
    check_size();
    entry.type = this->type();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Unsupported) throw;
  }
  return entry;
}

void Hdf5Dataset::open_dataset(const std::string& wanted, std::int64_t largest_chunk, PackedValues values) {
  name_ = wanted;
  if (wanted.empty()) {
    const auto names = names_of_values(kMostNames);
    name_ = names[choose_array(input_.path(), names, wanted, "DATASET")];
  }
  const Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  refuse_hdf5_external_links(access.get());
  const auto open = [&] { return Hdf5Handle(H5Dopen2(file_.get(), name_.c_str(), access.get()), H5Dclose); };
  dataset_ = open();
  if (!dataset_) {
    const auto reason = fault("cannot be opened");
    choose_array(input_.path(), dataset_names(kMostNames), name_,
                 "DATASET");  // throws with the list of names if it does not exist
    throw Error(reason);
  }
  check_storage();
  read_type(values);
  read_shape();
  check_size();

  const Hdf5Handle creation(H5Dget_create_plist(dataset_.get()), H5Pclose);
  const auto chunks = check_chunks(creation.get(), largest_chunk);
  const auto cache = std::max(std::min(kHdf5ChunkCache, shape_.element_count() * element_size_), chunks);
  working_bytes_ = checked_add(cache, checked_multiply(3, chunks)) + bytes_about_chunks();
  H5Pset_chunk_cache(access.get(), 12421, static_cast<std::size_t>(cache), 0.75);
  dataset_.close();
  dataset_ = open();
  if (!dataset_) fail("cannot be opened");
  labels_ = hdf5_dimension_names(dataset_.get(), shape_.rank());
}

std::int64_t Hdf5Dataset::bytes_about_chunks() const {
  std::int64_t count = chunk_.empty() ? 0 : 1;
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    if (__builtin_mul_overflow(count, ceil_divide(shape_[d], chunk_[d]), &count)) return kBytesOfAllChunks;
  }
  return std::min(count, kBytesOfAllChunks / kBytesPerChunk) * kBytesPerChunk;
}

/// Called before any query that could make the library open another file.
void Hdf5Dataset::check_storage() const {
  const Hdf5Handle creation(H5Dget_create_plist(dataset_.get()), H5Pclose);
  if (!creation) fail("has damaged properties");
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL)
    refuse("is virtual: its values lie in other files", "copy it into a plain data set, as with h5repack");
  if (H5Pget_external_count(creation.get()) != 0)
    refuse("has its values in an external file", "copy it into a plain data set, as with h5repack");
  check_filters(creation.get());
}

void Hdf5Dataset::check_filters(hid_t creation) const {
  const int count = H5Pget_nfilters(creation);
  for (int n = 0; n < count; ++n) {
    unsigned flags = 0;
    std::size_t values = 0;
    std::array<char, 64> name{};
    const auto filter =
        H5Pget_filter2(creation, static_cast<unsigned>(n), &flags, &values, nullptr, name.size(), name.data(), nullptr);
    if (filter < 0) fail("has a damaged filter");
    name.back() = '\0';
    if (H5Zfilter_avail(filter) <= 0) {
      refuse("is compressed with filter " + std::to_string(filter) + " " + quoted_name(name.data()) +
                 ", which is not built in",
             "compress it with gzip, as with h5repack -f GZIP=4");
    }
  }
}

std::int64_t Hdf5Dataset::check_chunks(hid_t creation, std::int64_t largest_chunk) {
  if (H5Pget_layout(creation) != H5D_CHUNKED) return 0;
  std::array<hsize_t, H5S_MAX_RANK> chunk{};
  const int rank = H5Pget_chunk(creation, H5S_MAX_RANK, chunk.data());
  if (rank != static_cast<int>(shape_.rank())) fail("has chunks of another rank");
  std::int64_t bytes = element_size_;
  for (int d = 0; d < rank; ++d) {
    const auto extent = static_cast<std::int64_t>(chunk.at(static_cast<std::size_t>(d)));
    if (extent <= 0 || __builtin_mul_overflow(bytes, extent, &bytes)) fail("has chunks whose size overflows");
    chunk_.push_back(extent);
  }
  if (bytes > largest_chunk) {
    refuse("has chunks of " + std::to_string(bytes) + " bytes, which are read as a whole; the memory limit allows " +
               std::to_string(largest_chunk),
           "raise memory_limit, or make the chunks smaller, as with h5repack");
  }
  return bytes;
}

void Hdf5Dataset::read_type(PackedValues values) {
  const Hdf5Handle type(H5Dget_type(dataset_.get()), H5Tclose);
  if (!type) fail("has a damaged type");
  const auto stored = H5Tget_class(type.get()) == H5T_COMPOUND ? complex_type(type.get()) : real_type(type.get());
  if (!stored) {
    refuse("has elements that are no numbers of 64 bits or fewer",
           "floats of 16, 32 and 64 bits, integers, and compounds of two floats r and i can be read");
  }
  type_ = *stored;
  const auto dtype = type_.values;
  element_size_ = static_cast<std::int64_t>(H5Tget_size(type.get()));
  const bool is_unsigned = is_unsigned_64(type.get());
  packing_ = Packing(dtype, is_unsigned);
  if (values == PackedValues::Unpack) {
    packing_ = read_hdf5_packing(dataset_.get(), dtype, is_unsigned, element_size_, [&](const std::string& what) {
      refuse(what, "RAW reads the values as they are stored");
    });
  }
  memory_type_ = is_unsigned ? Hdf5Handle(H5Tcopy(H5T_NATIVE_UINT64), H5Tclose) : hdf5_memory_type(dtype);
}

void Hdf5Dataset::read_shape() {
  const Hdf5Handle space(H5Dget_space(dataset_.get()), H5Sclose);
  if (!space) fail("has a damaged shape");
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) refuse("has no values and no shape", "give it a shape");
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  if (rank < 0) fail("has a damaged shape");
  std::vector<std::int64_t> shape;
  for (int d = 0; d < rank; ++d) {
    const auto extent = extents.at(static_cast<std::size_t>(d));
    if (extent > static_cast<hsize_t>(std::numeric_limits<std::int64_t>::max())) fail("has an extent beyond 63 bits");
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  if (!try_product(shape)) fail("has the shape " + bracketed(shape) + ", which overflows");
  shape_ = Shape(std::move(shape));
}

void Hdf5Dataset::check_size() const {
  const auto widest = std::max<std::int64_t>(element_size_, static_cast<std::int64_t>(size_of(type_.values)));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(shape_.element_count(), widest, &bytes))
    fail("has the shape " + shape_.to_string() + ", which overflows");
  const auto file_size = input_.size();
  if (bytes > kAlwaysAllowed && bytes / kLargestRatio > file_size) {
    fail("claims " + std::to_string(bytes) + " bytes of values, in a file of " + std::to_string(file_size));
  }
}

Tile Hdf5Dataset::read_block(const std::vector<std::int64_t>& begin, const Shape& extents) {
  const std::scoped_lock lock(hdf5_mutex());
  auto tile = Tile::uninitialized(type_.values, extents);
  if (extents.element_count() > 0)
    read_part(begin, std::vector<std::int64_t>(extents.rank(), 0), extents.extents(), tile);
  return packing_.unpack(std::move(tile), input_.path() + ": data set " + quoted_name(name_));
}

/// Fills the part of the tile of `extents` at `offset`, which is the data set's part at `begin`. The library keeps some
/// kilobytes for each chunk that one call touches, so a part with too many chunks is halved at a chunk boundary.
void Hdf5Dataset::read_part(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& offset,
                            const std::vector<std::int64_t>& extents, Tile& tile) {
  std::int64_t touched = 1;
  std::int64_t most = 0;
  std::size_t longest = 0;
  for (std::size_t d = 0; d < chunk_.size(); ++d) {
    const auto first = begin[d] + offset[d];
    const auto chunks = (first + extents[d] - 1) / chunk_[d] - first / chunk_[d] + 1;
    touched = checked_multiply(touched, chunks);
    if (chunks > most) {
      most = chunks;
      longest = d;
    }
  }
  if (touched <= kChunksAtOnce) return read_hyperslab(begin, offset, extents, tile);
  const auto first = begin[longest] + offset[longest];
  const auto left = (first / chunk_[longest] + most / 2) * chunk_[longest] - first;
  CHECK(left > 0 && left < extents[longest], "a part is halved between two of its chunks");
  auto half = extents;
  half[longest] = left;
  read_part(begin, offset, half, tile);
  auto other = offset;
  other[longest] += left;
  half[longest] = extents[longest] - left;
  read_part(begin, other, half, tile);
}

void Hdf5Dataset::read_hyperslab(const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& offset,
                                 const std::vector<std::int64_t>& extents, Tile& tile) {
  const auto rank = extents.size();
  CHECK(begin.size() == rank && offset.size() == rank && tile.shape().rank() == rank, "a part has its tile's rank");
  Hdf5Handle file_space;
  Hdf5Handle tile_space;
  if (rank > 0) {
    const auto& whole = tile.shape().extents();
    const std::vector<hsize_t> tile_extents(whole.begin(), whole.end());
    const std::vector<hsize_t> in_tile(offset.begin(), offset.end());
    const std::vector<hsize_t> count(extents.begin(), extents.end());
    auto in_file = in_tile;
    for (std::size_t d = 0; d < rank; ++d) in_file[d] += static_cast<hsize_t>(begin[d]);
    file_space = Hdf5Handle(H5Dget_space(dataset_.get()), H5Sclose);
    tile_space = Hdf5Handle(H5Screate_simple(static_cast<int>(rank), tile_extents.data(), nullptr), H5Sclose);
    const auto select = [&](const Hdf5Handle& space, const std::vector<hsize_t>& start) {
      return space &&
             H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0;
    };
    if (!select(file_space, in_file) || !select(tile_space, in_tile)) fail("cannot be read");
  }
  const auto status = H5Dread(dataset_.get(), memory_type_.get(), rank > 0 ? tile_space.get() : H5S_ALL,
                              rank > 0 ? file_space.get() : H5S_ALL, H5P_DEFAULT, tile.mutable_bytes().data());
  if (status < 0) fail("cannot be read");
}

}  // namespace eindb
