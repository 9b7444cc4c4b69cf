#pragma once

#include <cstdint>
#include <string>

#include "shell/result_printer.hpp"

namespace eindb {

/// One object per row, in one array or on one line each (jsonlines). Complex numbers are [real, imaginary]; NaN and
/// infinities, which JSON lacks, are the texts "NaN", "Infinity" and "-Infinity"; invalid UTF-8 is replaced.
class JsonPrinter : public ResultPrinter {
 public:
  enum class Layout : std::uint8_t { Array, Lines };

  explicit JsonPrinter(Layout layout) : layout_(layout) {}
  void print(Result& result, Output& output) override;

 private:
  Layout layout_;
};

}  // namespace eindb
