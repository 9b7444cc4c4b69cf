// CMake compiles a precompiled header with a source file: this one. GoogleTest has main().
