#pragma once

#include <vector>

#include "common/cancellation.hpp"
#include "storage/files/input_file.hpp"
#include "storage/formats/hdf5_entry.hpp"
#include "storage/formats/packing.hpp"

namespace eindb {

/// The data sets of an untrusted HDF5 file in the order of their names: libhdf5 runs in a separate process, as for
/// Hdf5Reader, whose errors it has. Names that are no UTF-8 have \xNN for such bytes, and no type. Error{Unsupported}
/// for more than 10,000. `cancellation` may be null.
std::vector<Hdf5Entry> list_hdf5(const FilePath& path, PackedValues values, const Cancellation* cancellation);

}  // namespace eindb
