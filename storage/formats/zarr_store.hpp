#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/files/input_directory.hpp"
#include "storage/formats/zarr_metadata.hpp"

namespace eindb {

/// The metadata of the directory `name` of a Zarr store, or of the store itself with an empty one; nullopt if it has no
/// metadata. The errors of parse_zarr_v2 and parse_zarr_v3; Error{Unsupported} for metadata above 8 MiB.
std::optional<ZarrNode> zarr_node(const InputDirectory& store, const std::string& name);

/// A path below a directory of the store: "group" and "x" give "group/x", an empty one "x".
std::string zarr_path(const std::string& directory, const std::string& name);

/// Whether the group's metadata repeat those of what is below it, so that who reads these does not see what is added.
bool is_consolidated(const InputDirectory& store, const std::string& name, const ZarrNode& node);

/// An array in a store.
struct ZarrEntry {
  std::string name;                ///< its path below the store; empty: the store is the array
  std::optional<ZarrArray> array;  ///< nullopt: its elements or codecs cannot be read
  std::string why;                 ///< then, the reason
};

/// The arrays of a store, in the order of their names. Groups are searched 16 deep. Error{Io} if there is no such
/// directory, Error{Corrupt} if it is no store of Zarr; Error{Unsupported} for more than 10,000 arrays or groups.
std::vector<ZarrEntry> zarr_arrays(const InputDirectory& store);

}  // namespace eindb
