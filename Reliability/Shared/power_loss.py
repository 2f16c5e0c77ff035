"""The possible states of a disk after a power failure: system calls, recorded by strace, and the folders that may be left
when what was not brought to the disk is lost in part.

The model is stricter than Linux's file systems: until a file is synchronized, any 4 KiB block of what was written to it may be
lost, and its length may be old; until a folder is, any change of its names may be lost, whatever was done later.  A rename is
kept or lost as a whole.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess

CALLS = ("open,openat,creat,close,write,writev,pwrite64,pwritev,lseek,ftruncate,truncate,fallocate,fsync,fdatasync,sync,syncfs,"
         "rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,dup,dup2,dup3,"
         "copy_file_range,sendfile,splice,mmap,ioctl,fcntl")
BLOCK = 4096


def traced(folder):
    """The command prefix that records the calls in files under `folder`."""
    folder.mkdir(parents=True)
    return ["strace", "-ff", "-qq", "--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns", "-xx", "-s", "100000000",
            "--signal=none", "-e", f"trace={CALLS}", "-o", str(folder / "calls")]


class Call:
    """A system call that succeeded: when it began and ended (nanoseconds), its name, arguments and result."""

    def __init__(self, begin, end, name, arguments, result):
        self.begin, self.end, self.name, self.arguments, self.result = begin, end, name, arguments, result


LINE = re.compile(r"(\d+\.\d+) (\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+)(?: .*?)?(?: <(\d+\.\d+)>)?$")
ARGUMENT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')


def calls(folder):
    """The calls of all threads, in the order in which they began; one that did not end any more counts as one that may have."""
    found = []
    for path in folder.glob("calls.*"):
        for line in path.read_text().splitlines():
            unfinished = line.endswith("<unfinished ...>") or line.endswith("= ?")
            if unfinished:
                continue
            match = LINE.match(line)
            if match is None:
                raise ValueError(f"strace said: {line[:200]}")
            begin, name, text, result, duration = match.groups()
            result = int(result, 0)
            if result == -1:
                continue
            strings = []

            def take(string):
                if string[2]:
                    raise ValueError(f"strace cut a text off: {line[:200]}")
                strings.append(bytes.fromhex(string[1].replace("\\x", "")))
                return f"\x00{len(strings) - 1}\x00"

            text = ARGUMENT.sub(take, text)
            begin = nanoseconds(begin)
            found.append(Call(begin, begin + nanoseconds(duration or "0"), name, (text, strings), result))
    found.sort(key=lambda call: call.begin)
    return found


def nanoseconds(text):
    seconds, _, fraction = text.partition(".")
    return int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0"))


class Inode:
    def __init__(self, content=None, is_folder=False):
        self.is_folder = is_folder
        # The durable state of the disk, and changes that it may have: (index, kind, …).
        self.content = bytearray(content or b"")
        self.names = {}
        self.pending = []
        # The state that a reader sees now.
        self.size = len(self.content)


class Disk:
    """The state of a folder while a program runs.  `apply` takes its calls one after the other; `image` writes a folder as it
    may be found after the power failed then."""

    def __init__(self, folder):
        self.root = str(folder)
        self.top = self._read(pathlib.Path(folder))
        # Names as the program sees them, by inode of the folder.
        self.files = {}
        self.positions = {}
        self.index = 0
        self.changes = 0

    def _read(self, path):
        if path.is_dir():
            inode = Inode(is_folder=True)
            inode.names = {name: self._read(path / name) for name in os.listdir(path)}
            inode.view = dict(inode.names)
            return inode
        return Inode(path.read_bytes())

    # --- Names ---

    def _inside(self, path):
        path = os.path.normpath(path)
        if path == self.root:
            return []
        return path[len(self.root) + 1:].split("/") if path.startswith(self.root + "/") else None

    def _find(self, parts):
        inode = self.top
        for part in parts:
            inode = inode.view[part]
        return inode

    def _parent(self, path):
        parts = self._inside(path)
        return self._find(parts[:-1]), parts[-1]

    def _name(self, folder, change):
        folder.pending.append((self.index, *change))
        self.changes += 1

    def _path(self, token, strings, directory=None):
        text = strings[int(token.strip("\x00"))].decode()
        if not text.startswith("/"):
            raise ValueError(f"a call names {text}: only absolute paths are followed")
        return text

    # --- Calls ---

    def apply(self, call):
        text, strings = call.arguments
        arguments = [part.strip() for part in text.split(",")]
        name = call.name
        self.index += 1
        if name in ("openat", "open", "creat"):
            at = name == "openat"
            token, flags = arguments[1 if at else 0], "O_CREAT|O_WRONLY|O_TRUNC" if name == "creat" else arguments[2 if at else 1]
            raw = strings[int(token.strip("\x00"))].decode()
            if not raw.startswith("/") or self._inside(raw) is None:
                if not raw.startswith("/") and at and arguments[0] != "AT_FDCWD" and self.files.get(int(arguments[0])):
                    raise ValueError(f"{raw} is opened relative to a folder")
                self.files.pop(call.result, None)
                return
            parts = self._inside(raw)
            if not parts:
                inode = self.top
            else:
                folder, last = self._parent(raw)
                if last not in folder.view:
                    inode = Inode()
                    folder.view[last] = inode
                    self._name(folder, ("set", last, inode))
                inode = folder.view[last]
            if "O_TRUNC" in flags and inode.size:
                inode.pending.append((self.index, "size", 0))
                inode.size = 0
            self.files[call.result] = inode
            self.positions[call.result] = [0, "O_APPEND" in flags, "O_RDWR" in flags]
        elif name == "close":
            self.files.pop(int(arguments[0]), None)
        elif name in ("dup", "dup2", "dup3") or (name == "fcntl" and "F_DUPFD" in text):
            inode = self.files.get(int(arguments[0]))
            if inode is not None:
                self.files[call.result] = inode
                self.positions[call.result] = self.positions[int(arguments[0])]
            else:
                self.files.pop(call.result, None)
        elif name in ("write", "pwrite64", "lseek", "ftruncate", "fallocate", "fsync", "fdatasync", "writev", "pwritev"):
            number = int(arguments[0])
            if (inode := self.files.get(number)) is not None:
                self._change(name, number, inode, arguments, strings, call)
        elif name in ("rename", "renameat", "renameat2"):
            old, new = (arguments[0], arguments[1]) if name == "rename" else (arguments[1], arguments[3])
            old, new = self._path(old, strings), self._path(new, strings)
            if self._inside(old) is None and self._inside(new) is None:
                return
            (source, a), (target, b) = self._parent(old), self._parent(new)
            inode = source.view.pop(a)
            target.view[b] = inode
            change = ("move", source, a, target, b, inode)
            self._name(source, change)
            if target is not source:
                target.pending.append((self.index, *change))
        elif name in ("link", "linkat"):
            old, new = (arguments[0], arguments[1]) if name == "link" else (arguments[1], arguments[3])
            old, new = self._path(old, strings), self._path(new, strings)
            if self._inside(new) is None:
                return
            folder, last = self._parent(new)
            folder.view[last] = self._find(self._inside(old))
            self._name(folder, ("set", last, folder.view[last]))
        elif name in ("unlink", "rmdir", "unlinkat"):
            path = self._path(arguments[1] if name == "unlinkat" else arguments[0], strings)
            if self._inside(path) is None:
                return
            folder, last = self._parent(path)
            del folder.view[last]
            self._name(folder, ("remove", last))
        elif name in ("mkdir", "mkdirat"):
            path = self._path(arguments[1] if name == "mkdirat" else arguments[0], strings)
            if self._inside(path) is None:
                return
            folder, last = self._parent(path)
            inode = Inode(is_folder=True)
            inode.view = {}
            folder.view[last] = inode
            self._name(folder, ("set", last, inode))
        elif name == "mmap":
            number = int(arguments[4]) if len(arguments) > 4 else -1
            if "MAP_SHARED" in text and "PROT_WRITE" in text and number in self.files:
                # SQLite's index of its log, which it makes anew after a crash, is written so; nothing else may be.
                inode = self.files[number]
                names = [n for n, i in self._everything(self.top) if i is inode]
                if not all(n.endswith("-shm") for n in names):
                    raise ValueError(f"{names} is written through a mapping, which is not followed")
        elif name in ("sync", "syncfs"):
            self._sync_all(self.top)
        elif name in ("copy_file_range", "sendfile", "splice"):
            target = int(arguments[2] if name != "sendfile" else arguments[0])
            if target in self.files:
                raise ValueError(f"{name} writes a file, which is not followed")
        elif name in ("symlink", "symlinkat", "truncate"):
            path = self._path([a for a in arguments if a.startswith("\x00")][-1], strings)
            if self._inside(path) is not None:
                raise ValueError(f"{name} is not followed")

    def _everything(self, folder, prefix=""):
        for name, inode in folder.view.items():
            yield prefix + name, inode
            if inode.is_folder:
                yield from self._everything(inode, prefix + name + "/")

    def _change(self, name, number, inode, arguments, strings, call):
        position, appends, reads = self.positions[number]
        if name == "lseek":
            self.positions[number][0] = call.result
        elif name in ("fsync", "fdatasync"):
            self._sync(inode, call.begin)
        elif name == "ftruncate":
            inode.pending.append((self.index, "size", int(arguments[1])))
            inode.size = int(arguments[1])
            self.changes += 1
        elif name == "fallocate":
            end = int(arguments[2]) + int(arguments[3])
            if "KEEP_SIZE" not in arguments[1] and end > inode.size:
                inode.pending.append((self.index, "size", end))
                inode.size = end
            self.changes += 1
        else:
            data = b"".join(strings)[:call.result]
            if name.startswith("pwrite"):
                offset = int(arguments[-1])
            else:
                offset = inode.size if appends else position
                self.positions[number][0] = offset + len(data)
            inode.pending.append((self.index, "write", offset, data, call.end))
            inode.size = max(inode.size, offset + len(data))
            self.changes += 1

    # --- What is on the disk ---

    def _sync(self, inode, time):
        """Only what ended before the call began is sure to be on the disk."""
        if inode.is_folder:
            for change in inode.pending:
                self._apply_name(inode, change, sure=True)
            inode.pending = []
            return
        later = [c for c in inode.pending if c[1] == "write" and c[4] > time]
        for change in inode.pending:
            if change not in later:
                self._apply_data(inode.content, change)
        inode.pending = later

    def _sync_all(self, inode):
        self._sync(inode, float("inf"))
        if inode.is_folder:
            for child in inode.view.values():
                self._sync_all(child)

    @staticmethod
    def _apply_data(content, change):
        if change[1] == "size":
            size = change[2]
            if size < len(content):
                del content[size:]
            else:
                content.extend(bytes(size - len(content)))
        else:
            _, _, offset, data, _ = change
            if offset > len(content):
                content.extend(bytes(offset - len(content)))
            content[offset:offset + len(data)] = data

    @staticmethod
    def _apply_name(folder, change, sure=False, names=None):
        """A change of a folder's names, on the disk's (`names`: by folder)."""
        get = (lambda f: f.names) if names is None else (lambda f: names[id(f)])
        if change[1] == "set":
            get(folder)[change[2]] = change[3]
        elif change[1] == "remove":
            get(folder).pop(change[2], None)
        else:
            _, _, source, a, target, b, inode = change
            if get(source).get(a) is inode:
                del get(source)[a]
            get(target)[b] = inode
            if sure:
                # The other folder's half came to the disk with this one.
                other, name = (source, a) if folder is target else (target, b)
                if other is not folder:
                    other.pending = [c for c in other.pending if c[0] > change[0] or name not in Disk._touched(other, c)]

    @staticmethod
    def _touched(folder, change):
        if change[1] != "move":
            return [change[2]]
        return [name for place, name in ((change[2], change[3]), (change[4], change[5])) if place is folder]

    def image(self, target, choose):
        """Writes what may be left into the folder `target`.

        `choose`: a `random.Random`; `None` keeps everything.
        """
        share = choose.choice([0, 0.1, 0.5, 0.9, 1]) if choose else 1
        names, kept = {}, {}
        folders = []

        def gather(folder):
            names[id(folder)] = dict(folder.names)
            folders.append(folder)
            for child in {id(c): c for c in [*folder.names.values(), *folder.view.values()]}.values():
                if child.is_folder and id(child) not in names:
                    gather(child)

        gather(self.top)
        changes = {}
        for folder in folders:
            for change in folder.pending:
                changes[change[0]] = (folder, change)
        for index in sorted(changes):
            folder, change = changes[index]
            if choose is None or choose.random() < share:
                if change[1] == "move":
                    for other in (change[2], change[4]):
                        if id(other) not in names:
                            gather(other)
                self._apply_name(folder, change, names=names)
        self._write(self.top, pathlib.Path(target), names, choose, share)

    def _write(self, folder, path, names, choose, share):
        # Modes are not followed: all is the owner's alone, as both programs make it.
        path.mkdir(mode=0o700)
        for name, inode in names.get(id(folder), {}).items():
            if inode.is_folder:
                self._write(inode, path / name, names, choose, share)
            else:
                (path / name).write_bytes(self._content(inode, choose, share))
                (path / name).chmod(0o600)

    def _content(self, inode, choose, share):
        content = bytearray(inode.content)
        for change in inode.pending:
            if change[1] == "size" or choose is None:
                if choose is None or choose.random() < share:
                    self._apply_data(content, change)
                continue
            _, _, offset, data, end = change
            position = offset
            while position < offset + len(data):
                stop = min((position // BLOCK + 1) * BLOCK, offset + len(data))
                if choose.random() < share:
                    self._apply_data(content, (0, "write", position, data[position - offset:stop - offset], end))
                position = stop
        return bytes(content)


def check_whole(disk, folder, scratch):
    """That the model has followed every call: with nothing lost it must have what the program left."""
    shutil.rmtree(scratch, ignore_errors=True)
    disk.image(scratch, None)
    different = subprocess.run(["diff", "-rq", "--exclude=*-shm", str(folder), str(scratch)], capture_output=True, text=True).stdout
    if different:
        raise ValueError(f"a change was not seen:\n{different[:1000]}")
    shutil.rmtree(scratch)
