#pragma once

// For front ends that read statements of their own, which see the engine but not the parser: the words of a statement
// (SqlScanner), what it does by its words (outline_of), and whether bytes are text at all (check_utf8).
#include "parser/sql_scanner.hpp"        // IWYU pragma: export
#include "parser/statement_outline.hpp"  // IWYU pragma: export
#include "parser/utf8.hpp"               // IWYU pragma: export
