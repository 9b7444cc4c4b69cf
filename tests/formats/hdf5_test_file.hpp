#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "storage/formats/hdf5_library.hpp"

namespace eindb {

/// A file that a test fills through the library.
class TestFile {
 public:
  explicit TestFile(const std::string& path) {
    prepare_hdf5();
    file_ = Hdf5Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
  }
  hid_t id() const { return file_.get(); }

  /// A data set of `type`, filled from `values` of `memory_type` unless there are none.
  void add(const std::string& name, hid_t type, const std::vector<hsize_t>& extents, hid_t memory_type,
           const void* values, hid_t creation = H5P_DEFAULT) const {
    const Hdf5Handle space(extents.empty()
                               ? H5Screate(H5S_SCALAR)
                               : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
                           H5Sclose);
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    const Hdf5Handle set(H5Dcreate2(id(), name.c_str(), type, space.get(), links.get(), creation, H5P_DEFAULT),
                         H5Dclose);
    ASSERT_TRUE(set) << name;
    if (values == nullptr) return;
    ASSERT_GE(H5Dwrite(set.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  }
  void add_doubles(const std::string& name, const std::vector<double>& values, hid_t creation = H5P_DEFAULT) const {
    add(name, H5T_IEEE_F64LE, {values.size()}, H5T_NATIVE_DOUBLE, values.data(), creation);
  }

 private:
  Hdf5Handle file_;
};

}  // namespace eindb
