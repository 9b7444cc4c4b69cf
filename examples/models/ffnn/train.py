#!/usr/bin/python3
"""Trains a feed-forward classifier in eindb, on inputs in coordinate form. The tensors W1 and W2 of the database
contain the weights, the tensor `losses` the losses of the last epoch, one for each batch.

    train.py read DATABASE INPUTS TARGETS    reads lists of cells n,b,i,value: batch, input in it, feature or label
    train.py train DATABASE                  trains, or continues an interrupted training
"""

import argparse
import subprocess
import sys

import ffnn


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["read", "train"])
    parser.add_argument("database")
    parser.add_argument("files", nargs="*", metavar="INPUTS TARGETS")
    for name in ("batches", "batch", "features", "hidden", "labels"):
        parser.add_argument("--" + name, type=int, required=True)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--script", action="store_true", help="prints the statements and runs nothing")
    parser.add_argument("--eindb", default="eindb", metavar="PROGRAM")
    options = parser.parse_args()
    if len(options.files) != (2 if options.action == "read" else 0):
        parser.error("read takes the files INPUTS and TARGETS, train none")
    return options


def main():
    options = arguments()
    model = ffnn.Classifier(
        options.batches, options.batch, options.features, options.hidden, options.labels, options.rate)
    if options.action == "read":
        script = [*ffnn.read_script(model, *options.files), *ffnn.weight_script(model)]
    else:
        script = [ffnn.training(model, options.epochs), "EINSUM mean_loss[] = MEAN(losses[n])"]
    statements = "".join(statement + ";\n" for statement in script)
    if options.script:
        print(statements, end="")
        return 0
    return subprocess.run([options.eindb, options.database, "-f", "-"], input=statements, text=True).returncode


if __name__ == "__main__":
    sys.exit(main())
