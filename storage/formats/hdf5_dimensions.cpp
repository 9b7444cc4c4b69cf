#include "storage/formats/hdf5_dimensions.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/error.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr std::size_t kLongestDimensionName = 1024;
/// netCDF's NAME of a scale that is no variable; the extent follows in ten characters.
constexpr const char* kNoVariable = "This is a netCDF dimension but not a netCDF variable.";

/// The text of an attribute of fixed length; empty for others.
std::string text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Hdf5Handle type(attribute ? H5Aget_type(attribute.get()) : H5I_INVALID_HID, H5Tclose);
  const Hdf5Handle space(attribute ? H5Aget_space(attribute.get()) : H5I_INVALID_HID, H5Sclose);
  if (!type || !space || H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) return {};
  const auto size = H5Tget_size(type.get());
  if (size == 0 || size > kLongestDimensionName || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  std::string text(size + 1, '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

/// The last part of an object's path.
std::string name_of_object(hid_t object) {
  std::array<char, kLongestDimensionName + 1> buffer{};
  const auto size = H5Iget_name(object, buffer.data(), buffer.size());
  if (size <= 0 || static_cast<std::size_t>(size) > kLongestDimensionName) return {};
  const std::string path(buffer.data());
  return path.substr(path.rfind('/') + 1);
}

/// The lists of references of DIMENSION_LIST, one for each dimension; the library's memory.
class DimensionLists {
 public:
  DimensionLists(hid_t dataset, std::size_t rank) : lists_(rank) {
    if (H5Aexists(dataset, "DIMENSION_LIST") <= 0) return;
    attribute_ = Hdf5Handle(H5Aopen(dataset, "DIMENSION_LIST", H5P_DEFAULT), H5Aclose);
    const Hdf5Handle type(attribute_ ? H5Aget_type(attribute_.get()) : H5I_INVALID_HID, H5Tclose);
    space_ = Hdf5Handle(attribute_ ? H5Aget_space(attribute_.get()) : H5I_INVALID_HID, H5Sclose);
    if (!type || !space_ || H5Tget_class(type.get()) != H5T_VLEN) return;
    const Hdf5Handle element(H5Tget_super(type.get()), H5Tclose);
    const auto count = H5Sget_simple_extent_npoints(space_.get());
    if (!element || H5Tequal(element.get(), H5T_STD_REF_OBJ) <= 0 || count < 0 ||
        static_cast<std::size_t>(count) != rank)
      return;
    type_ = Hdf5Handle(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
    is_read_ = H5Aread(attribute_.get(), type_.get(), lists_.data()) >= 0;
  }
  ~DimensionLists() {
    if (is_read_) H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, lists_.data());
  }
  DimensionLists(const DimensionLists&) = delete;
  DimensionLists& operator=(const DimensionLists&) = delete;

  /// The name of the object that the first reference of the dimension refers to.
  std::string name(hid_t dataset, std::size_t dimension) const {
    if (!is_read_ || lists_[dimension].len < 1 || lists_[dimension].p == nullptr) return {};
    const Hdf5Handle scale(H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, lists_[dimension].p), H5Oclose);
    return scale ? name_of_object(scale.get()) : std::string();
  }

 private:
  std::vector<hvl_t> lists_;
  Hdf5Handle attribute_;
  Hdf5Handle space_;
  Hdf5Handle type_;
  bool is_read_ = false;
};

/// A scale without values, as netCDF makes it. The library asks for a type all the same.
Hdf5Handle make_scale(hid_t group, const std::string& name, std::int64_t extent, const std::function<void()>& fail) {
  const auto size = static_cast<hsize_t>(extent);
  const Hdf5Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (H5Pset_obj_track_times(creation.get(), false) < 0 || H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_LATE) < 0)
    fail();
  Hdf5Handle scale(
      H5Dcreate2(group, name.c_str(), H5T_IEEE_F32BE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose);
  if (!scale) fail();
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%s%10lld", kNoVariable, static_cast<long long>(extent));
  if (H5DSset_scale(scale.get(), text.data()) < 0) fail();
  return scale;
}

/// The scale of that name, made if there is none.
Hdf5Handle scale_named(hid_t group, const std::string& name, std::int64_t extent, const std::function<void()>& fail) {
  const auto exists = H5Lexists(group, name.c_str(), H5P_DEFAULT);
  if (exists < 0) fail();
  if (exists == 0) return make_scale(group, name, extent, fail);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::DuplicateName, "the dimension " + quoted_name(name) + " " + what, std::nullopt,
                "give the label another name, or write to another group: (DATASET '/group/x')");
  };
  H5L_info_t link{};
  if (H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT) < 0) fail();
  if (link.type != H5L_TYPE_HARD) refuse("has the name of a link in the file");
  H5O_info_t about{};
  if (H5Oget_info_by_name2(group, name.c_str(), &about, H5O_INFO_BASIC, H5P_DEFAULT) < 0) fail();
  if (about.type != H5O_TYPE_DATASET) refuse("has the name of something else in the file");
  Hdf5Handle scale(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5Handle space(scale ? H5Dget_space(scale.get()) : H5I_INVALID_HID, H5Sclose);
  if (!space) fail();
  hsize_t size = 0;
  if (H5Sget_simple_extent_ndims(space.get()) != 1 || !is_hdf5_scale(scale.get()))
    refuse("has the name of an array in the file");
  if (H5Sget_simple_extent_dims(space.get(), &size, nullptr) < 0) fail();
  if (size != static_cast<hsize_t>(extent))
    refuse("has " + std::to_string(size) + " indices in the file, and " + std::to_string(extent) + " in the tensor");
  return scale;
}

}  // namespace

bool is_hdf5_scale(hid_t dataset) { return text_attribute(dataset, "CLASS") == "DIMENSION_SCALE"; }

bool is_hdf5_dimension_alone(hid_t dataset) {
  return is_hdf5_scale(dataset) && text_attribute(dataset, "NAME").starts_with(kNoVariable);
}

std::vector<std::string> hdf5_dimension_names(hid_t dataset, std::size_t rank) {
  std::vector<std::string> names(rank);
  const DimensionLists lists(dataset, rank);
  for (std::size_t d = 0; d < rank; ++d) names[d] = lists.name(dataset, d);
  if (rank == 1 && names[0].empty() && is_hdf5_scale(dataset)) names[0] = name_of_object(dataset);
  const bool has_some = std::any_of(names.begin(), names.end(), [](const std::string& name) { return !name.empty(); });
  return has_some ? names : std::vector<std::string>();
}

void name_hdf5_dimensions(hid_t file, hid_t dataset, const std::string& name, const Shape& shape,
                          const std::vector<std::string>& labels, const std::function<void()>& fail) {
  const auto slash = name.rfind('/');
  const auto own = slash == std::string::npos ? name : name.substr(slash + 1);
  const auto path = slash == std::string::npos ? std::string() : name.substr(0, slash);
  const Hdf5Handle group(H5Gopen2(file, path.empty() ? "/" : path.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group) fail();
  for (std::size_t d = 0; d < labels.size(); ++d) {
    if (labels[d] == own && shape.rank() == 1) {
      if (H5DSset_scale(dataset, own.c_str()) < 0) fail();
      return;
    }
    const auto scale = scale_named(group.get(), labels[d], shape[d], fail);
    if (H5DSattach_scale(dataset, scale.get(), static_cast<unsigned>(d)) < 0) fail();
  }
}

}  // namespace eindb
