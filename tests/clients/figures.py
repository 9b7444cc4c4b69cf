"""Figures of the clients' tests, which `script/test clients` puts together into the table of docs/clients.md."""

import json
import os
import unittest


def note(client, version, **figures):
    """Writes the figures of a client: note("SQLAlchemy", "1.4.46", passed=301, failed=0, excluded=12).

    The figures are printed, and kept as a file in the folder $EINDB_CLIENT_FIGURES if that is set.
    """
    print(client, version, " ".join(f"{name}={value}" for name, value in figures.items()), flush=True)
    folder = os.environ.get("EINDB_CLIENT_FIGURES")
    if not folder:
        return
    name = "".join(c if c.isalnum() else "-" for c in client.lower())
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump({"client": client, "version": version, **figures}, file)


def missing(client):
    """Leaves the tests out, visibly, where the client is not installed; fails where all clients must be there.

    It is called from setUpModule() or setUpClass(), never while the module is read: there it would end the program with
    an error.
    """
    if os.environ.get("EINDB_ALL_CLIENTS"):
        raise RuntimeError(f"{client} is not installed: script/bootstrap --clients installs it")
    raise unittest.SkipTest(f"{client} is not installed: script/bootstrap --clients installs it")
