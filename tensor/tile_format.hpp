#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace eindb {

/// Which cells of a tile are stored. The numbers are part of the tile format: never reuse one.
enum class TileFormat : std::uint8_t {
  Dense = 0,        ///< all, in row-major order
  Constant = 1,     ///< all; they have one value, which is stored once
  Coordinates = 2,  ///< those that are not zero, and their numbers
  Bitmap = 3,       ///< those that are not zero, and a bit for each cell
};
inline constexpr TileFormat kLastTileFormat = TileFormat::Bitmap;

/// Among which formats a tile's is chosen: the one that takes the fewest bytes.
enum class FormatChoice : std::uint8_t {
  Auto,    ///< all; another than Dense only where it takes at most a quarter of Dense's bytes
  Dense,   ///< Dense alone
  Sparse,  ///< all but Dense, where the type allows it: for tests
};
inline constexpr FormatChoice kLastFormatChoice = FormatChoice::Sparse;

/// "dense", "constant", "coordinates", "bitmap".
std::string_view name_of(TileFormat format);
/// "auto", "dense", "sparse".
std::string_view name_of(FormatChoice choice);
/// By its name; nullopt if there is none.
std::optional<FormatChoice> format_choice_of(std::string_view name);

}  // namespace eindb
