"""A static host: the files of a folder, with parts of files (RFC 9110, section 14), and nothing else.

    python3 scripts/services/static_host.py FOLDER PORT
"""
import functools
import http.server
import os
import re
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def send_head(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = self.translate_path(self.path)
        if not wanted or not os.path.isfile(path):
            return super().send_head()
        size = os.path.getsize(path)
        first, last = int(wanted[1]), min(int(wanted[2] or size), size - 1)
        if first > last:
            self.send_error(416)
            return None
        file = open(path, "rb")
        file.seek(first)
        self.rest = last - first + 1
        self.send_response(206)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(self.rest))
        self.end_headers()
        return file

    rest = None

    def copyfile(self, source, output):
        if self.rest is None:
            super().copyfile(source, output)
        else:
            output.write(source.read(self.rest))
            self.rest = None


folder, port = sys.argv[1], int(sys.argv[2])
server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=folder))
print(f"Serving {folder}", flush=True)
server.serve_forever()
