#include "engine/query/region_writer.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "common/check.hpp"
#include "common/checked_math.hpp"
#include "common/error.hpp"
#include "storage/cells/cell.hpp"
#include "storage/cells/cell_locator.hpp"
#include "storage/tiles/open_tiles.hpp"
#include "storage/tiles/tile_store.hpp"
#include "tensor/cell_box_walk.hpp"
#include "tensor/tile_gather.hpp"
#include "tensor/tile_window.hpp"

namespace eindb {
namespace {

// Values that stand one behind the other in a tile of values and in a tile of the tensor.
struct Run {
  std::int64_t tile_id = 0;
  std::int64_t first = 0;   // position of the tile's first cell
  std::int64_t offset = 0;  // in the tile of the tensor
  std::int64_t value = 0;   // in the tile of values
  std::int64_t count = 1;
};

// The indices of one dimension of the tensor for the values of one tile: offset + step * (index of the value in
// `dimension`), or the elements of a box over some dimensions of the values.
struct Indices {
  std::int64_t base = 0;
  std::int64_t step = 0;
  std::optional<std::size_t> dimension = {};
  std::vector<std::int64_t> elements = {};
  std::vector<std::int64_t> strides = {};  // of the box by dimension of the values; 0 for those that it lacks

  std::int64_t at(const std::vector<std::int64_t>& value) const {
    if (elements.empty()) return base + (dimension ? step * value[*dimension] : 0);
    std::int64_t number = 0;
    for (std::size_t d = 0; d < value.size(); ++d) number += strides[d] * value[d];
    return elements[static_cast<std::size_t>(number)];
  }
  bool depends_on(std::size_t d) const { return elements.empty() ? dimension == d : strides[d] != 0; }
};

class RegionWrite {
 public:
  RegionWrite(const PlannedQuery& planned, const std::vector<std::shared_ptr<ResultTiles>>& tiles,
              SessionState& session, const BoundRegion& region, const StoredResult& result)
      : planned_(planned),
        tiles_(tiles),
        session_(session),
        region_(region),
        tensor_(result.tensor),
        grid_(tiles[region.result]->grid()),
        locator_(result.tensor.grid),
        open_(session.database.connection(), result.tensor.store(),
              session.user.settings.memory_limit() / kShareOfMemory, OpenTiles::Content::Stored),
        has_indices_(std::any_of(region.places.begin(), region.places.end(),
                                 [](const RegionPlace& place) { return place.indices.has_value(); })),
        may_meet_(!region.adds && has_indices_) {
    CHECK(region.places.size() == result.tensor.grid.rank(), "a region has indices for each dimension of its tensor");
  }

  // Values that meet are refused even if they are zero, so that all of them are looked at. Otherwise absent values only
  // make zeros of the cells that are there.
  void run() {
    auto& tiles = *tiles_[region_.result];
    if (grid_.shape().element_count() == 0) return;
    find_stored();
    if (may_meet_) {
      for (std::int64_t tile = 0; tile < grid_.tile_count(); ++tile) write(tile, tiles.take(tile));
    } else {
      if (!region_.adds) clear_stored();
      for (auto tile = tiles.next(0); tile; tile = tiles.next(*tile + 1)) {
        const auto values = tiles.take(*tile);
        if (values != nullptr && values->is_of_cells() && !has_indices_) write_cells(*tile, *values);
        else write(*tile, values);
      }
    }
    open_.flush();
  }

 private:
  static constexpr std::int64_t kShareOfMemory = 4;

  // Values of a box, by their indices in each dimension.
  using Box = std::vector<PartRange>;

  Box box_of(std::int64_t tile) const {
    Box box;
    const auto key = grid_.key_of(tile);
    for (std::size_t d = 0; d < grid_.rank(); ++d) box.push_back(grid_.range(d, key[d]));
    return box;
  }

