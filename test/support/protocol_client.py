"""A client of the link, written only from firmware/link/PROTOCOL.md and with the standard library.

test/system/test_link.py uses it; `python3 test/support/protocol_client.py HOST PORT` prints board,
number type, build, robot and parameters.
"""
import select
import socket
import struct
import sys
import time
import zlib

HELLO, STATUS, COUNTERS, DESCRIBE, GET, SET, IMAGE_BEGIN, IMAGE_DATA, IMAGE_END, IMAGE_READ, SAVE, TELEMETRY, \
    CREDIT, MOTION, POINTS, STOP, CLEAR, PLACE, ROW_PUT, ROW_RUN, ROW_GET, CRASH, STAGES, RESET, WRENCH, \
    FAULT, HARDWARE, LEASE, OVERRIDE = range(1, 30)
SAMPLE, ANSWER = 0x7f, 0x80
ROBOT, PARAMETER, FIELD, METHOD, CHOICE, LEASED, OVERRIDDEN = range(7)


def encode(content):
    content += struct.pack("<I", zlib.crc32(content))
    out = b""
    for piece in content.split(b"\0"):
        out += bytes([len(piece) + 1]) + piece
    return b"\0" + out + b"\0"


def decode(frame):
    """Returns the content of the bytes between two zeros, or None if they are not a frame."""
    pieces, at = [], 0
    while at < len(frame):
        pieces.append(frame[at + 1:at + frame[at]])
        at += frame[at]
    content = b"\0".join(pieces)
    if at != len(frame) or len(content) < 6 or zlib.crc32(content[:-4]) != struct.unpack("<I", content[-4:])[0]:
        return None
    return content[:-4]


class Refused(Exception):
    pass


class Client:
    def __init__(self, line, timeout_s=2.0, tries=15, token=0):
        self.line, self.token = line, token
        self.received, self.sequence, self.samples = b"", int(time.time()) & 255, []
        self.timeout_s, self.tries = 0.2, 600  # bytes are lost until the board has switched its line on
        hello = self.ask(HELLO, b"\1")
        self.timeout_s, self.tries = timeout_s, tries
        (self.version, self.payload, self.joints_max, self.flags, self.baud, self.parameters, self.fields,
         self.methods) = struct.unpack_from("<BBBBIBBB", hello)
        self.board, self.real, self.build = (t.decode() for t in hello[11:].split(b"\0")[:3])

    def frames(self, wait_s):
        """Returns the contents of the frames that have arrived."""
        if not select.select([self.line], [], [], wait_s)[0]:
            return []
        data = self.line.recv(65536)
        if not data:
            raise ConnectionError("the line was closed")
        *whole, self.received = (self.received + data).split(b"\0")
        return [content for content in map(decode, filter(None, whole)) if content]

    def ask(self, message, payload=b""):
        """Returns the answer without its status; raises Refused if the status is not 0."""
        self.sequence = (self.sequence + 1) & 255
        frame = encode(bytes([message, self.sequence]) + payload)
        for _ in range(self.tries):
            self.line.sendall(frame)
            until, answer = time.monotonic() + self.timeout_s, None
            while answer is None and time.monotonic() < until:
                for content in self.frames(max(0, until - time.monotonic())):
                    if content[0] == SAMPLE:
                        self.samples.append(content[2:])
                    elif content[:2] == bytes([message | ANSWER, self.sequence]):
                        answer = content[2:]
            if answer is not None:
                if answer[0] != 0:
                    raise Refused(answer[0], answer[1:])
                return answer[1:]
        raise TimeoutError("no answer to message %d" % message)

    def led(self, message, payload=b""):
        """Like ask, for a request that begins with the token of the lease."""
        return self.ask(message, struct.pack("<I", self.token) + payload)

    def describe(self, topic, index=0):
        record, total = b"", 1
        while len(record) < total:
            answer = self.ask(DESCRIBE, struct.pack("<BBH", topic, index, len(record)))
            total = struct.unpack("<H", answer[:2])[0]
            record += answer[2:]
        return record

    def robot(self):
        record = self.describe(ROBOT)
        names = [t.decode() for t in record[1 + record[0]:].split(b"\0")]
        return names[0], list(zip(names[1:], record[1:1 + record[0]]))

    def parameter_names(self):
        return [self.describe(PARAMETER, i)[14:].split(b"\0")[0].decode() for i in range(self.parameters)]

    def field(self, index):
        """Returns name, whether it is per joint, kind and exponents of a field."""
        record = self.describe(FIELD, index)
        exponents = struct.unpack("<%db" % record[2], record[3:3 + record[2]])
        return record[3 + record[2]:].split(b"\0")[0].decode(), record[0], record[1], exponents

    def get(self, parameter, joint=0):
        return struct.unpack("<fB", self.ask(GET, bytes([parameter, joint])))

    def set(self, parameter, value, joint=0):
        return struct.unpack("<f", self.ask(SET, struct.pack("<BBf", parameter, joint, value)))[0]

    def apply(self, image, target=0):
        self.ask(IMAGE_BEGIN, struct.pack("<BII", target, len(image), zlib.crc32(image)))
        step = self.payload - 4
        for at in range(0, len(image), step):
            self.ask(IMAGE_DATA, struct.pack("<I", at) + image[at:at + step])
        return self.ask(IMAGE_END, bytes([target]))

    def read_image(self, which=0):
        head = self.ask(IMAGE_READ, struct.pack("<BIB", which, 0, 16))
        length, image = struct.unpack("<I", head[12:16])[0], b""
        while len(image) < length:
            count = min(self.payload - 1, length - len(image))
            image += self.ask(IMAGE_READ, struct.pack("<BIB", which, len(image), count))
        return image

    def stream(self, fields, every, credit):
        self.samples.clear()
        budget = struct.unpack("<HII", self.ask(TELEMETRY, struct.pack("<I", every) + bytes(fields)))
        self.ask(CREDIT, struct.pack("<I", credit))
        return budget

    def collect(self, count, wait_s=60.0):
        """Returns (tick, lost, first, words) of this many sample frames."""
        until = time.monotonic() + wait_s
        while len(self.samples) < count and time.monotonic() < until:
            self.samples += [content[2:] for content in self.frames(0.5) if content[0] == SAMPLE]
        return [struct.unpack_from("<IHH", s) + (struct.unpack("<%dI" % (len(s) // 4 - 2), s[8:]),)
                for s in self.samples[:count]]


if __name__ == "__main__":
    board = Client(socket.create_connection((sys.argv[1], int(sys.argv[2]))))
    print(board.board, board.real, board.build, board.robot(), board.parameter_names())
