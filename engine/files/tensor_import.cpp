#include "engine/files/tensor_import.hpp"

#include <algorithm>
#include <set>

#include "catalog/tensor_info.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/classic_netcdf.hpp"
#include "storage/formats/gguf_reader.hpp"
#include "storage/formats/hdf5_listing.hpp"
#include "storage/formats/hdf5_reader.hpp"
#include "storage/formats/npy_reader.hpp"
#include "storage/formats/npz_reader.hpp"
#include "storage/formats/safetensors_reader.hpp"
#include "storage/formats/scipy_reader.hpp"
#include "storage/formats/zarr_reader.hpp"
#include "storage/formats/zarr_store.hpp"
#include "tensor/dense_tensor.hpp"

namespace eindb {
namespace {

/// Blocks from a reader that serves them in any order.
template <class Reader>
class ReaderBlocks final : public BlockSource {
 public:
  template <class... Arguments>
  explicit ReaderBlocks(const Arguments&... arguments) : reader_(arguments...) {}
  StoredType type() const override { return reader_.type(); }
  const Shape& shape() const override { return reader_.shape(); }
  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    return reader_.read_block(begin, extents);
  }
  std::vector<std::string> labels() const override {
    if constexpr (requires { reader_.labels(); }) return reader_.labels();
    else return {};
  }
  std::optional<Partition> natural_partition() const override {
    if constexpr (requires { reader_.chunk_partition(); }) return reader_.chunk_partition();
    else return std::nullopt;
  }
  Tile load_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    if constexpr (requires { reader_.load_block(begin, extents); }) return reader_.load_block(begin, extents);
    else return reader_.read_block(begin, extents);
  }
  Reader& reader() { return reader_; }

 private:
  Reader reader_;
};

template <class Reader, class... Arguments>
std::unique_ptr<BlockSource> reshaped(const std::optional<Shape>& shape, const Arguments&... arguments) {
  auto blocks = std::make_unique<ReaderBlocks<Reader>>(arguments...);
  if (shape) blocks->reader().reshape(*shape);
  return blocks;
}

class CsvBlocks final : public BlockSource {
 public:
  CsvBlocks(const FilePath& path, CsvOptions options, bool as_vector, const Cancellation& cancellation)
      : reader_(path, options, &cancellation),
        shape_(as_vector && reader_.columns() == 1 ? Shape({reader_.rows()}) : reader_.shape()) {}

  StoredType type() const override { return reader_.dtype(); }
  const Shape& shape() const override { return shape_; }

  Tile read_block(const std::vector<std::int64_t>& begin, const Shape& extents) override {
    if (extents.element_count() == 0) return Tile::zeros(dtype(), extents);
    if (!band_ || begin[0] != band_begin_) {
      band_ = reader_.next_band(extents[0]);
      band_begin_ = begin[0];
    }
    CHECK(band_ && band_->shape()[0] == extents[0], "bands of a CSV file are read in order");
    auto block = Tile::uninitialized(dtype(), extents);
    const auto size = size_of(dtype());
    const auto columns = extents.rank() == 2 ? extents[1] : 1;
    const auto first = extents.rank() == 2 ? begin[1] : 0;
    CHECK(first >= 0 && first + columns <= reader_.columns(), "a block lies in the columns of its file");
    copy_block(block.mutable_bytes().data(), {columns, 1},
               band_->bytes().data() + first * static_cast<std::int64_t>(size), {reader_.columns(), 1},
               {extents[0], columns}, size);
    return block;
  }

 private:
  CsvReader reader_;
  Shape shape_;
  std::optional<Tile> band_;
  std::int64_t band_begin_ = 0;
};

FileTensor of_numpy(std::string name, const auto& reader, std::function<std::unique_ptr<BlockSource>()> open) {
  return {.name = std::move(name),
          .file_type = std::string(name_of(reader.type())),
          .type = reader.type(),
          .shape = reader.shape(),
          .open = std::move(open)};
}

/// The one matrix of the file, which is no dense array, and has no name.
std::vector<FileTensor> of_scipy(const FilePath& path) {
  const Cancellation never;
  const ScipyReader matrix(path, never);
  return {{.name = "", .file_type = matrix.format(), .type = matrix.type(), .shape = matrix.shape(), .open = {}}};
}

std::vector<FileTensor> of_npz(const FilePath& path, const ByteProgress& progress) {
  if (holds_scipy_matrix(InputFile(path))) return of_scipy(path);
  std::vector<FileTensor> out;
  for (const auto& member : npz_members(InputFile(path)))
    out.push_back(of_numpy(npz_array_name(member), NpzReader(path, member),
                           [=] { return reshaped<NpzReader>({}, path, member, progress); }));
  return out;
}

std::vector<FileTensor> of_safetensors(const FilePath& path) {
  std::vector<FileTensor> out;
  for (const auto& entry : read_safetensors_header(InputFile(path)))
    out.push_back({.name = entry.name,
                   .file_type = entry.type,
                   .type = entry.is_readable ? std::optional(entry.array.element.type()) : std::nullopt,
                   .shape = entry.array.shape,
                   .open = [=] { return reshaped<SafetensorsReader>({}, path, entry); }});
  return out;
}

std::vector<FileTensor> of_gguf(const FilePath& path) {
  std::vector<FileTensor> out;
  for (const auto& entry : read_gguf_header(InputFile(path)))
    out.push_back(
        {.name = entry.name, .file_type = entry.type, .type = entry.stored, .shape = entry.shape, .open = [=] {
           return reshaped<GgufReader>({}, path, entry);
         }});
  return out;
}

