"""Small disks that tests fill and freeze. Only root may mount them."""

import os
import subprocess

MEBIBYTE = 1 << 20


class Disk:
    """An ext4 file system in a file, mounted at `folder`."""

    def __init__(self, folder, image, mebibytes):
        self.folder = folder
        self._image = image
        self._filler = os.path.join(folder, "filler")
        self._frozen = False
        os.makedirs(folder, exist_ok=True)
        with open(image, "wb") as file:
            file.truncate(mebibytes * MEBIBYTE)
        subprocess.run(["mkfs.ext4", "-q", "-m", "0", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, folder], check=True)

    def fill(self, leave=0):
        """Fills the disk, except for `leave` bytes."""
        free = os.statvfs(self.folder)
        bytes_free = max(0, free.f_bavail * free.f_frsize - leave)
        descriptor = os.open(self._filler, os.O_CREAT | os.O_WRONLY)
        try:
            os.posix_fallocate(descriptor, 0, max(1, bytes_free))
        except OSError:
            pass  # another program was faster, the disk is full
        finally:
            os.close(descriptor)

    def free(self):
        if os.path.exists(self._filler):
            os.remove(self._filler)

    def freeze(self):
        subprocess.run(["fsfreeze", "-f", self.folder], check=True)
        self._frozen = True

    def thaw(self):
        if self._frozen:
            subprocess.run(["fsfreeze", "-u", self.folder], check=True)
            self._frozen = False

    def close(self):
        self.thaw()
        subprocess.run(["umount", "-l", self.folder], check=False)
        os.remove(self._image)
