#include "cluster/mpi_plugin.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/error.hpp"

namespace eindb {
namespace {

Error error_of_loading(const std::filesystem::path& folder) {
  try {
    load_mpi_world({}, folder);
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::Internal, "no error"};
}

void expect_explanation(const std::filesystem::path& folder, const std::string& why) {
  const auto error = error_of_loading(folder);
  EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
  EXPECT_NE(error.message().find(why), std::string::npos) << error.message();
  EXPECT_NE(error.hint().find("openmpi-bin"), std::string::npos) << error.hint();
}

class MpiPluginTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("eindb_plugin_" + std::to_string(getpid()));
};

TEST_F(MpiPluginTest, MissingPluginNamesThePackageToInstall) { expect_explanation(folder_, "there is no "); }

TEST_F(MpiPluginTest, FileThatIsNoLibraryIsRefused) {
  std::ofstream(folder_ / "libeindb_mpi.so") << "no library";
  expect_explanation(folder_, "libeindb_mpi.so");
}

// Calling a plugin whose classes have another layout would be undefined behaviour.
TEST_F(MpiPluginTest, PluginOfAnotherBuildIsRefused) { expect_explanation(EINDB_FOREIGN_PLUGIN, "another build"); }

}  // namespace
}  // namespace eindb
