#!/usr/bin/env python3
"""Measures pings and reconnections through a tunnel of cycloid-vpn and through one of OpenVPN, in
turns: two network namespaces joined by veth, the files of `cycloid-vpn pki` with `keepalive 1 4`, no
tuning. Prints the medians of the rounds, the values of each round, and the ratio.

usage: latency.py PROGRAM [ROUNDS]        as root; PROGRAM is cycloid-vpn
Needs iproute2, iputils-ping and openvpn.
"""

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

UP = "Initialization Sequence Completed"
SIDES = ("server", "client")
OUTER = {"server": "10.99.0.1", "client": "10.99.0.2"}
OTHER = "10.99.0.3"
INNER = "10.8.0.1"


def run(*words, **options):
    return subprocess.run(words, check=True, capture_output=True, text=True, **options).stdout


def namespace(side):
    return f"latency-{os.getpid()}-{side}"


def inside(side, *words):
    return ("ip", "netns", "exec", namespace(side), *words)


class End:
    """A client or a server, in its namespace."""

    def __init__(self, command, side, directory, profile):
        self.command, self.side = command, side
        self.directory, self.profile = directory, profile
        self.log = os.path.join(directory, f"{side}.log")
        self.start()

    def start(self):
        with open(self.log, "w") as log:
            command = inside(self.side, *self.command, self.profile)
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.directory)

    def signal(self, number):
        # `ip netns exec` becomes the program.
        self.process.send_signal(number)

    def ups(self):
        with open(self.log) as log:
            return log.read().count(UP)

    def wait_up(self, count):
        """Waits until the end has come up so many times; returns the seconds."""
        begin = time.monotonic()
        while self.ups() < count:
            if self.process.poll() is not None or time.monotonic() > begin + 60:
                with open(self.log) as log:
                    sys.exit(f"error: the {self.side} does not come up:\n{log.read()}")
            time.sleep(0.001)
        return time.monotonic() - begin

    def end(self):
        self.process.terminate()
        self.process.wait()


def pings(*options):
    """Returns the times of pings through the tunnel in microseconds."""
    said = run(*inside("client", "ping", *options, INNER))
    return [1000 * float(time) for time in re.findall(r"time=([0-9.]+) ms", said)]


def flood():
    said = run(*inside("client", "ping", "-q", "-f", "-c", "3000", INNER))
    return 1000 * float(re.search(r"= [0-9.]+/([0-9.]+)/", said).group(1))


def new_address(old, new):
    """Gives the client another address under pings; returns the longest time without an answer."""
    ping = inside("client", "ping", "-D", "-i", "0.002", "-c", "300", INNER)
    pings = subprocess.Popen(ping, stdout=subprocess.PIPE, text=True)
    time.sleep(0.2)
    link = ("dev", "veth-client")
    run(*inside("client", "ip", "address", "delete", f"{old}/24", *link))
    run(*inside("client", "ip", "address", "add", f"{new}/24", *link))
    times = [float(time) for time in re.findall(r"\[([0-9.]+)\].*time=", pings.communicate()[0])]
    return max(after - before for before, after in zip(times, times[1:]))


def measure(commands, directory):
    """Returns the rows of one pair of new processes."""
    server = End(commands["server"], "server", directory, "pki/gate.conf")
    server.wait_up(1)
    client = End(commands["client"], "client", directory, "pki/alice.ovpn")
    client.wait_up(1)
    rows = {
        "ping, 300 at 10 ms, median, us": statistics.median(pings("-i", "0.01", "-c", "300")),
        "ping, 15 at 200 ms, median, us": statistics.median(pings("-i", "0.2", "-c", "15")),
        "flood of 3000 pings, mean, us": flood(),
        "longest gap of pings at a new address, ms": 1000 * new_address(OUTER["client"], OTHER),
    }
    new_address(OTHER, OUTER["client"])
    ups = client.ups()
    client.signal(signal.SIGUSR1)
    rows["SIGUSR1 until the tunnel is up, ms"] = 1000 * client.wait_up(ups + 1)
    ups = client.ups()
    server.signal(signal.SIGKILL)
    server.process.wait()
    server.start()
    rows["server killed and started until the tunnel is up, ms"] = 1000 * client.wait_up(ups + 1)
    client.end()
    server.end()
    return rows


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) == 3 else 3
    kinds = {
        "Cycloid": {side: (program, side) for side in SIDES},
        "OpenVPN": {side: ("openvpn", "--config") for side in SIDES},
    }
    results = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as directory:
        pki = lambda *words: run(program, "pki", *words, cwd=directory)
        pki("init")
        pki("server", "gate", "--host", OUTER["server"])
        pki("client", "alice")
        with open(os.path.join(directory, "pki/gate.conf"), "a") as profile:
            profile.write("\nkeepalive 1 4\n")
        os.symlink("pki/crl.pem", os.path.join(directory, "crl.pem"))
        for side in SIDES:
            run("ip", "netns", "add", namespace(side))
        try:
            run(
                *("ip", "link", "add", "veth-server", "netns", namespace("server"), "type", "veth"),
                *("peer", "name", "veth-client", "netns", namespace("client")),
            )
            for side in SIDES:
                link = f"veth-{side}"
                run(*inside(side, "ip", "address", "add", f"{OUTER[side]}/24", "dev", link))
                run(*inside(side, "ip", "link", "set", link, "up"))
                run(*inside(side, "ip", "link", "set", "lo", "up"))
            for _ in range(rounds):
                for kind, commands in kinds.items():
                    results[kind].append(measure(commands, directory))
        finally:
            for side in SIDES:
                for process in run("ip", "netns", "pids", namespace(side)).split():
                    os.kill(int(process), signal.SIGKILL)
                run("ip", "netns", "delete", namespace(side))
    for row in results["Cycloid"][0]:
        values = {kind: [result[row] for result in of] for kind, of in results.items()}
        medians = {kind: statistics.median(of) for kind, of in values.items()}
        texts = [
            f"{kind} {medians[kind]:.0f} [{', '.join(f'{value:.0f}' for value in of)}]"
            for kind, of in values.items()
        ]
        ratio = medians["Cycloid"] / medians["OpenVPN"]
        print(f"{row:54} {'   '.join(texts)}   ratio {ratio:.2f}")


main()
