#include "engine/tensors/attached_tensors.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "common/letter_case.hpp"
#include "common/nearest_name.hpp"
#include "executor/kernels/strided_copy.hpp"
#include "tensor/cell_box_walk.hpp"

namespace eindb {
namespace {

// ---- Checks of a program's tensors ----------------------------------------------------------------------------------

std::size_t alignment_of(DType type) {
  return dispatch(type, [](auto t) { return alignof(typename decltype(t)::type); });
}

void check_pointer(const std::string& name, const MemoryTensor& tensor, const Shape& shape) {
  if (shape.element_count() == 0) return;
  if (tensor.data == nullptr)
    throw Error(ErrorKind::Value, "tensor " + name + " has elements, but its pointer is null");
  if (const auto alignment = alignment_of(tensor.dtype);
      reinterpret_cast<std::uintptr_t>(tensor.data) % alignment != 0) {
    throw Error(ErrorKind::Value,
                "the memory of tensor " + name + " is not aligned as " + std::string(name_of(tensor.dtype)),
                std::nullopt, "its address must be a multiple of " + std::to_string(alignment));
  }
}

// Checks that all elements lie within the address range of a pointer.
void check_strides(const std::string& name, const MemoryTensor& tensor, const Shape& shape) {
  if (tensor.strides.size() != shape.rank()) {
    throw Error(ErrorKind::Value, "tensor " + name + " has " + std::to_string(shape.rank()) + " extents, but " +
                                      std::to_string(tensor.strides.size()) + " strides");
  }
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  std::int64_t reach = 0;
  for (std::size_t d = 0; d < shape.rank() && shape.element_count() > 0; ++d) {
    const auto far = checked_multiply(checked_multiply(shape[d] - 1, tensor.strides[d]), size);
    reach = checked_add(reach, far < 0 ? checked_multiply(far, -1) : far);
  }
}

void check_labels(const std::string& name, const MemoryTensor& tensor, const Shape& shape) {
  if (tensor.labels.size() != shape.rank()) {
    throw Error(ErrorKind::Label, "tensor " + name + " has " + std::to_string(shape.rank()) + " dimensions, but " +
                                      std::to_string(tensor.labels.size()) + " labels");
  }
  std::set<std::string> seen;
  for (const auto& label : tensor.labels) {
    check_label_name(label);
    if (!seen.insert(label).second) throw Error(ErrorKind::DuplicateName, "label " + label + " is given twice");
  }
}

// ---- Partitions ----------------------------------------------------------------------------------------------------

std::vector<std::int64_t> largest_tile(const Shape& shape, const Partition& partition) {
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < shape.rank(); ++d) extents.push_back(largest_part(shape[d], partition[d]));
  return extents;
}

// Cuts a dimension only if all dimensions before it are cut into single indices, so that tiles of row-major data are
// contiguous.
Partition leading_partition(const Shape& shape, DType type, std::int64_t tile_bytes) {
  Partition parts(shape.rank(), 1);
  if (shape.element_count() == 0) return parts;
  const auto size = static_cast<std::int64_t>(size_of(type));
  const auto too_large = [&] {
    return checked_multiply(checked_product(largest_tile(shape, parts)), size) > tile_bytes;
  };
  for (std::size_t d = 0; d < shape.rank(); ++d)
    while (parts[d] < shape[d] && too_large()) parts[d] = std::min(parts[d] * 2, shape[d]);
  return parts;
}

// Tiles of cells may be large: what they have not takes no room.
constexpr std::int64_t kDenseBytesOfCells = std::int64_t{64} << 20U;
// Plans are used again for tensors of about as many cells: numbers that differ by less than an eighth are one.
double about(std::int64_t cells) {
  const auto bits = std::bit_width(static_cast<std::uint64_t>(cells));
  if (bits <= 3) return static_cast<double>(cells);
  const auto unit = std::int64_t{1} << (bits - 3);
  const auto units = (cells + unit - 1) / unit;
  return static_cast<double>(units * unit);
}

std::vector<PartRange> box_of(const TileGrid& grid, const TileKey& key) {
  std::vector<PartRange> box;
  for (std::size_t d = 0; d < grid.rank(); ++d) box.push_back(grid.range(d, key[d]));
  return box;
}

// ---- Statements that would change an attached tensor ----------------------------------------------------------------

struct TargetCheck {
  const AttachedTensors& attached;

