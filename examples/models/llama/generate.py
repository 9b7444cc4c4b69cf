#!/usr/bin/python3
"""Continues sequences of tokens by a model of LLaMA's architecture in eindb, which prefill.py has loaded.

    generate.py CHECKPOINT DATABASE
        --tokens '1 15043 3186'              a sequence; may be repeated, all of one length
        --tokens-file FILE                   a sequence per line
        --count N                            how many tokens (default: 16)
        --top K                              draws from the K likeliest tokens; without it the likeliest one is taken
        --temperature T                      divides the logits before a token is drawn (default: 1)
        --seed N                             of the random numbers (default: 1)
        --out FILE                           writes the tokens in a format of COPY, instead of printing them
        --script                             prints the statements and runs nothing
        --eindb PROGRAM                      the program to run (default: eindb)
        --memory-limit SIZE, --threads N     options of the program
"""

import argparse
import sys
from pathlib import Path

import llama
import prefill


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("database")
    parser.add_argument("--tokens", action="append", default=[])
    parser.add_argument("--tokens-file", type=Path)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--top", type=int, default=0)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--eindb", default="eindb")
    parser.add_argument("--memory-limit")
    parser.add_argument("--threads")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        config = llama.Config.read(options.checkpoint)
    except (OSError, KeyError, ValueError, llama.ConfigError) as error:
        sys.exit(f"generate.py: {options.checkpoint}/config.json: {error}")
    if options.count < 1 or not 0 <= options.top <= config.vocabulary or options.temperature <= 0:
        sys.exit("generate.py: --count and --temperature are positive, and --top is at most the vocabulary")
    tokens = prefill.prompt_of(options, config.vocabulary)
    script = list(llama.generate_script(config, tokens, options.count, options.top, options.temperature, options.seed))
    query = "EINSUM Z[b,i] = generated[b,i]"
    script.append(f"COPY ({query}) TO '{llama.text(options.out)}'" if options.out else query)
    statements = "".join(statement + ";\n" for statement in script)
    if options.script:
        print(statements, end="")
        return 0
    return prefill.execute(statements, options)


if __name__ == "__main__":
    sys.exit(main())
