#pragma once

// Front ends that read statements of their own see the engine but not the parser. They take from here the tokenizer and
// the values of tokens, the outline of a statement by its words (outline_of), and the check that bytes are UTF-8.
#include "parser/statement_outline.hpp"  // IWYU pragma: export
#include "parser/token_value.hpp"        // IWYU pragma: export
#include "parser/tokenizer.hpp"          // IWYU pragma: export
#include "parser/utf8.hpp"               // IWYU pragma: export
