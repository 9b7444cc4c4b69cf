#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/kernels/index_group.hpp"
#include "executor/kernels/level_table.hpp"

namespace eindb {

/// The dimension along which an operand of a product is contiguous in memory: the innermost loop of its width (rows or
/// columns of the result), another loop of the width, a loop of the depth (contracted labels), or none.
enum class Contiguity : std::uint8_t { None, InnerWidth, OuterWidth, Depth };

/// A box of an operand: element (i, p) is data[width[i] + depth[p]]. For Contiguity::Depth, `order` has the numbers of
/// the depth's indices in memory order; for OuterWidth, those of the width's indices at which the innermost loop, of
/// `inner` indices, is at its begin.
struct OperandBox {
  const void* data;
  std::span<const std::int64_t> width;
  std::span<const std::int64_t> depth;
  std::span<const std::int64_t> order;
  std::int64_t inner = 1;
};

/// Packs boxes of an operand into panels for PanelTable::multiply, in one pass over memory in its own order. Panel q
/// has the elements of `panel_width` adjacent indices of the width, for each p in sequence. The last panel has the
/// remaining ones: with `tight` it is as narrow as they are, otherwise its other lanes are zero.
///
///  - InnerWidth: runs are copied.
///  - Depth: squares are transposed in registers, from runs that are contiguous in the depth.
///    Example: depth (d 20, e 20), of which d is contiguous and another label of 20 indices lies between: twenty runs,
///    one for each e; the c-th element of a run goes to index p = 20 c + e.
///  - OuterWidth: squares as well, into several panels at once.
///    Example: width (d, e) with d contiguous, in panels of 4, for one p. Of d = 0..3, e = 0..3 four runs along d are
///    read; transposed they are four runs along e, the beginnings of panels 0, E/4, 2E/4 and 3E/4.
///  - None: elements are gathered.
/// Does not own panels; it has the state of a call, so each thread needs its own.
class PanelPacker {
 public:
  PanelPacker(const PanelPacking& functions, std::size_t from_size, std::size_t to_size, Contiguity contiguity,
              std::int64_t panel_width, bool tight);

  /// The number of elements that pack() needs for panels.
  static std::int64_t room(std::int64_t width, std::int64_t depth, std::int64_t panel_width, Contiguity contiguity);
  void pack(const OperandBox& box, std::byte* panels);
  /// Packs a single panel of `width` indices from `begin`; not for OuterWidth.
  void pack_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel);

 private:
  struct Run {
    std::size_t begin;  // position in the box's order
    std::size_t length;
  };

  // Rows of the innermost loop of the width that are transposed at a time, over a run.
  struct Strip {
    std::int64_t from;   // bytes from the box's beginning
    std::int64_t begin;  // the first of the rows in the innermost loop
    std::int64_t rows;
    std::int64_t columns;  // elements of the run
    std::int64_t to;       // the position of the first of their offsets
    std::size_t cuts;      // the number of its columns that are cut
  };
  // A column of a strip that is cut by the end of a panel. Its elements behind the end are written into the next row of
  // the panel, if that is filled later, and copied from there to where they belong. Otherwise the column has a place
  // apart, and both parts are copied.
  struct Cut {
    std::size_t column;  // the position of its offset
    std::size_t begin;   // of the column in the panel, in bytes, as all below
    std::size_t rest;    // of its elements behind the end
    std::size_t apart;
    std::size_t fits;   // up to the panel's end
    std::size_t bytes;  // of the column
  };

  void clear_edge(std::int64_t width, std::int64_t depth, std::byte* panel) const;
  void copy_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel);
  void transpose_panel(const OperandBox& box, std::int64_t begin, std::int64_t width, std::byte* panel);
  void transpose_width(const OperandBox& box, std::byte* panels);
  void list_strips(const OperandBox& box);
  void move_apart();
  bool is_deep(const OperandBox& box) const;
  void transpose_strips(const OperandBox& box, std::int64_t p, std::span<const Strip> strips, std::span<const Cut> cuts,
                        bool are_apart, std::byte* panels) const;
  void narrow(std::byte* panel, std::int64_t depth, std::int64_t width) const;
  void find_runs(std::span<const std::int64_t> order, std::span<const std::int64_t> offsets);
  const void* at(const OperandBox& box, std::int64_t offset) const {
    return static_cast<const std::byte*>(box.data) + offset * from_size_;
  }

  const PanelPacking& functions_;
  std::int64_t from_size_;
  std::int64_t to_size_;
  Contiguity contiguity_;
  std::int64_t panel_width_;
  bool tight_;
  std::vector<std::int64_t> to_offsets_;
  std::vector<std::int64_t> from_offsets_;
  std::vector<Strip> strips_;
  std::vector<Cut> cuts_;
  std::vector<Run> runs_;
};

}  // namespace eindb
