#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "storage/shards/shard_numbers.hpp"

namespace eindb {

/// The contents of the tiles of one tensor, as runs in which tile and content count up together: a tensor that one
/// statement has made takes one run, since its tiles got their contents in order, and each later change of some tiles
/// splits it.
///
/// A run goes on over tiles that are not there if the tile behind them has the content that it then would have. So
/// `of` may also give a number for a tile without content: TileHolders tell which tiles are there.
///
/// Example: tiles 0, 1, 3 and 4 with the contents 50, 51, 53 and 90: runs [0, 3] from 50 and [4, 4] from 90.
///
/// Invariant: runs ascend by tile, no tile is in two, and contents are positive. A value type.
class ContentRuns {
 public:
  struct Run {
    std::int64_t first = 0;  ///< tile
    std::int64_t last = 0;   ///< tile; not less than first
    ContentId content{};     ///< of the tile `first`

    friend bool operator==(const Run&, const Run&) = default;
  };

  /// Appends tiles behind those that are there. Error{Corrupt} if they are not, or if numbers are not positive or leave
  /// 63 bits.
  void add(const Run& run);
  void add(std::int64_t tile, ContentId content) { add({tile, tile, content}); }

  /// Nullopt if the tile is in no run. Takes time logarithmic in the number of runs.
  std::optional<ContentId> of(std::int64_t tile) const;
  const std::vector<Run>& runs() const { return runs_; }
  bool empty() const { return runs_.empty(); }
  /// The runs of the tiles from `first` to before `end`, cut to these, appended to `to`. Calls with ascending ranges
  /// give the contents of all of them.
  void copy(std::int64_t first, std::int64_t end, ContentRuns& to) const;

  friend bool operator==(const ContentRuns&, const ContentRuns&) = default;

 private:
  std::vector<Run>::const_iterator find(std::int64_t tile) const;

  std::vector<Run> runs_;
};

}  // namespace eindb
