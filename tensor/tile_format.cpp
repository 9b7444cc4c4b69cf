#include "tensor/tile_format.hpp"

#include <array>

namespace eindb {
namespace {

constexpr std::array<FormatChoice, 3> kFormatChoices{FormatChoice::Auto, FormatChoice::Dense, FormatChoice::Sparse};

}  // namespace

std::string_view name_of(TileFormat format) {
  switch (format) {
    case TileFormat::Dense: return "dense";
    case TileFormat::Constant: return "constant";
    case TileFormat::Coordinates: return "coordinates";
    case TileFormat::Bitmap: return "bitmap";
  }
  return {};
}

std::string_view name_of(FormatChoice choice) {
  switch (choice) {
    case FormatChoice::Auto: return "auto";
    case FormatChoice::Dense: return "dense";
    case FormatChoice::Sparse: return "sparse";
  }
  return {};
}

std::optional<FormatChoice> format_choice_of(std::string_view name) {
  for (const auto choice : kFormatChoices)
    if (name == name_of(choice)) return choice;
  return std::nullopt;
}

}  // namespace eindb
