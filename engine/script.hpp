#pragma once

// For front ends, which see the engine but not the parser: how to cut what was typed, or a script, into the single
// statements that Session::execute takes (split_statements), whether there is more to come (is_complete), and whether
// what was typed should be kept (mentions_password).
#include "parser/password_mention.hpp"    // IWYU pragma: export
#include "parser/statement_splitter.hpp"  // IWYU pragma: export
