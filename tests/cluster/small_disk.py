"""A small disk that tests fill. Only root may mount it."""

import os
import subprocess

MEBIBYTE = 1 << 20
SIZE = 192 * MEBIBYTE


class SmallDisk:
    """A file system of SIZE bytes at `folder`, if this process may mount one."""

    def __init__(self, folder):
        self.folder = folder
        os.mkdir(folder)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "eindb-test", folder], check=False,
                                 capture_output=True)  # fmt: skip
        self.is_mounted = mounted.returncode == 0

    def fill(self):
        """Fills the disk to the last byte with another file."""
        if not self.is_mounted:
            return
        with open(os.path.join(self.folder, "filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass

    def free(self):
        if os.path.exists(os.path.join(self.folder, "filler")):
            os.remove(os.path.join(self.folder, "filler"))

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", self.folder], check=True)
