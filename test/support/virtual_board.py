"""Virtual boards for test scripts, and serial devices (pseudo terminals) with one behind them."""
import os
import pty
import random
import select
import socket
import threading
import time
import tty

from test_appell import good, run
from test_link import firmware


class Virtual:
    """A virtual board of its own, ended when the block ends."""

    def __init__(self, board, *options):
        firmware(board)
        name = options[options.index("--name") + 1] if "--name" in options else board
        self.said = good("emulate", board, "--detach", "-q", *options)
        self.port = "virtual:" + name
        self.path = os.path.join(os.environ["XDG_RUNTIME_DIR"], "appell", name + ".board")

    def connect(self):
        line = socket.socket(socket.AF_UNIX)
        line.connect(self.path)
        return line

    def process(self):
        """Returns the process that serves the board."""
        line = self.connect()
        pid = int.from_bytes(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], "little")
        line.close()
        return pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        run("emulate", "--stop", "--port", self.port, "-q")


class Bridge:
    """A serial device with a virtual board behind it. With a baud rate the bytes take their time; a
    fraction `spoilt` of them is lost or altered, the same ones in every run for the same bytes."""

    def __init__(self, board, baud=None, spoilt=0):
        self.board, self.baud, self.spoilt = board, baud, spoilt
        self.random = random.Random(22)
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.name = os.ttyname(self.slave) + (f"@{baud}" if baud else "")
        self.line = board.connect()
        self.end, self.ended = os.pipe()
        self.thread = threading.Thread(target=self.carry)
        self.thread.start()

    def worn(self, data):
        """Returns what arrives of the bytes."""
        out = bytearray()
        for byte in data:
            if self.random.random() >= self.spoilt:
                out.append(byte)
            elif self.random.random() < 0.5:
                out.append(byte ^ 1 << self.random.randrange(8))
        return bytes(out)

    def pass_on(self, data, write):
        if self.baud:
            time.sleep(10 * len(data) / self.baud)  # the subject of a slow line, not a wait for something
        write(self.worn(data) if self.spoilt else data)

    def carry(self):
        files = [self.master, self.line, self.end]
        while True:
            ready = select.select(files, [], [])[0]
            if self.end in ready:
                return
            if self.master in ready:
                self.pass_on(os.read(self.master, 512), self.line.sendall)
            if self.line in ready:
                data = self.line.recv(512)
                if not data:
                    files.remove(self.line)  # the virtual board has ended
                self.pass_on(data, lambda worn: os.write(self.master, worn) if worn else 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.ended)
        self.thread.join()
        self.line.close()
        for file in (self.end, self.master, self.slave):
            os.close(file)
