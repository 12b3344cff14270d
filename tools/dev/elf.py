"""Reads sections, symbols and bytes of a linked 32-bit little-endian ELF file, for the checks of the build.

The checks read the image itself and not a map file or the linker script, because the image is what
is flashed.
"""

import struct

SHT_PROGBITS = 1
SHT_SYMTAB = 2
SHT_NOBITS = 8
SHF_WRITE = 1
SHF_ALLOC = 2
SHF_EXECINSTR = 4
SHN_UNDEF = 0
SHN_ABS = 0xFFF1
STB_LOCAL = 0
STB_WEAK = 2
STT_NOTYPE = 0
STT_FUNC = 2
STT_FILE = 4


class ElfError(Exception):
    pass


class Section:
    def __init__(self, name, kind, flags, address, offset, size, link):
        self.name = name
        self.kind = kind
        self.flags = flags
        self.address = address
        self.offset = offset
        self.size = size
        self.link = link


class Symbol:
    def __init__(self, name, value, size, binding, kind, section, file):
        self.name = name
        self.value = value
        self.size = size
        self.binding = binding
        self.kind = kind
        self.section = section  # index of the section, or SHN_ABS, SHN_UNDEF
        self.file = file  # base name of the source file, for local symbols only


class Elf:
    def __init__(self, path):
        self.path = path
        try:
            with open(path, "rb") as f:
                self.data = f.read()
        except OSError as e:
            raise ElfError("cannot read %s: %s" % (path, e.strerror))
        if self.data[:6] != b"\x7fELF\x01\x01":
            raise ElfError("%s is not a 32-bit little-endian ELF file" % path)
        try:
            self.sections = self._read_sections()
            self.symbols = self._read_symbols()
        except (struct.error, IndexError, ValueError):
            raise ElfError("%s is cut off or damaged: build it again" % path)
        if not self.symbols:
            raise ElfError("%s has no symbols: it must not be stripped" % path)

    def _string(self, table, offset):
        start = table.offset + offset
        return self.data[start:self.data.index(b"\0", start)].decode("utf-8", "backslashreplace")

    def _read_sections(self):
        offset, = struct.unpack_from("<I", self.data, 32)
        entry_size, count, names = struct.unpack_from("<HHH", self.data, 46)
        raw = [struct.unpack_from("<10I", self.data, offset + i * entry_size)
               for i in range(count)]
        sections = [Section(r[0], r[1], r[2], r[3], r[4], r[5], r[6]) for r in raw]
        for section in sections:
            section.name = self._string(sections[names], section.name)
        return sections

    def _read_symbols(self):
        symbols = []
        for table in self.sections:
            if table.kind != SHT_SYMTAB:
                continue
            file = None
            for offset in range(table.offset, table.offset + table.size, 16):
                name, value, size, info, _, section = struct.unpack_from("<IIIBBH", self.data,
                                                                         offset)
                name = self._string(self.sections[table.link], name)
                if info & 15 == STT_FILE:
                    file = name
                    continue
                local = info >> 4 == STB_LOCAL
                symbols.append(Symbol(name, value, size, info >> 4, info & 15, section,
                                      file if local else None))
        return symbols

    def find(self, name):
        """Returns the defined symbol of this name, or None."""
        for symbol in self.symbols:
            if symbol.name == name and symbol.section != SHN_UNDEF:
                return symbol
        return None

    def value(self, name):
        """Returns the value of a required symbol, such as a size that the linker script sets."""
        symbol = self.find(name)
        if symbol is None:
            raise ElfError("%s has no symbol %s: the linker script must define it"
                           % (self.path, name))
        return symbol.value

    def read(self, address, size):
        """Returns the bytes that the image has at an address."""
        for section in self.sections:
            if section.kind == SHT_PROGBITS and section.flags & SHF_ALLOC and \
                    section.address <= address and address + size <= section.address + section.size:
                start = section.offset + address - section.address
                return self.data[start:start + size]
        raise ElfError("%s holds no %d bytes at 0x%08x" % (self.path, size, address))

    def word(self, address):
        return struct.unpack("<I", self.read(address, 4))[0]
