#pragma once

#include <functional>
#include <string>
#include <vector>

#include "storage/formats/hdf5_library.hpp"
#include "tensor/shape.hpp"

namespace eindb {

// netCDF-4 files are HDF5 files in which dimensions have names: each is a data set of one dimension, a "dimension
// scale", to which the attribute DIMENSION_LIST of a variable refers. It is a variable of its own, with the
// coordinates, or holds nothing and has a NAME that says so. hdf5_mutex() is held for all functions.

/// The names of a data set's dimensions, empty where one has none; no names at all if none has one. Damaged attributes
/// are as none.
std::vector<std::string> hdf5_dimension_names(hid_t dataset, std::size_t rank);

/// Whether the data set is a dimension scale: coordinates, or a name alone.
bool is_hdf5_scale(hid_t dataset);
/// Whether it is a dimension of netCDF that has no values.
bool is_hdf5_dimension_alone(hid_t dataset);

/// Gives the dimensions of the data set `name` of `file` these names, as netCDF has them: scales of the data set's
/// group, which are made where there are none. One that is called as the data set itself, of rank 1, is the data set.
/// `fail` throws for the library's failures; Error{DuplicateName} for a name of something else, and for a dimension of
/// another extent.
void name_hdf5_dimensions(hid_t file, hid_t dataset, const std::string& name, const Shape& shape,
                          const std::vector<std::string>& labels, const std::function<void()>& fail);

}  // namespace eindb