/// A name that is no text has \xNN in it, and no type, as no statement can name it.
FileTensor with_printable_name(FileTensor tensor) {
  auto shown = printable(tensor.name, 4 * tensor.name.size());
  if (shown != tensor.name) tensor.type.reset();
  tensor.name = std::move(shown);
  return tensor;
}

std::vector<FileTensor> of_zarr(const FilePath& path, const Hdf5Terms& terms) {
  std::vector<FileTensor> out;
  for (auto& entry : zarr_arrays(InputDirectory(path))) {
    auto open = [=, name = entry.name] { return open_zarr(path, name, terms.values, terms.memory_limit); };
    const auto& array = entry.array;
    out.push_back(with_printable_name({.name = std::move(entry.name),
                                       .file_type = array ? array->file_type : "",
                                       .type = array ? std::optional(array->type_of(terms.values)) : std::nullopt,
                                       .shape = array ? array->shape : Shape({0}),
                                       .open = std::move(open)}));
  }
  return out;
}

std::vector<FileTensor> of_hdf5(const FilePath& path, const Hdf5Terms& terms) {
  std::vector<FileTensor> out;
  if (const InputFile file(path); is_classic_netcdf(file)) {
    for (auto& variable : read_classic_netcdf(file))
      out.push_back(with_printable_name({.name = variable.name,
                                         .file_type = variable.file_type,
                                         .type = variable.type(terms.values),
                                         .shape = variable.shape,
                                         .open = [=, name = variable.name] {
                                           return std::make_unique<ReaderBlocks<ClassicNetcdfReader>>(path, name,
                                                                                                      terms.values);
                                         }}));
    return out;
  }
  for (auto& entry : list_hdf5(path, terms.values, terms.cancellation)) {
    auto open = [=, name = entry.name] {
      return std::make_unique<ReaderBlocks<Hdf5Reader>>(path, name, terms.memory_limit, terms.cancellation,
                                                        terms.values);
    };
    out.push_back({.name = std::move(entry.name),
                   .file_type = std::move(entry.file_type),
                   .type = entry.type,
                   .shape = std::move(entry.shape),
                   .open = std::move(open)});
  }
  return out;
}

}  // namespace

std::vector<std::string> usable_labels(const std::vector<std::string>& labels, std::size_t rank) {
  const std::set<std::string> distinct(labels.begin(), labels.end());
  const bool usable =
      labels.size() == rank && distinct.size() == labels.size() &&
      std::all_of(labels.begin(), labels.end(), [](const std::string& label) {
        return !label.empty() && label.size() <= kMaxNameLength && printable(label, 4 * label.size()) == label;
      });
  return usable ? labels : default_labels(rank);
}

std::vector<FileTensor> tensors_of_file(const FilePath& path, FileFormat format, const ByteProgress& progress,
                                        const Hdf5Terms& hdf5) {
  switch (format) {
    case FileFormat::Npy: return {of_numpy("", NpyReader(path), [=] { return open_npy(path, {}); })};
    case FileFormat::Npz: return of_npz(path, progress);
    case FileFormat::Scipy: return of_scipy(path);
    case FileFormat::Safetensors: return of_safetensors(path);
    case FileFormat::Gguf: return of_gguf(path);
    case FileFormat::Hdf5:
    case FileFormat::Netcdf: return of_hdf5(path, hdf5);
    case FileFormat::Zarr: return of_zarr(path, hdf5);
    default: break;
  }
  throw Error(ErrorKind::Unsupported, "the tensors of " + path.text() + " cannot be listed", std::nullopt,
              "those of npy, npz, safetensors, gguf, HDF5 and Zarr files can");
}

std::unique_ptr<BlockSource> open_npy(const FilePath& path, const std::optional<Shape>& shape) {
  return reshaped<NpyReader>(shape, path);
}

std::unique_ptr<BlockSource> open_npz(const FilePath& path, const std::string& member,
                                      const std::optional<Shape>& shape, const ByteProgress& progress) {
  return reshaped<NpzReader>(shape, path, member, progress);
}

std::unique_ptr<BlockSource> open_safetensors(const FilePath& path, const std::string& tensor,
                                              const std::optional<Shape>& shape) {
  return reshaped<SafetensorsReader>(shape, path, tensor);
}

std::unique_ptr<BlockSource> open_gguf(const FilePath& path, const std::string& tensor,
                                       const std::optional<Shape>& shape) {
  return reshaped<GgufReader>(shape, path, tensor);
}

std::unique_ptr<BlockSource> open_hdf5(const FilePath& path, const std::string& dataset, PackedValues values,
                                       std::int64_t memory_limit, const Cancellation& cancellation) {
  if (is_classic_netcdf(InputFile(path)))
    return std::make_unique<ReaderBlocks<ClassicNetcdfReader>>(path, dataset, values);
  return std::make_unique<ReaderBlocks<Hdf5Reader>>(path, dataset, memory_limit, &cancellation, values);
}

std::unique_ptr<BlockSource> open_zarr(const FilePath& path, const std::string& name, PackedValues values,
                                       std::int64_t memory_limit) {
  return std::make_unique<ReaderBlocks<ZarrReader>>(path, name, memory_limit, values);
}

std::unique_ptr<BlockSource> open_csv(const FilePath& path, CsvOptions options, bool as_vector,
                                      const Cancellation& cancellation) {
  return std::make_unique<CsvBlocks>(path, options, as_vector, cancellation);
}

}  // namespace eindb
