"""Sockets of an emulator that exist before it starts: created and listened at here, inherited by
the emulator. A client that connects early waits in the queue; with a socket of the emulator's own
it would have to guess when the emulator listens."""
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
        """From here on only the emulator owns the socket: a connection to an ended emulator is
        refused."""
        self.socket.close()
