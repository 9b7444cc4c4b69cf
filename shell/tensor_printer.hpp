#pragma once

#include "shell/result_printer.hpp"

namespace eindb {

/// The result of an EINSUM query as an array, as NumPy prints one; a head line gives its labels, extents and type.
/// Of an array of more than 1000 elements, long dimensions show only their ends. Results that are no tensor, those
/// of plain SQL, are printed as a box. Reads the elements that it shows and no others.
class TensorPrinter : public ResultPrinter {
 public:
  explicit TensorPrinter(PrintOptions options) : options_(options) {}
  void print(Result& result, Output& output) override;

 private:
  PrintOptions options_;
};

}  // namespace eindb
