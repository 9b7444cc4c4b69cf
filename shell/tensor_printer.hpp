#pragma once

#include <utility>

#include "shell/result_printer.hpp"

namespace eindb {

/// The result of an EINSUM query as an array in NumPy's format; a head line has its labels, extents and type. Long
/// dimensions of an array with more than 1000 elements show only their ends. Results of plain SQL are printed as a box.
/// Reads only the elements that it shows.
class TensorPrinter : public ResultPrinter {
 public:
  explicit TensorPrinter(PrintOptions options) : options_(std::move(options)) {}
  void print(Result& result, Output& output) override;

 private:
  PrintOptions options_;
};

}  // namespace eindb
