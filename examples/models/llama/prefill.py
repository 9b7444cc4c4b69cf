#!/usr/bin/python3
"""Computes the first token after a prompt, by a model of LLaMA's architecture in eindb.

    prefill.py load CHECKPOINT DATABASE      reads config.json and the safetensors files of a folder into a database
    prefill.py run CHECKPOINT DATABASE       computes the logits of the next token of each sequence
        --tokens '1 15043 3186'              a sequence; may be repeated, all of one length
        --tokens-file FILE                   a sequence per line
        --layer-by-layer                     a loop over the layers, not one statement for the model
        --every-position                     logits of all positions, not only of the last one
        --logits FILE                        writes logits in a format of COPY, instead of printing the likeliest token
    both:
        --script                             prints the statements and runs nothing
        --eindb PROGRAM                      the program to run (default: eindb)
        --memory-limit SIZE, --threads N     options of the program
"""

import argparse
import subprocess
import sys
from pathlib import Path

import llama


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["load", "run"])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("database")
    parser.add_argument("--tokens", action="append", default=[])
    parser.add_argument("--tokens-file", type=Path)
    parser.add_argument("--layer-by-layer", action="store_true")
    parser.add_argument("--every-position", action="store_true")
    parser.add_argument("--logits", type=Path)
    parser.add_argument("--script", action="store_true")
    parser.add_argument("--eindb", default="eindb")
    parser.add_argument("--memory-limit")
    parser.add_argument("--threads")
    return parser.parse_args()


def prompt_of(options, vocabulary):
    lines = options.tokens + (options.tokens_file.read_text().splitlines() if options.tokens_file else [])
    tokens = [[int(token) for token in line.replace(",", " ").split()] for line in lines if line.strip()]
    if not tokens or len({len(sequence) for sequence in tokens}) != 1:
        sys.exit("prefill.py: give sequences of one length by --tokens or --tokens-file")
    if not all(0 <= token < vocabulary for sequence in tokens for token in sequence):
        sys.exit(f"prefill.py: tokens are from 0 to {vocabulary - 1}")
    return tokens


def head_of(options, length):
    """The query on the logits L[b,s,v]: all of them, those of the last position, or its likeliest token."""
    if options.every_position:
        return "EINSUM Z[b,s,v] = L[b,s,v]"
    if options.logits:
        return f"EINSUM Z[b,v] = L[b,{length - 1},v]"
    return f"EINSUM token[b] = ARGMAX(L[b,{length - 1},v])"


def run_script(config, options):
    tokens = prompt_of(options, config.vocabulary)
    head = head_of(options, len(tokens[0]))
    *before, query = llama.layer_script(config, head) if options.layer_by_layer else [llama.query(config, head)]
    yield from llama.prompt_script(config, tokens)
    yield from before
    yield f"COPY ({query}) TO '{llama.text(options.logits)}'" if options.logits else query


def execute(statements, options):
    command = [options.eindb, options.database, "-f", "-"]
    command += ["--memory-limit", options.memory_limit] if options.memory_limit else []
    command += ["--threads", options.threads] if options.threads else []
    return subprocess.run(command, input=statements, text=True).returncode


def main():
    options = arguments()
    try:
        config = llama.Config.read(options.checkpoint)
    except (OSError, KeyError, ValueError, llama.ConfigError) as error:
        sys.exit(f"prefill.py: {options.checkpoint}/config.json: {error}")
    script = llama.load_script(config, options.checkpoint) if options.action == "load" else run_script(config, options)
    statements = "".join(statement + ";\n" for statement in script)
    if options.script:
        print(statements, end="")
        return 0
    return execute(statements, options)


if __name__ == "__main__":
    sys.exit(main())
