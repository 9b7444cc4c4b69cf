#include "storage/formats/existing_arrays.hpp"

#include <algorithm>

#include "common/error.hpp"
#include "storage/formats/array_name.hpp"

namespace eindb {
namespace {

constexpr const char* kHint = "write to another file, or add OVERWRITE to replace the whole file";

}  // namespace

void keep_other_arrays(OutputFile& output, const FilePath& path, const std::string& name, Overwrite overwrite,
                       const std::function<std::vector<std::string>(const InputFile&)>& names_in) {
  if (overwrite == Overwrite::Yes) return;
  output.require_unchanged_target();
  if (!output.replaces_bytes()) return;
  std::vector<std::string> names;
  try {
    names = names_in(InputFile(path));
  } catch (const Error& error) {
    throw Error(error.kind(), error.message(), std::nullopt, kHint);
  }
  std::erase(names, name);
  if (names.empty()) return;
  throw Error(ErrorKind::DuplicateName, path.text() + " holds other arrays, which would be lost: " + name_list(names),
              std::nullopt, kHint);
}

}  // namespace eindb
