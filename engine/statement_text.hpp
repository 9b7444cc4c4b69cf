#pragma once

// Text functions for front ends that read statements themselves; front ends see the engine but not the parser: the
// tokenizer and the values of tokens, the outline of a statement by its words (outline_of), and the check for valid
// UTF-8.
#include "parser/statement_outline.hpp"  // IWYU pragma: export
#include "parser/token_value.hpp"        // IWYU pragma: export
#include "parser/tokenizer.hpp"          // IWYU pragma: export
#include "parser/utf8.hpp"               // IWYU pragma: export
