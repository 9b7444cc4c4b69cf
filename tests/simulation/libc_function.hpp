#pragma once

#include <dlfcn.h>

namespace eindb::simulation {

/// The C library's function of this name, in a program that has its own in place of it.
template <class F>
F* libc_function(F*, const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace eindb::simulation
