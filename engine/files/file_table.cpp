#include "engine/files/file_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/tensor_info.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "engine/files/file_rows.hpp"
#include "engine/files/tensor_import.hpp"
#include "storage/cells/tensor_table.hpp"
#include "storage/formats/scipy_reader.hpp"
#include "storage/sqlite/row_table.hpp"

namespace eindb {
namespace {

constexpr std::int64_t kLongestRow = std::int64_t{1} << 28U;
constexpr std::int64_t kShareOfFile = 4;  // of memory_limit

// ---- Rows of text --------------------------------------------------------------------------------------------------

std::optional<std::int64_t> integer_written(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // 007 is a code, not a number.
  if (error != std::errc() || end != text.data() + text.size() || std::to_string(number) != text) return std::nullopt;
  return number;
}

std::optional<double> real_written(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  const auto digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool is_code = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  // An integer beyond 64 bits would lose digits.
  const bool is_long = text.find_first_of(".eE") == std::string_view::npos && !integer_written(text);
  if (is_code || is_long) return std::nullopt;
  return number;
}

/// The type of a column, by the values that were seen.
class ColumnKind {
 public:
  void see(const CopyField& field) {
    if (!field) return;
    seen_ = true;
    integers_ = integers_ && integer_written(*field);
    reals_ = reals_ && (integers_ || real_written(*field));
  }
  const char* type() const { return !seen_ || !reals_ ? "TEXT" : integers_ ? "INTEGER" : "REAL"; }
  KeptValue value(const CopyField& field) const {
    if (!field) return std::monostate();
    if (seen_ && integers_) return number(integer_written(*field));
    if (seen_ && reals_) return number(real_written(*field));
    return KeptText(field->begin(), field->end());
  }

 private:
  template <class Number>
  static Number number(std::optional<Number> read) {
    if (read) return *read;
    throw Error(ErrorKind::Busy, "it was changed while it was read", std::nullopt, "run the statement again");
  }

