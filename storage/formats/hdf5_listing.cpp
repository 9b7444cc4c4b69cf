// The message that the process with libhdf5 sends, in this machine's byte order: for each data set the name and the
// type in the file (4 bytes of length each, then the text), a byte that says whether it can be read, its type and
// encoding (1 byte each), the rank (4 bytes) and the extents (8 bytes each).

#include "storage/formats/hdf5_listing.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/encoding/tile_codec.hpp"
#include "storage/formats/array_name.hpp"
#include "storage/formats/hdf5_dataset.hpp"
#include "storage/formats/isolated_reader.hpp"

namespace eindb {
namespace {

constexpr std::size_t kMostListed = 10'000;  // in well under the process's two seconds
constexpr std::size_t kMostListedBytes = std::size_t{64} << 20U;

class ListingBytes {
 public:
  template <class T>
  void value(T value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void text(const std::string& text) {
    value(static_cast<std::uint32_t>(text.size()));
    const auto bytes = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void entry(const Hdf5Entry& entry) {
    text(entry.name);
    text(entry.file_type);
    const auto type = entry.type.value_or(StoredType{});
    value<std::uint8_t>(entry.type ? 1 : 0);
    value(static_cast<std::uint8_t>(type.values));
    value(static_cast<std::uint8_t>(type.encoding));
    value(static_cast<std::uint32_t>(entry.shape.rank()));
    for (const auto extent : entry.shape.extents()) value(extent);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// The process may have been led astray by the file: nothing that it sends is believed.
class ListingReader {
 public:
  ListingReader(std::string path, std::span<const std::byte> bytes) : path_(std::move(path)), bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  Hdf5Entry entry() {
    Hdf5Entry entry{.name = text(), .file_type = text(), .type = {}, .shape = {}};
    const bool is_readable = value<std::uint8_t>() != 0;
    const auto dtype = dtype_from_code(value<std::uint8_t>());
    const auto encoding = encoding_from_code(value<std::uint8_t>());
    require(dtype && encoding);
    if (is_readable) entry.type = StoredType{*dtype, *encoding};
    require(!is_readable || *encoding == Encoding::Plain || with_encoding(*encoding).values == *dtype);
    std::vector<std::int64_t> extents;
    const auto rank = value<std::uint32_t>();
    for (std::uint32_t d = 0; d < rank; ++d) {
      extents.push_back(value<std::int64_t>());
      require(extents.back() >= 0);
    }
    require(try_product(extents).has_value());
    entry.shape = Shape(std::move(extents));
    return entry;
  }

 private:
  void require(bool holds) const {
    if (!holds) throw Error(ErrorKind::Corrupt, path_ + " is damaged: its data sets cannot be listed");
  }
  std::span<const std::byte> take(std::size_t count) {
    require(count <= bytes_.size());
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  template <class T>
  T value() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() {
    const auto taken = take(value<std::uint32_t>());
    std::string text(taken.size(), '\0');
    if (!taken.empty()) std::memcpy(text.data(), taken.data(), taken.size());
    return text;
  }

  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<Hdf5Entry> list_hdf5(const FilePath& path, PackedValues values, const Cancellation* cancellation) {
  const InputFile file(path);
  const auto bytes = isolated_answer(
      file.path(), hdf5_mutex(),
      [&] {
        ListingBytes out;
        for (const auto& entry : Hdf5Dataset::entries_of(file, values, kMostListed)) out.entry(entry);
        return out.take();
      },
      kMostListedBytes, cancellation);
  std::vector<Hdf5Entry> entries;
  ListingReader reader(file.path(), bytes);
  while (!reader.at_end()) {
    auto entry = reader.entry();
    auto shown = printable(entry.name, 4 * entry.name.size());
    if (shown != entry.name) entry.type.reset();  // no statement can name it
    entry.name = std::move(shown);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace eindb