  void write(std::int64_t tile, const TilePtr& values) {
    if (values == nullptr && region_.adds) return;
    session_.statement.cancellation().check();
    const auto all =
        values != nullptr && values->is_of_cells() ? std::make_shared<const Tile>(expanded(*values)) : values;
    set_indices(box_of(tile), grid_.key_of(tile));
    find_runs();
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.tile_id < b.tile_id; });
    dispatch(tensor_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      apply_all(all == nullptr ? nullptr : all->template data<T>());
    });
  }

  // Where the indices have no elements, each cell is a run of its own.
  void write_cells(std::int64_t tile, const Tile& values) {
    session_.statement.cancellation().check();
    set_indices(box_of(tile), grid_.key_of(tile));
    const auto& cells = values.cells();
    Box all;
    for (const auto extent : cells.shape().extents()) all.push_back({0, extent});
    std::vector<std::int64_t> value(all.size());
    runs_.clear();
    for (CellBoxWalk walk(cells, std::move(all)); walk.next();) {
      for (std::size_t d = 0; d < value.size(); ++d) value[d] = walk.coordinate(d);
      add_runs(value, walk.cell(), 1);
    }
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.tile_id < b.tile_id; });
    dispatch(tensor_.dtype,
             [&](auto type) { apply_all(cells.trie().template values_as<typename decltype(type)::type>()); });
  }

  // The first and the last index of each dimension lie in the tensor, and so do those between.
  void check_ends() {
    std::vector<std::int64_t> last;
    for (const auto extent : grid_.shape().extents()) last.push_back(extent - 1);
    for (const auto& value : {std::vector<std::int64_t>(last.size(), 0), last}) set_cell(value);
  }

  Box whole() const {
    Box box;
    for (const auto extent : grid_.shape().extents()) box.push_back({0, extent});
    return box;
  }

  // Makes zeros of the cells of stored tiles for which there is no tile of values, or one of cells.
  void clear_stored() {
    const auto given = dense_tiles();
    for (const auto stored : stored_) {
      session_.statement.cancellation().check();
      const auto box = values_for(stored);
      if (!box) continue;
      const auto window = window_over(grid_, *box);
      for (std::int64_t n = 0; n < (given.empty() ? 1 : window.tile_count()); ++n) {
        if (given.empty()) {
          clear(*box);
          continue;
        }
        const auto tile = grid_.id_of(window.key_of(n));
        if (!std::binary_search(given.begin(), given.end(), tile)) clear(overlap(*box, box_of(tile)));
      }
    }
  }

  void clear(const Box& box) {
    set_indices(box, {});
    find_runs();
    dispatch(tensor_.dtype, [&](auto type) { apply_all(static_cast<const typename decltype(type)::type*>(nullptr)); });
  }

  static Box overlap(const Box& a, const Box& b) {
    Box box;
    for (std::size_t d = 0; d < a.size(); ++d) {
      const auto begin = std::max(a[d].begin, b[d].begin);
      box.push_back({begin, std::min(a[d].end(), b[d].end()) - begin});
    }
    return box;
  }

  // The tiles that have all of their values, ascending.
  std::vector<std::int64_t> dense_tiles() {
    std::vector<std::int64_t> given;
    auto& tiles = *tiles_[region_.result];
    if (planned_.holds_cells(region_.result)) return given;
    for (auto tile = tiles.next(0); tile; tile = tiles.next(*tile + 1)) given.push_back(*tile);
    return given;
  }

  // A range of each dimension of the tensor that has all indices of the region.
  Box image() {
    Box image;
    if (!has_indices_) {
      set_indices(whole(), {});
      check_ends();
    }
    for (std::size_t d = 0; d < tensor_.grid.rank(); ++d) {
      if (has_indices_) {
        image.push_back({0, tensor_.grid.shape()[d]});
        continue;
      }
      const auto& place = indices_[d];
      const auto last = place.base + (place.dimension ? place.step * (grid_.shape()[*place.dimension] - 1) : 0);
      const auto begin = std::min(place.base, last);
      image.push_back({begin, std::max(place.base, last) + 1 - begin});
    }
    return image;
  }

  // Finds the tiles of the tensor that are there, and may have cells of the region.
  void find_stored() {
    const auto& grid = tensor_.grid;
    const auto window = window_over(grid, image());
    StoredTileIds ids(session_.database.connection(), tensor_.store());
    for (auto key = window.next(TileKey(grid.rank(), 0)); key;) {
      const auto stored = ids.next(grid.id_of(*key));
      if (!stored) break;
      key = window.next(grid.key_of(*stored));
      if (!key || grid.id_of(*key) != *stored) continue;
      stored_.push_back(*stored);
      if (*stored + 1 == grid.tile_count()) break;
      key = window.next(grid.key_of(*stored + 1));
    }
  }

  // The values that go to cells of the tile; nullopt if none do. The indices are those of all values.
  std::optional<Box> values_for(std::int64_t stored) {
    set_indices(whole(), {});
    auto box = whole();
    const auto key = tensor_.grid.key_of(stored);
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      const auto& place = indices_[d];
      if (!place.dimension) continue;
      CHECK(place.step != 0, "values of one dimension go to different cells");
      const auto range = tensor_.grid.range(d, key[d]);
      // The first value at or behind one end, and the last one before the other.
      const auto near = place.step > 0 ? range.begin - place.base : place.base - (range.end() - 1);
      const auto step = std::abs(place.step);
      const auto first = near <= 0 ? 0 : ceil_divide(near, step);
      const auto far = near + range.size - 1;
      const auto end = far < 0 ? 0 : far / step + 1;
      auto& values = box[*place.dimension];
      const auto begin = std::max(values.begin, first);
      values = {begin, std::max<std::int64_t>(0, std::min(values.end(), end) - begin)};
      if (values.size == 0) return std::nullopt;
    }
    return box;
  }

  // The indices of the tensor for the values of a box, which is that of tile `key` where indices have elements.
  void set_indices(const Box& box, const TileKey& key) {
    indices_.clear();
    begin_.clear();
    std::vector<std::int64_t> extents;
    for (const auto& range : box) {
      begin_.push_back(range.begin);
      extents.push_back(range.size);
    }
    shape_ = Shape(std::move(extents));
    for (const auto& place : region_.places) indices_.push_back(indices_of(place, key));
  }

  Indices indices_of(const RegionPlace& place, const TileKey& key) {
    if (!place.indices) {
      Indices indices{.base = place.offset, .step = place.step, .dimension = place.dimension};
      if (place.parameter) {
        const auto given = std::get<std::int64_t>(session_.statement.parameters().at(*place.parameter));
        const auto index = index_within(given, place.extent);
        CHECK(index.has_value(), "a plan runs with indices that it serves");
        indices.base = *index;
      }
      if (place.dimension) indices.base += place.step * begin_[*place.dimension];
      return indices;
    }
    const auto number = *place.indices;
    const auto& source = tiles_[number]->grid();
    Partition partition;
    TileKey box_key;
    for (const auto d : place.dimensions) {
      partition.push_back(grid_.partition()[d]);
      box_key.push_back(key[d]);
    }
    const TileGrid target(source.shape(), partition);
    std::int64_t tiles_in = 0;
    const auto box = gather_tile(
        source, DType::Int64, [&](std::int64_t id) { return tiles_[number]->get_values(id); }, target,
        target.id_of(box_key), tiles_in);
    const auto box_shape = target.tile_shape(box_key);
    Indices indices{.strides = std::vector<std::int64_t>(grid_.rank(), 0)};
    indices.elements.resize(static_cast<std::size_t>(box_shape.element_count()), 0);
    if (box) std::copy_n(box->data<std::int64_t>(), indices.elements.size(), indices.elements.begin());
    std::int64_t stride = 1;
    for (std::size_t n = place.dimensions.size(); n-- > 0;) {
      indices.strides[place.dimensions[n]] = box_shape[n] > 1 ? stride : 0;
      stride *= box_shape[n];
    }
    return indices;
  }

  // Values that differ in the last dimension alone are neighbours in the tensor where that is its last dimension.
  bool are_rows_neighbours(std::size_t rank) const {
    if (rank == 0 || indices_.empty()) return false;
    const auto& last = indices_.back();
    return last.elements.empty() && last.dimension == rank - 1 && last.step == 1 &&
           std::none_of(indices_.begin(), std::prev(indices_.end()),
                        [&](const Indices& other) { return other.depends_on(rank - 1); });
  }

  // Of the box that the indices are of.
  void find_runs() {
    runs_.clear();
    const auto rank = shape_.rank();
    const bool in_rows = are_rows_neighbours(rank);
    const auto row = in_rows ? shape_[rank - 1] : 1;
    std::vector<std::int64_t> value(rank, 0);
    const auto count = shape_.element_count();
    for (std::int64_t number = 0; number < count; number += row) {
      add_runs(value, number, row);
      // The next value, or the next row, in the box's order.
      for (std::size_t d = in_rows ? rank - 1 : rank; d-- > 0;) {
        if (++value[d] < shape_[d]) break;
        value[d] = 0;
      }
    }
  }

  void set_cell(const std::vector<std::int64_t>& value) {
    cell_.clear();
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      const auto index = indices_[d].at(value);
      if (index < 0 || index >= region_.places[d].extent) refuse(value, d);
      cell_.push_back(index);
    }
  }

  void add_runs(const std::vector<std::int64_t>& value, std::int64_t number, std::int64_t row) {
    set_cell(value);
    for (std::int64_t done = 0; done < row;) {
      const auto place = locator_.locate(cell_);
      const auto count = std::min(row - done, row == 1 ? 1 : neighbours_from(cell_.back()));
      runs_.push_back({place.tile_id, place.first, place.offset, number + done, count});
      done += count;
      if (done < row) cell_.back() += count;
    }
  }

  // Cells from an index of the last dimension on in the same tile.
  std::int64_t neighbours_from(std::int64_t index) const {
    const auto last = tensor_.grid.rank() - 1;
    return tensor_.grid.range(last, tensor_.grid.part_at(last, index)).end() - index;
  }

  // Zeros leave a tile as it is that is not there.
  template <class T>
  void apply_all(const T* values) {
    std::int64_t tile = -1;
    bool is_there = false;
    for (const auto& run : runs_) {
      if (may_meet_) mark(run);
      if (std::exchange(tile, run.tile_id) != run.tile_id)
        is_there = std::binary_search(stored_.begin(), stored_.end(), tile);
      if (is_there || !is_zero(run, values)) apply(run, values);
    }
  }

  template <class T>
  static bool is_zero(const Run& run, const T* values) {
    if (values == nullptr) return true;
    const auto bytes = std::as_bytes(std::span(values + run.value, static_cast<std::size_t>(run.count)));
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
  }

  template <class T>
  void apply(const Run& run, const T* values) {
    const OpenTiles::Elements elements{run.offset, run.count};
    const auto* from = values == nullptr ? nullptr : values + run.value;
    if (from == nullptr || !region_.adds)
      return open_.set(run.tile_id, elements, reinterpret_cast<const std::byte*>(from));
    open_.change<T>(run.tile_id, elements, [&](T& cell, std::int64_t n) { cell = sum(cell, from[n]); });
  }

  // INT64 wraps around.
  template <class T>
  static T sum(T a, T b) {
    if constexpr (std::is_same_v<T, std::int64_t>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else return a + b;
  }

  // Refuses a second value for a cell.
  void mark(const Run& run) {
    auto& cells = written_[run.tile_id];
    if (cells.empty()) {
      const auto size = tensor_.grid.tile_shape(tensor_.grid.key_of(run.tile_id)).element_count();
      cells.resize(static_cast<std::size_t>(size), 0);
    }
    for (auto n = run.offset; n < run.offset + run.count; ++n) {
      if (std::exchange(cells[static_cast<std::size_t>(n)], char{1}) == 0) continue;
      throw Error(
          ErrorKind::Value,
          "the cell " + key_text(locator_.key_at(run.first + n), 0) + " of " + tensor_.name + " gets two values",
          std::nullopt, "+= adds them up");
    }
  }

  [[noreturn]] void refuse(const std::vector<std::int64_t>& value, std::size_t d) const {
    const auto& labels = planned_.query.results[region_.result].label_names;
    std::string at;
    for (const auto dimension : region_.places[d].dimensions) {
      at += (at.empty() ? ", at " : ", ") + labels[dimension] + " = " +
            std::to_string(begin_[dimension] + value[dimension]);
    }
    throw Error(ErrorKind::Value,
                "an index of dimension " + std::to_string(d + 1) + " of " + tensor_.name +
                    " lies outside its extent of " + std::to_string(region_.places[d].extent) + at,
                std::nullopt, "indices go from 0 to " + std::to_string(region_.places[d].extent - 1));
  }

  const PlannedQuery& planned_;
  const std::vector<std::shared_ptr<ResultTiles>>& tiles_;
  SessionState& session_;
  const BoundRegion& region_;
  const decltype(StoredResult::tensor)& tensor_;
  const TileGrid& grid_;  // of the values
  CellLocator locator_;
  OpenTiles open_;
  bool has_indices_;  // of elements
  bool may_meet_;     // two values might be for one cell
  // The values that are written: where their box begins, its shape, and the indices that they go to.
  std::vector<std::int64_t> begin_;
  Shape shape_;
  std::vector<Indices> indices_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> stored_;  // tiles of the tensor that were there, ascending
  std::vector<std::int64_t> cell_;
  std::unordered_map<std::int64_t, std::vector<char>> written_;  // cells by tile of the tensor, where values may meet
};

}  // namespace

void RegionWriter::write(const BoundRegion& region, const StoredResult& result) const {
  RegionWrite(planned_, tiles_, session_, region, result).run();
}

}  // namespace eindb
