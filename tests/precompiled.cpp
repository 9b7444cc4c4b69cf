// CMake compiles a precompiled header beside a source: this one. GoogleTest has main().
