#include "cluster/mpi_plugin.hpp"

#include <dlfcn.h>

#include <string_view>

#include "common/cancellation.hpp"
#include "common/check.hpp"
#include "common/error.hpp"
#include "executor/kernels/tile_operations.hpp"

namespace eindb {

namespace {

constexpr const char* kPlugin = "libeindb_mpi.so";

[[noreturn]] void throw_unusable(const std::string& why) {
  throw Error(ErrorKind::Unsupported, "MPI cannot be used: " + why, std::nullopt,
              "Install Open MPI (Debian: openmpi-bin) and eindb's plugin for it, libeindb_mpi.so, which is built where "
              "libopenmpi-dev is installed.");
}

std::filesystem::path find_plugin(const std::filesystem::path& folder) {
  if (!folder.empty()) return folder / kPlugin;
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto beside = program / kPlugin;
  return std::filesystem::exists(beside) ? beside : program.parent_path() / "lib" / "eindb" / kPlugin;
}

/// The library stays loaded until the process ends. RTLD_GLOBAL, since Open MPI's components use its symbols.
void* load(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) throw_unusable("there is no " + path.string());
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) throw_unusable(::dlerror());
  return library;
}

template <class Function>
Function* symbol(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
  if (found == nullptr) throw_unusable(std::string(kPlugin) + " has no function " + name);
  return found;
}

}  // namespace

std::unique_ptr<MpiWorld> load_mpi_world(const MpiTuning& tuning, const std::filesystem::path& folder) {
  void* const library = load(find_plugin(folder));
  const std::string_view contract = symbol<MpiContractFunction>(library, "eindb_mpi_contract")();
  if (contract != EINDB_MPI_CONTRACT) throw_unusable(std::string(kPlugin) + " belongs to another build of eindb");
  const MpiPluginHost host{tuning, &combine, &poll_cancellation};
  std::unique_ptr<MpiWorld> world(symbol<MpiWorldFunction>(library, "eindb_mpi_world")(&host));
  CHECK(world != nullptr && world->rank() < world->size(), "a process is a rank of its world");
  return world;
}

}  // namespace eindb
