#pragma once

// A function that a front end adds to SQL (Session::add_function). Front ends see the engine but not the storage.
#include "storage/sqlite/sql_function.hpp"  // IWYU pragma: export