  void refuse(const ast::Identifier& name, ErrorKind kind, const std::string& why, const std::string& hint) const {
    if (const auto* tensor = attached.find(name.text)) throw Error(kind, tensor->name() + why, name.span, hint);
  }
  void refuse_making(const ast::Identifier& name) const {
    refuse(name, ErrorKind::DuplicateName, " is an attached tensor", "use another name, or detach it first");
  }

  void operator()(const ast::CreateTensor& create) const { refuse_making(create.name); }
  void operator()(const ast::CreateTensors& create) const {
    for (const auto& name : create.names) refuse_making(name);
  }
  void operator()(const ast::UpdateTensor& update) const {
    for (const auto& definition : std::get<ast::Updates>(update.query.body).definitions)
      refuse(definition.name, ErrorKind::ReadOnly, " is an attached tensor, which statements only read",
             "its values are the program's to change");
  }
  void operator()(const ast::CopyFrom& copy) const { refuse_making(copy.tensor); }
  void operator()(const ast::DropTensor& drop) const {
    for (const auto& name : drop.names)
      refuse(name, ErrorKind::ReadOnly, " is an attached tensor, not a stored one", "the program detaches it");
  }
  void operator()(const ast::AlterTensor& alter) const {
    refuse(alter.name, ErrorKind::ReadOnly, " is an attached tensor, not a stored one",
           "store it first: CREATE TENSOR ... AS EINSUM ...");
    if (const auto* name = std::get_if<ast::Identifier>(&alter.change)) refuse_making(*name);
  }
  void operator()(const ast::AnalyzeTensor& analyze) const {
    if (analyze.name)
      refuse(*analyze.name, ErrorKind::ReadOnly, " is an attached tensor, not a stored one",
             "statistics are of stored tensors");
  }
  void operator()(const ast::InsertInto& insert) const {
    refuse(insert.tensor, ErrorKind::ReadOnly, " is an attached tensor, which statements only read",
           "its values are the program's to change");
  }
  void operator()(const ast::CopyTo& copy) const {
    const auto* name = std::get_if<ast::Identifier>(&copy.source);
    if (name == nullptr) return;
    refuse(*name, ErrorKind::Unsupported, " is an attached tensor, not a stored one",
           "copy a query: COPY (EINSUM Z[i] = " + name->text + "[i]) TO ...");
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

AttachedTensor::AttachedTensor(std::string name, MemoryTensor tensor, std::int64_t tile_bytes)
    : name_(std::move(name)), tensor_(std::move(tensor)) {
  check_tensor_name(name_);
  const Shape shape(tensor_.extents);
  check_storable(shape, tensor_.dtype);
  if (tensor_.labels.empty()) tensor_.labels = default_labels(shape.rank());
  check_labels(name_, tensor_, shape);
  if (is_of_cells()) {
    grid_ = TileGrid(shape, default_partition(shape, tensor_.dtype, kDenseBytesOfCells));
    CHECK(tensor_.cells->dtype() == tensor_.dtype && tensor_.cells->shape() == shape,
          "the cells of a tensor are of its type and extents");
    // What is noted of the values of a tile is of those that a program may change between statements.
    if (!tensor_.cells->is_borrowed()) whole_ = std::make_shared<const Tile>(Tile::of_cells(tensor_.cells));
    return;
  }
  check_strides(name_, tensor_, shape);
  check_pointer(name_, tensor_, shape);
  auto partition = leading_partition(shape, tensor_.dtype, tile_bytes);
  CHECK(partition.size() == shape.rank() && tensor_.labels.size() == shape.rank(),
        "an attached tensor is cut, and has a label, along each dimension");
  dense_ = is_dense_block(largest_tile(shape, partition));
  if (!dense_) partition = default_partition(shape, tensor_.dtype, tile_bytes);
  grid_ = TileGrid(shape, std::move(partition));
}

InputTensor AttachedTensor::input() const {
  InputTensor input{.name = name_, .dtype = tensor_.dtype, .grid = grid_, .selection = {}, .attached = true};
  if (is_of_cells()) input.cells = CellEstimate{.cells = about(tensor_.cells->count()), .spread = {}};
  return input;
}

std::vector<std::int64_t> AttachedTensor::tiles_with_cells() const {
  CHECK(is_of_cells(), "tiles are listed by the cells of a tensor that has some");
  const auto strides = grid_.shape().row_major_strides();
  std::vector<std::int64_t> tiles;
  TileKey key(grid_.rank());
  for (auto number : tensor_.cells->numbers()) {
    for (std::size_t d = 0; d < key.size(); ++d) {
      key[d] = grid_.part_at(d, number / strides[d]);
      number %= strides[d];
    }
    if (const auto tile = grid_.id_of(key); tiles.empty() || tiles.back() != tile) tiles.push_back(tile);
  }
  std::sort(tiles.begin(), tiles.end());
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return tiles;
}

TilePtr AttachedTensor::read_cells(const TileGrid& grid, std::int64_t tile_id) const {
  CHECK(is_of_cells() && grid.shape() == grid_.shape(), "a tile of cells is of a grid over a tensor of cells");
  if (grid.tile_count() == 1)
    return whole_ != nullptr ? whole_ : std::make_shared<const Tile>(Tile::of_cells(tensor_.cells));
  const auto box = box_of(grid, grid.key_of(tile_id));
  return std::make_shared<const Tile>(
      Tile::of_cells(std::make_shared<const CellBlock>(cells_in_box(*tensor_.cells, box))));
}

bool AttachedTensor::is_dense_block(const std::vector<std::int64_t>& extents) const {
  CHECK(extents.size() == tensor_.strides.size(), "memory has a stride for each dimension");
  std::int64_t expected = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    if (extents[d] > 1 && tensor_.strides[d] != expected) return false;
    expected *= extents[d];
  }
  return true;
}

bool AttachedTensor::may_lie_so(const std::vector<std::int64_t>& extents, ValueOrder order) const {
  if (order == ValueOrder::RowMajor) return false;
  std::vector<std::pair<std::int64_t, std::int64_t>> loops;  // a stride, and an extent; innermost first
  for (std::size_t d = extents.size(); d-- > 0;)
    if (extents[d] > 1) loops.emplace_back(tensor_.strides[d], extents[d]);
  if (order == ValueOrder::AnyOrder) std::sort(loops.begin(), loops.end());
  else if (!loops.empty() && loops.front().first != 1) return false;
  std::int64_t reach = 1;
  for (const auto& [stride, extent] : loops) {
    if (stride < reach) return false;
    reach = stride * extent;
  }
  return true;
}

TilePtr AttachedTensor::read(const TileGrid& grid, std::int64_t tile_id, ValueOrder order) const {
  CHECK(grid.shape() == grid_.shape(), "a tile is of a grid of the tensor's shape");
  CHECK(tile_id >= 0 && tile_id < grid.tile_count(), "a tile that is read lies in its grid");
  const auto key = grid.key_of(tile_id);
  const auto shape = grid.tile_shape(key);
  if (shape.element_count() == 0) return std::make_shared<const Tile>(Tile::zeros(tensor_.dtype, shape));
  if (is_of_cells()) return std::make_shared<const Tile>(expanded(*read_cells(grid, tile_id)));
  const auto begin = grid.tile_begin(key);
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < begin.size(); ++d) offset += begin[d] * tensor_.strides[d];
  const auto* first =
      static_cast<const std::byte*>(tensor_.data) + offset * static_cast<std::int64_t>(size_of(tensor_.dtype));
  if (is_dense_block(shape.extents())) return Tile::borrow(tensor_.dtype, shape, first);
  if (may_lie_so(shape.extents(), order)) return Tile::borrow(tensor_.dtype, shape, first, tensor_.strides);

