#pragma once

#include <functional>
#include <string>

#include "storage/formats/hdf5_library.hpp"
#include "storage/formats/packing.hpp"

namespace eindb {

/// Throws the error for a data set of which something cannot be read; `what` follows its name.
using RefuseDataset = std::function<void(const std::string& what)>;

/// The packing that netCDF's attributes of a data set describe: _FillValue, missing_value, scale_factor and add_offset.
/// Its stored values are read as `stored`; `element_size` is their size in the file. Calls `refuse` for attributes that
/// are not what the conventions say, or that have no meaning for values of this type, and for _Unsigned, another
/// convention, for signed integers. hdf5_mutex() is held.
Packing read_hdf5_packing(hid_t dataset, DType stored, bool is_unsigned, std::int64_t element_size,
                          const RefuseDataset& refuse);

}  // namespace eindb
