#pragma once

// Text functions for front ends, which see the engine but not the parser: split_statements cuts input or a script into
// single statements for Session::execute, is_complete tells whether more input is expected, and mentions_password
// whether the input should stay out of the history.
#include "parser/password_mention.hpp"    // IWYU pragma: export
#include "parser/statement_splitter.hpp"  // IWYU pragma: export
