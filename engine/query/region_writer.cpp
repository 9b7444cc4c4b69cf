#include "engine/query/region_writer.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "common/check.hpp"
#include "common/error.hpp"
#include "storage/cells/cell.hpp"
#include "storage/cells/cell_locator.hpp"
#include "storage/tiles/open_tiles.hpp"
#include "tensor/tile_gather.hpp"

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
  RegionWrite(const PlannedQuery& planned, const std::vector<std::shared_ptr<BufferedTiles>>& tiles,
              SessionState& session, const BoundRegion& region, const StoredResult& result)
      : planned_(planned),
        tiles_(tiles),
        session_(session),
        region_(region),
        tensor_(result.tensor),
        grid_(planned.result_grid(region.result)),
        locator_(result.tensor.grid),
        open_(session.database.connection(), result.tensor.store(),
              session.user.settings.memory_limit() / kShareOfMemory, OpenTiles::Content::Stored),
        may_meet_(!region.adds && std::any_of(region.places.begin(), region.places.end(),
                                              [](const RegionPlace& place) { return place.indices.has_value(); })) {
    CHECK(region.places.size() == result.tensor.grid.rank(), "a region has indices for each dimension of its tensor");
  }

  void run() {
    for (std::int64_t tile = 0; tile < grid_.tile_count(); ++tile) {
      session_.statement.cancellation().check();
      const auto values = tiles_[region_.result]->take(tile);
      if (values == nullptr && region_.adds) continue;
      if (grid_.tile_shape(grid_.key_of(tile)).element_count() > 0) write(tile, values);
    }
    open_.flush();
  }

 private:
  static constexpr std::int64_t kShareOfMemory = 4;

  void write(std::int64_t tile, const TilePtr& values) {
    const auto key = grid_.key_of(tile);
    const auto shape = grid_.tile_shape(key);
    indices_.clear();
    for (const auto& place : region_.places) indices_.push_back(indices_of(place, key));
    find_runs(key, shape);
    std::stable_sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) { return a.tile_id < b.tile_id; });
    for (const auto& run : runs_) {
      if (may_meet_) mark(run);
      dispatch(tensor_.dtype, [&](auto type) { apply<typename decltype(type)::type>(run, values.get()); });
    }
  }

  Indices indices_of(const RegionPlace& place, const TileKey& key) {
    if (!place.indices) {
      Indices indices{.base = place.offset, .step = place.step, .dimension = place.dimension};
      if (place.parameter) indices.base = std::get<std::int64_t>(session_.statement.parameters().at(*place.parameter));
      if (place.dimension) indices.base += place.step * grid_.range(*place.dimension, key[*place.dimension]).begin;
      return indices;
    }
    const auto number = *place.indices;
    const auto& source = planned_.result_grid(number);
    Partition partition;
    TileKey box_key;
    for (const auto d : place.dimensions) {
      partition.push_back(grid_.partition()[d]);
      box_key.push_back(key[d]);
    }
    const TileGrid target(source.shape(), partition);
    std::int64_t tiles_in = 0;
    const auto box = gather_tile(
        source, DType::Int64, [&](std::int64_t id) { return tiles_[number]->get(id); }, target, target.id_of(box_key),
        tiles_in);
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

  void find_runs(const TileKey& key, const Shape& shape) {
    runs_.clear();
    const auto rank = shape.rank();
    const bool in_rows = are_rows_neighbours(rank);
    const auto row = in_rows ? shape[rank - 1] : 1;
    std::vector<std::int64_t> value(rank, 0);
    const auto count = shape.element_count();
    for (std::int64_t number = 0; number < count; number += row) {
      add_runs(key, value, number, row);
      // The next value, or the next row, in the tile's order.
      for (std::size_t d = in_rows ? rank - 1 : rank; d-- > 0;) {
        if (++value[d] < shape[d]) break;
        value[d] = 0;
      }
    }
  }

  void add_runs(const TileKey& key, const std::vector<std::int64_t>& value, std::int64_t number, std::int64_t row) {
    cell_.clear();
    for (std::size_t d = 0; d < indices_.size(); ++d) {
      const auto index = indices_[d].at(value);
      if (index < 0 || index >= region_.places[d].extent) refuse(key, value, d);
      cell_.push_back(index);
    }
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

  template <class T>
  void apply(const Run& run, const Tile* values) {
    auto* cells = open_.open(run.tile_id, {run.offset, run.count}).template mutable_data<T>() + run.offset;
    const auto count = static_cast<std::size_t>(run.count);
    if (values == nullptr) {
      std::fill_n(cells, count, T{});
      return;
    }
    const auto* from = values->template data<T>() + run.value;
    if (!region_.adds) {
      std::copy_n(from, count, cells);
      return;
    }
    for (std::size_t n = 0; n < count; ++n) cells[n] = sum(cells[n], from[n]);
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

  [[noreturn]] void refuse(const TileKey& key, const std::vector<std::int64_t>& value, std::size_t d) const {
    const auto& labels = planned_.query.results[region_.result].label_names;
    std::string at;
    for (const auto dimension : region_.places[d].dimensions) {
      at += (at.empty() ? ", at " : ", ") + labels[dimension] + " = " +
            std::to_string(grid_.range(dimension, key[dimension]).begin + value[dimension]);
    }
    throw Error(ErrorKind::Value,
                "an index of dimension " + std::to_string(d + 1) + " of " + tensor_.name +
                    " lies outside its extent of " + std::to_string(region_.places[d].extent) + at,
                std::nullopt, "indices go from 0 to " + std::to_string(region_.places[d].extent - 1));
  }

  const PlannedQuery& planned_;
  const std::vector<std::shared_ptr<BufferedTiles>>& tiles_;
  SessionState& session_;
  const BoundRegion& region_;
  const decltype(StoredResult::tensor)& tensor_;
  const TileGrid& grid_;  // of the values
  CellLocator locator_;
  OpenTiles open_;
  bool may_meet_;  // two values might be for one cell
  std::vector<Indices> indices_;
  std::vector<Run> runs_;
  std::vector<std::int64_t> cell_;
  std::unordered_map<std::int64_t, std::vector<char>> written_;  // cells by tile of the tensor, where values may meet
};

}  // namespace

void RegionWriter::write(const BoundRegion& region, const StoredResult& result) const {
  RegionWrite(planned_, tiles_, session_, region, result).run();
}

}  // namespace eindb