  auto tile = Tile::uninitialized(tensor_.dtype, shape);
  const auto strides = shape.row_major_strides();
  copy_strided({tensor_.dtype, tile.mutable_bytes().data(), strides}, {tensor_.dtype, first, tensor_.strides},
               shape.extents());
  return std::make_shared<const Tile>(std::move(tile));
}

namespace {

// Reads tiles for SQL scans.
class AttachedReader final : public TileReader {
 public:
  explicit AttachedReader(std::shared_ptr<const AttachedTensor> tensor) : tensor_(std::move(tensor)) {}
  TilePtr read(std::int64_t tile_id) override { return tensor_->read(tensor_->grid(), tile_id); }
  TilePtr read_cells(std::int64_t tile_id) override {
    return has_cells() ? tensor_->read_cells(tensor_->grid(), tile_id) : read(tile_id);
  }
  bool has_cells() const override { return tensor_->is_of_cells(); }
  std::optional<std::int64_t> next(std::int64_t from) override {
    if (!has_cells()) return from;
    if (!listed_) listed_ = tensor_->tiles_with_cells();
    const auto found = std::lower_bound(listed_->begin(), listed_->end(), from);
    return found == listed_->end() ? std::nullopt : std::optional(*found);
  }
  // Borrowed tiles are kept without limit, copies not at all, and few of those that are made from cells.
  std::int64_t kept_bytes() const override {
    if (has_cells()) return kKeptOfCells;
    return tensor_->is_dense() ? std::numeric_limits<std::int64_t>::max() : 0;
  }

