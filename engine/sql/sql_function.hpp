#pragma once

// For front ends, which see the engine but not the storage: a function that they add to SQL (Session::add_function).
#include "storage/sqlite/sql_function.hpp"  // IWYU pragma: export