  bool seen_ = false;
  bool integers_ = true;
  bool reals_ = true;
};

std::vector<std::string> names_in_header(const std::vector<CopyField>& line) {
  std::vector<std::string> names;
  for (const auto& field : line) {
    const auto name = field ? without_spaces(*field) : std::string_view();
    if (name.empty() || real_written(name)) {
      throw Error(ErrorKind::Corrupt,
                  "the first line has the names of columns, and '" + std::string(name) + "' is none", std::nullopt,
                  "a file without names: CREATE TABLE t (...), then COPY t FROM 'file' (HEADER off)");
    }
    const bool twice = std::any_of(names.begin(), names.end(),
                                   [&](const std::string& other) { return equal_ignoring_case(other, name); });
    if (twice) throw Error(ErrorKind::Corrupt, "two columns are named " + std::string(name));
    names.emplace_back(name);
  }
  return names;
}

/// Reads the file from its beginning: calls `take` for each row behind the header, whose names are returned.
template <class F>
std::vector<std::string> each_row(const FilePath& path, char delimiter, const Cancellation& cancellation, F take) {
  FileRows rows(path, delimiter, kLongestRow);
  std::vector<std::string> names;
  while (const auto* fields = rows.next()) {
    cancellation.check();
    try {
      if (names.empty()) {
        names = names_in_header(*fields);
        continue;
      }
      if (fields->size() != names.size())
        throw Error(ErrorKind::Corrupt,
                    std::to_string(fields->size()) + " fields, and " + std::to_string(names.size()) + " columns",
                    std::nullopt, "a value with delimiters or line ends in it stands in quotes");
      take(*fields);
    } catch (const Error& error) {
      throw rows.at_line(error);
    }
  }
  if (names.empty()) throw Error(ErrorKind::Corrupt, path.text() + " has no first line with names of columns");
  return names;
}

std::shared_ptr<void> show_rows(const FilePath& path, char delimiter, const std::string& name, SessionState& session) {
  const auto& cancellation = session.statement.cancellation();
  std::vector<ColumnKind> kinds;
  const auto see = [&](const std::vector<CopyField>& fields) {
    kinds.resize(fields.size());
    for (std::size_t n = 0; n < fields.size(); ++n) kinds[n].see(fields[n]);
  };
  const auto names = each_row(path, delimiter, cancellation, see);
  kinds.resize(names.size());
  RowTable table{.name = name, .columns = {}, .values = {}};
  for (std::size_t n = 0; n < names.size(); ++n) table.columns.push_back({names[n], kinds[n].type()});
  const auto keep = [&](const std::vector<CopyField>& fields) {
    for (std::size_t n = 0; n < fields.size() && n < kinds.size(); ++n)
      table.values.push_back(kinds[n].value(fields[n]));
  };
  if (each_row(path, delimiter, cancellation, keep) != names)
    throw Error(ErrorKind::Busy, path.text() + " was changed while it was read", std::nullopt,
                "run the statement again");
  CHECK(table.values.size() % names.size() == 0, "a table has whole rows");
  return std::make_shared<VisibleRows>(session.database.connection(), std::move(table));
}

// ---- Arrays --------------------------------------------------------------------------------------------------------

std::shared_ptr<void> show_array(BlockSource& file, const FilePath& path, const std::string& name,
                                 SessionState& session) {
  const auto most = session.user.settings.memory_limit() / kShareOfFile;
  const auto bytes = file.shape().element_count() * static_cast<std::int64_t>(size_of(file.dtype()));
  if (bytes > most)
    throw Error(ErrorKind::MemoryLimit,
                path.text() + " has " + std::to_string(bytes) + " bytes of values, more than a quarter of memory_limit",
                std::nullopt, "read it into a tensor: COPY X FROM 'file'");
  const TileGrid grid(file.shape(), default_partition(file.shape(), file.dtype(), session.user.settings.tile_bytes()));
  auto tiles = std::make_shared<std::vector<TilePtr>>();
  for (std::int64_t id = 0; id < grid.tile_count(); ++id) {
    session.statement.cancellation().check();
    const auto key = grid.key_of(id);
    tiles->push_back(std::make_shared<const Tile>(file.read_block(grid.tile_begin(key), grid.tile_shape(key))));
  }
  auto held = [tiles](std::int64_t id) {
    DCHECK(id >= 0 && std::cmp_less(id, tiles->size()), "a tile that is read is one of the array");
    return (*tiles)[static_cast<std::size_t>(id)];
  };
  return std::make_shared<VisibleTable>(session.database.connection(),
                                        TensorTable{.name = name,
                                                    .labels = usable_labels(file.labels(), file.shape().rank()),
                                                    .dtype = file.dtype(),
                                                    .grid = grid,
                                                    .tiles = std::make_shared<HeldTileReader>(std::move(held))});
}

std::unique_ptr<BlockSource> open_array(const FilePath& path, std::string_view extension, SessionState& session) {
  const auto& cancellation = session.statement.cancellation();
  if (extension == ".npy") return open_npy(path, {});
  if (extension == ".npz" && holds_scipy_matrix(InputFile(path)))
    throw Error(ErrorKind::Unsupported, path.text() + " holds a sparse matrix of SciPy, whose rows SQL does not read",
                std::nullopt, "read it into a tensor: COPY X FROM 'file'");
  if (extension == ".npz") return open_npz(path, "", {}, [&](std::int64_t, std::int64_t) { cancellation.check(); });
  if (extension == ".safetensors") return open_safetensors(path, "", {});
  if (extension == ".zarr") return open_zarr(path, "", PackedValues::Unpack, session.user.settings.memory_limit());
  return open_hdf5(path, "", PackedValues::Unpack, session.user.settings.memory_limit(), cancellation);
}

[[noreturn]] void refuse_format(const std::string& path, std::string_view extension) {
  const bool columnar =
      extension == ".parquet" || extension == ".arrow" || extension == ".arrows" || extension == ".feather";
  if (columnar)
    throw Error(ErrorKind::Unsupported, path + ": Parquet and Arrow files are not read", std::nullopt,
                "write it as CSV, or an array as npy: pandas.read_parquet(...).to_csv('file.csv', index=False)");
  throw Error(
      ErrorKind::Unsupported, path + " is no file of rows that SQL reads", std::nullopt,
      "CSV and TSV files are tables, and npy, npz, safetensors, HDF5 and Zarr files of one array; lists of cells are "
      "read into tensors: COPY X FROM 'file'");
}

}  // namespace

std::shared_ptr<void> show_file(const FilePath& path, const std::string& table, SessionState& session) {
  const auto& text = path.text();
  const auto extension = to_lower(text.substr(std::min(text.rfind('.'), text.size())));
  if (extension == ".csv") return show_rows(path, ',', table, session);
  if (extension == ".tsv") return show_rows(path, '\t', table, session);
  const bool is_array = extension == ".npy" || extension == ".npz" || extension == ".safetensors" ||
                        extension == ".zarr" || extension == ".h5" || extension == ".hdf5" || extension == ".nc";
  if (!is_array) refuse_format(text, extension);
  return show_array(*open_array(path, extension, session), path, table, session);
}

}  // namespace eindb