 private:
  static constexpr std::int64_t kKeptOfCells = std::int64_t{16} << 20U;

  std::shared_ptr<const AttachedTensor> tensor_;
  std::optional<std::vector<std::int64_t>> listed_;  // the tiles with cells, once they are asked for
};

}  // namespace

void AttachedTensors::attach(const std::string& name, MemoryTensor tensor, std::int64_t tile_bytes) {
  auto made = std::make_shared<const AttachedTensor>(name, std::move(tensor), tile_bytes);
  check_free(name);
  tables_.refresh();  // removes the tables of deleted tensors, which could otherwise take the new one along
  put(std::move(made));
}

// The name is the tensor's own already. Its table is made anew, as scans keep borrowed tiles.
void AttachedTensors::replace(const std::string& name, MemoryTensor tensor, std::int64_t tile_bytes) {
  const auto found = attached(name);
  auto made = std::make_shared<const AttachedTensor>(found->second.tensor->name(), std::move(tensor), tile_bytes);
  entries_.erase(found);
  put(std::move(made));
}

void AttachedTensors::put(std::shared_ptr<const AttachedTensor> tensor) {
  VisibleTable table(connection_, {.name = tensor->name(),
                                   .labels = tensor->labels(),
                                   .dtype = tensor->dtype(),
                                   .grid = tensor->grid(),
                                   .tiles = std::make_shared<AttachedReader>(tensor)});
  auto key = to_lower(tensor->name());
  const bool is_new = entries_.emplace(std::move(key), Entry{std::move(tensor), std::move(table)}).second;
  CHECK(is_new, "an attached tensor has a name of its own");
  ++generation_;
}

void AttachedTensors::check_free(const std::string& name) {
  if (const auto* present = find(name)) {
    throw Error(ErrorKind::DuplicateName, "a tensor " + present->name() + " is attached already", std::nullopt,
                "detach it first, or use another name");
  }
  catalog_.require_free(name);
  if (tables_.names_module(to_lower(name)))
    throw Error(ErrorKind::DuplicateName, name + " is a function of SQL", std::nullopt, "use another name");
}

void AttachedTensors::detach(std::string_view name) {
  entries_.erase(attached(name));
  ++generation_;
}

AttachedTensors::Entries::iterator AttachedTensors::attached(std::string_view name) {
  const auto found = entries_.find(to_lower(name));
  if (found != entries_.end()) return found;
  const auto nearest = nearest_name(name, names());
  throw Error(ErrorKind::UnknownName, "no tensor " + std::string(name) + " is attached", std::nullopt,
              nearest ? "did you mean " + *nearest + "?" : "");
}

const AttachedTensor* AttachedTensors::find(std::string_view name) const {
  if (entries_.empty()) return nullptr;
  const auto found = entries_.find(to_lower(name));
  return found == entries_.end() ? nullptr : found->second.tensor.get();
}

std::vector<std::string> AttachedTensors::names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) names.push_back(entry.tensor->name());
  return names;
}

void AttachedTensors::check_targets(const ast::Statement& statement) const {
  if (!empty()) std::visit(TargetCheck{*this}, statement.node);
}

TilePtr AttachedTiles::read_attached(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id,
                                     ValueOrder order) {
  const auto* found = attached_.find(tensor);
  CHECK(found != nullptr, "what a plan scans stays attached while it runs");
  return found->read(grid, tile_id, order);
}

TilePtr AttachedTiles::read_cells(const std::string& tensor, const TileGrid& grid, std::int64_t tile_id) {
  const auto* found = attached_.find(tensor);
  return found != nullptr ? found->read_cells(grid, tile_id) : stored_.read_cells(tensor, grid, tile_id);
}

}  // namespace eindb
