#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storage/files/output_file.hpp"

namespace eindb {

/// Whether what a file holds already may be lost, where a file of its format can hold several arrays.
enum class Overwrite : std::uint8_t { No, Yes };

/// Called before a file is written anew with the one array `name`. Without `overwrite` it throws, if there is a file of
/// at least one byte: Error{DuplicateName} if `names_in` finds other arrays in it, and the errors of `names_in` with a
/// hint. What is there must then stay as it is until commit().
void keep_other_arrays(OutputFile& output, const FilePath& path, const std::string& name, Overwrite overwrite,
                       const std::function<std::vector<std::string>(const InputFile&)>& names_in);

}  // namespace eindb
