#include "engine/settings/machine_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "executor/kernels/kernel.hpp"
#include "optimizer/partitions/cost_model.hpp"

namespace eindb {
namespace {

class MachineFileTest : public ::testing::Test {
 public:
  MachineFileTest() { std::filesystem::create_directories(folder_); }
  ~MachineFileTest() override { std::filesystem::remove_all(folder_); }
  MachineFileTest(const MachineFileTest&) = delete;
  MachineFileTest& operator=(const MachineFileTest&) = delete;

 protected:
  std::string write(const std::string& text) const {
    auto path = (folder_ / "machine.json").string();
    std::ofstream(path) << text;
    return path;
  }
  static void expect_refused(const std::string& path, const std::string& why) {
    try {
      read_machine_file(path);
      FAIL() << "read " << path;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(path), std::string::npos) << error.message();
      EXPECT_NE(error.message().find(why), std::string::npos) << error.message();
      EXPECT_NE(error.hint().find("eindb calibrate"), std::string::npos) << error.hint();
    }
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("eindb_machine_file_test" + std::to_string(::getpid()));
};

TEST_F(MachineFileTest, WhatIsWrittenIsRead) {
  auto figures = built_in_figures();
  figures.threads = 7;
  figures.of(DType::Complex64).fold = 123.5;
  const auto path = (folder_ / "a" / "machine.json").string();
  make_directory_for(path);
  write_machine_file(path, figures);
  figures.source = path;
  const auto again = read_machine_file(path);
  EXPECT_EQ(machine_rows(again), machine_rows(figures));
  EXPECT_EQ(again.of(DType::Complex64).fold, 123.5);
}

TEST_F(MachineFileTest, CostsOfATransportAreThereIfItWasMeasured) {
  auto figures = built_in_figures();
  const auto path = (folder_ / "machine.json").string();
  write_machine_file(path, figures);
  EXPECT_EQ(read_machine_file(path).tcp, std::nullopt);
  figures.tcp = TransportCosts{1e-4, 2e-5, 3e-9, 4e-10, 5e-6, 6e-5};
  write_machine_file(path, figures);
  const auto again = read_machine_file(path);
  EXPECT_EQ(again.tcp, figures.tcp);
  EXPECT_EQ(again.mpi, std::nullopt);
  // A transport with one of its costs missing.
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  const auto name = text.find("tcp per_piece");
  ASSERT_NE(name, std::string::npos);
  expect_refused(write(text.replace(name, 3, "udp")), "tcp per_piece");
}

TEST_F(MachineFileTest, HostileFilesAreRefused) {
  const auto good = (folder_ / "good.json").string();
  write_machine_file(good, built_in_figures());
  std::ifstream stream(good);
  const auto json = nlohmann::json::parse(stream);
  const auto broken = [&](auto change) {
    auto copy = json;
    change(copy);
    return write(copy.dump());
  };
  expect_refused((folder_ / "none.json").string(), "cannot read");
  expect_refused(folder_.string(), "directory");
  expect_refused(write(""), "no JSON object");
  expect_refused(write("[1, 2"), "no JSON object");
  expect_refused(write(std::string(60000, '[')), "no JSON object");
  expect_refused(write(std::string(100000, ' ')), "100000 bytes");
  expect_refused(write("{}"), "format");
  expect_refused(broken([](auto& j) { j["version"] = 1; }), "version");
  expect_refused(broken([](auto& j) { j["version"] = "1"; }), "version");
  expect_refused(broken([](auto& j) { j["threads"] = 0; }), "'threads' is 0");
  expect_refused(broken([](auto& j) { j["threads"] = 1e300; }), "'threads' is");
  expect_refused(broken([](auto& j) { j.erase("figures"); }), "'figures'");
  expect_refused(broken([](auto& j) { j["figures"]["call_seconds"] = -1; }), "'call_seconds' is -1");
  expect_refused(broken([](auto& j) { j["figures"]["call_seconds"] = "fast"; }), "no number 'call_seconds'");
  expect_refused(broken([](auto& j) { j["figures"].erase("FLOAT32 EXP"); }), "no number 'FLOAT32 EXP'");
}

// The optimizer costs a call by the kernel that it will take, whatever its sizes.
TEST(KernelWork, AgreesWithTheKernels) {
  const std::vector<std::vector<std::int64_t>> sizes{{8, 8, 8},    {3, 8, 8},   {8, 3, 8},   {8, 8, 3},
                                                     {1, 32, 32},  {32, 32, 1}, {1, 15, 32}, {32, 20000, 1},
                                                     {1, 1000, 1}, {16, 16, 1}};
  for (const auto type : {DType::Float32, DType::Float64, DType::Complex128, DType::Int64}) {
    for (const auto aggregate : {Aggregate::Sum, Aggregate::Prod, Aggregate::Min}) {
      for (const auto op : {ScalarOp::Multiply, ScalarOp::Add}) {
        if (is_complex(type) && aggregate == Aggregate::Min) continue;
        for (const auto& size : sizes) {
          LabelTable labels;
          const auto i = labels.add("i", size[0]);
          const auto j = labels.add("j", size[1]);
          const auto k = labels.add("k", size[2]);
          EinSum e;
          e.inputs = {{i, j}, {j, k}};
          e.output = {i, k};
          e.aggregated = {j};
          e.aggregate = aggregate;
          e.expression = ScalarExpression::call(op, {ScalarExpression::operand(0), ScalarExpression::operand(1)});
          const auto work = work_of(e, {type, type}, type, type);
          const auto kind = kernel_for(work.kernel, {1, static_cast<double>(size[0]), static_cast<double>(size[2]),
                                                     static_cast<double>(size[1])});
          const auto kernel = Kernel(e, labels, {type, type}, type, type).describe();
          EXPECT_EQ(kind == KernelKind::Matrices, kernel.starts_with("gemm")) << kernel;
          EXPECT_EQ(kind == KernelKind::Pairs, kernel.starts_with("pairs")) << kernel;
          EXPECT_EQ(work.matrix.has_value(), work.kernel.best != KernelKind::Loops);
        }
      }
    }
  }
}

}  // namespace
}  // namespace eindb
