"""Tests that the files for Docker Compose, Kubernetes and Slurm in packaging/ fit each other and the program: what they start
is started here on loopback, with their own commands.

    cluster_files_test.py EINDB SOURCE_DIRECTORY
"""

import os
import re
import select
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import yaml

SOURCE = sys.argv.pop(2)
EINDB = os.path.abspath(sys.argv.pop(1))
HANG_SECONDS = 240


def read(name):
    with open(os.path.join(SOURCE, "packaging", name), encoding="utf-8") as file:
        return file.read()


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Started(unittest.TestCase):
    """Starts commands of a file, with its hosts, ports and paths replaced by those of a folder on this machine."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.secret = os.path.join(self.folder, "secret")
        with open(self.secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("a secret of sixteen letters\n")
        os.symlink(EINDB, os.path.join(self.folder, "eindb"))
        self.environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        self.replaced = {}

    def start(self, command, own):
        """`own` replaces what other commands have, too, in another way."""
        def put_in(text):
            for old, new in {**own, **self.replaced}.items():
                text = text.replace(old, new)
            return text

        process = subprocess.Popen([put_in(word) for word in command], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, env=self.environment, cwd=self.folder)  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.assertTrue(select.select([process.stdout], [], [], HANG_SECONDS)[0], "it says nothing")
        line = process.stdout.readline()
        self.assertIn("listening on port", line)
        return int(re.search(r"http on port (\d+)", process.stdout.readline())[1])

    def health(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=HANG_SECONDS) as page:
            return page.status

    def workers_up(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANG_SECONDS) as page:
            return int(re.search(r'^eindb_workers{state="up"} (\d+)', page.read().decode(), re.MULTILINE)[1])

    def expect_cluster(self, workers, http):
        self.assertEqual(self.health(http), 200)
        end = time.monotonic() + HANG_SECONDS
        while self.workers_up(http) != workers and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(self.workers_up(http), workers)


class Compose(Started):
    def test_its_cluster_starts(self):
        services = yaml.safe_load(read("compose.yaml"))["services"]
        workers = {name: service for name, service in services.items() if name != "server"}
        for (name, _), port in zip(workers.items(), free_ports(len(workers))):
            self.replaced[f"{name}:7700"] = f"127.0.0.1:{port}"
        self.replaced |= {"/run/secrets/eindb": self.secret, "127.0.0.1:8434": "127.0.0.1:0", "0.0.0.0:8433": "127.0.0.1:0",
                          "0.0.0.0:5433": "127.0.0.1:0"}  # fmt: skip
        for name, service in workers.items():
            self.assertEqual(service["volumes"], [f"{name}:/var/lib/eindb"])
            folder = os.path.join(self.folder, name)
            os.mkdir(folder)
            http = self.start([*service["entrypoint"], *service["command"]], {"/var/lib/eindb": folder})
            self.assertEqual(self.health(http), 200)
        # The image's entrypoint, as packaging/Dockerfile has it.
        entrypoint = re.search(r"^ENTRYPOINT \[(.*)\]", read("Dockerfile"), re.MULTILINE)[1]
        entrypoint = [word.strip().strip('"') for word in entrypoint.split(",")]
        http = self.start([*entrypoint, *services["server"]["command"]], {"/var/lib/eindb": self.folder})
        self.expect_cluster(len(workers), http)

    def test_its_parts_are_there(self):
        compose = yaml.safe_load(read("compose.yaml"))
        for service in compose["services"].values():
            for volume in service["volumes"]:
                self.assertIn(volume.split(":")[0], compose["volumes"])
            for secret in service["secrets"]:
                self.assertIn(secret, compose["secrets"])
            for network in service["networks"]:
                self.assertIn(network, compose["networks"])
        self.assertEqual(set(compose["services"]["server"]["depends_on"]), set(compose["services"]) - {"server"})


class Kubernetes(Started):
    def setUp(self):
        super().setUp()
        objects = list(yaml.safe_load_all(read("kubernetes.yaml")))
        self.objects = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        self.assertEqual(len(self.objects), len(objects))
        self.workers = self.objects["StatefulSet", "eindb-worker"]["spec"]
        self.server = self.objects["StatefulSet", "eindb"]["spec"]

    def test_its_parts_fit_each_other(self):
        for (kind, name), each in self.objects.items():
            if kind != "StatefulSet":
                continue
            spec, pod = each["spec"], each["spec"]["template"]
            labels = pod["metadata"]["labels"]
            service = self.objects["Service", spec["serviceName"]]["spec"]
            self.assertEqual(spec["selector"]["matchLabels"], labels, name)
            self.assertEqual(service["selector"], labels, name)
            volumes = {volume["name"] for volume in pod["spec"]["volumes"]}
            volumes |= {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
            for container in pod["spec"]["containers"]:
                self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
                ports = {port["containerPort"] for port in container["ports"]}
                self.assertLessEqual({port["port"] for port in service["ports"]}, ports)
        # Before a worker is ready the others have to reach it.
        self.assertTrue(self.objects["Service", "eindb-worker"]["spec"]["publishNotReadyAddresses"])

    def test_its_cluster_starts(self):
        names = [f"eindb-worker-{n}.eindb-worker:7700" for n in range(self.workers["replicas"])]
        for name, port in zip(names, free_ports(len(names))):
            self.replaced[name] = f"127.0.0.1:{port}"
        # As Kubernetes mounts a secret: others may not write it, and the group may read it.
        mounted = os.path.join(self.folder, "mounted")
        os.mkdir(mounted)
        with open(os.path.join(mounted, "secret"), "w", encoding="utf-8") as file:
            file.write("a secret of sixteen letters\n")
        os.chmod(file.name, 0o440)
        self.replaced |= {"/run/eindb": mounted, "127.0.0.1:8434": "127.0.0.1:0", "0.0.0.0:8433": "127.0.0.1:0",
                          "0.0.0.0:5433": "127.0.0.1:0"}  # fmt: skip
        for n in range(len(names)):
            folder = os.path.join(self.folder, f"pod{n}")
            os.mkdir(folder)
            (container,) = self.workers["template"]["spec"]["containers"]
            # What Kubernetes puts in for $(POD_NAME), before everything else.
            command = [word.replace("$(POD_NAME)", f"eindb-worker-{n}")
                       for word in [*container["command"], *container["args"]]]  # fmt: skip
            http = self.start(command, {"/tmp/secret": f"{folder}/secret", "/var/lib/eindb": folder})
            self.assertEqual(self.health(http), 200)
            self.assertEqual(stat.S_IMODE(os.stat(f"{folder}/secret").st_mode) & 0o077, 0)
        (container,) = self.server["template"]["spec"]["containers"]
        command = [*container["command"], *container["args"]]
        self.assertEqual(command[command.index("--workers") + 1], ",".join(names))
        http = self.start(command, {"/tmp/secret": f"{self.folder}/copied", "/var/lib/eindb": self.folder})
        self.expect_cluster(len(names), http)


class Slurm(Started):
    """Commands of Slurm stand in: each node of the job is an address of this machine."""

    def stand_in(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/usr/bin/env bash\n{text}\n")
        os.chmod(path, 0o755)

    def test_a_job_runs_and_the_next_finds_its_tiles(self):
        (port,) = free_ports(1)
        self.stand_in("hostname", 'echo "127.0.0.$((SLURM_PROCID + 1))"')
        self.stand_in("scontrol", 'for n in 1 2 3; do echo "127.0.0.$n"; done')
        self.stand_in("srun", 'for n in 0 1 2; do SLURM_PROCID=$n "$@" & tasks="$tasks $!"; done\n'
                              "trap 'kill $tasks; wait' TERM; wait")  # fmt: skip
        script = os.path.join(SOURCE, "packaging", "eindb.sbatch")
        statements = ("CREATE TENSOR A PARTITION (3, 1) AS EINSUM A[i 30, j 2] = i;", "EINSUM Z[] = SUM(A[i,j]);")
        for statement in statements:
            with open(os.path.join(self.folder, "job.sql"), "w", encoding="utf-8") as file:
                file.write(statement)
            ran = subprocess.run(["bash", script, "my.db", "job.sql"], capture_output=True, text=True, cwd=self.folder,
                                 env={**self.environment, "SLURM_JOB_NODELIST": "node[1-3]", "EINDB_PORT": str(port)},
                                 timeout=HANG_SECONDS)  # fmt: skip
            self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("870", ran.stdout)
        self.assertEqual(sorted(name for name in os.listdir(os.path.join(self.folder, "my.db.workers"))
                                if os.path.isdir(os.path.join(self.folder, "my.db.workers", name))),
                         ["worker0", "worker1", "worker2"])  # fmt: skip

    def test_it_says_how_it_is_used(self):
        ran = subprocess.run(["bash", os.path.join(SOURCE, "packaging", "eindb.sbatch")], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("usage", ran.stderr)


if __name__ == "__main__":
    unittest.main()
