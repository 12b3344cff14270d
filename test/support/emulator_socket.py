"""Sockets that exist before the emulator starts: this module creates them and listens, and the
emulator inherits them. A client that connects early waits in the queue. If the emulator made its
own socket, the client would have to guess when the emulator listens."""
import socket


class Inherited:
    """with Inherited(path) as s: Popen([..., *s.chardev("name", wait)], pass_fds=s.files)"""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(path)
        self.socket.listen(4)
        self.files = (self.socket.fileno(),)

    def chardev(self, name, wait):
        """With wait, the board starts when the first client connects."""
        return ["-chardev", f"socket,id={name},fd={self.socket.fileno()},server=on,wait={'on' if wait else 'off'}"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """From here on only the emulator owns the socket, so that a connection to an ended emulator
        is refused."""
        self.socket.close()
