"""Sockets of an emulator that are there before it is: made and listened at here, inherited by the emulator. Who connects
before the emulator looks waits in the queue; with a socket of the emulator's own one had to guess when it listens."""
import socket


class Inherited:
    """with Inherited(path) as s: Popen([..., *s.chardev("name")], pass_fds=s.files)"""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(4)
        self.files = (self.socket.fileno(),)

    def chardev(self, name, wait):
        """wait: the board starts with the first connection."""
        return ["-chardev", f"socket,id={name},fd={self.socket.fileno()},server=on,wait={'on' if wait else 'off'}"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """From here on the emulator alone has it: connecting to one that has ended is refused."""
        self.socket.close()
