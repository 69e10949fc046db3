"""A server that does to its clients whatever a broken or malicious exporter might; one behaviour per path.

Raw sockets on 127.0.0.1, port 0, a thread per connection. `Hostile.BEHAVIOURS` names them all; each takes (send, request) and
may block until the client hangs up: send() raises then, or when the server ends. `Apart` runs one in a process of its own, whose
busy threads slow down nothing of the test.
"""
import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import zlib

TYPE = b'Content-Type: text/plain; version=0.0.4\r\n'


def head(more=b'', status=b'200 OK'):
    return b'HTTP/1.1 ' + status + b'\r\nConnection: close\r\n' + TYPE + more + b'\r\n'


def page(text, more=b''):
    return head(more) + text


def gzip_bomb(megabytes):
    """As a bomb is made: the same compressed megabyte again and again."""
    block = zlib.compressobj(9, zlib.DEFLATED, 31)
    out = block.compress(b'# ' + b'x' * 1000 + b'\n')
    for _ in range(megabytes):
        out += block.compress(b'\0' * (1 << 20))
    return out + block.flush()


def zstd_bomb():
    """A hand-made frame without content size: 8 MiB window, then run-length blocks of 128 KiB each, four bytes a block."""
    out = struct.pack('<I', 0xFD2FB528) + b'\x00' + bytes([(23 - 10) << 3])
    block = struct.pack('<I', (128 << 10) << 3 | 1 << 1)[:3] + b'x'
    return out + block * 80_000 + struct.pack('<I', 1)[:3]


class Hostile:
    """Serves for as long as the with-block lasts; counts the requests of each path."""

    def __init__(self):
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.address = '127.0.0.1:%d' % self.port
        self.ended = threading.Event()
        self.lock = threading.Lock()
        self.requests = {}  # path -> list of heads
        self.bombs = {'gzip': gzip_bomb(200), 'deflate': zlib.compress(b'\0' * (200 << 20)), 'zstd': zstd_bomb()}
        self.pages = {
            'endless': b''.join(b'endless_metric_with_a_name{n="%d"} 1\n' % i for i in range(30_000)),
            'manylabels': b'many_labels{' + b','.join(b'l%d="v"' % i for i in range(1_000_000)) + b'} 1\n',
            'millions': b''.join(b'm{i="%d"} 1\n' % i for i in range(3_000_000)),
        }
        self.other = None  # the address of another server, for redirects across hosts

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *exc):
        self.ended.set()
        self.listener.close()

    def accept(self):
        while not self.ended.is_set():
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client:
            try:
                client.settimeout(30)
                client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 256 << 10)
                request = b''
                while b'\r\n\r\n' not in request:
                    piece = client.recv(65536)
                    if not piece:
                        return
                    request += piece
                path = request.split(b' ', 2)[1].decode().split('?')[0]
                with self.lock:
                    self.requests.setdefault(path, []).append(request.decode('latin-1'))
                    count = len(self.requests[path])
                behaviour = getattr(self, 'do_' + path[1:], None)
                if behaviour is None:
                    client.sendall(head(b'Content-Length: 0\r\n', b'404 Not Found'))
                else:
                    behaviour(client, count)
            except OSError:
                pass

    def asked(self, path):
        with self.lock:
            return list(self.requests.get(path, []))

    @classmethod
    def behaviours(cls):
        return sorted(name[3:] for name in dir(cls) if name.startswith('do_'))

    # -- the healthy one
    def do_good(self, client, count):
        client.sendall(page(b'good %d\n' % count))

    # -- without end
    def do_endless(self, client, count):
        client.sendall(head())
        while not self.ended.is_set():
            client.sendall(self.pages['endless'])

    def do_drip(self, client, count):
        client.sendall(head())
        while not self.ended.wait(0.05):
            client.sendall(b'a')

    def do_dripheader(self, client, count):
        client.sendall(b'HTTP/1.1 200 OK\r\nX-Drip: ')
        while not self.ended.wait(0.05):
            client.sendall(b'a')

    def do_silent(self, client, count):
        self.ended.wait(20)

    def do_headerflood(self, client, count):
        client.sendall(b'HTTP/1.1 200 OK\r\n')
        line = b''.join(b'X-Flood-%d: %s\r\n' % (i, b'v' * 200) for i in range(1000))
        while not self.ended.is_set():
            client.sendall(line)

    def do_longheader(self, client, count):
        client.sendall(b'HTTP/1.1 200 OK\r\nX-Long: ')
        block = b'v' * (1 << 20)
        while not self.ended.is_set():
            client.sendall(block)

    def do_interims(self, client, count):
        block = b'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n' * 1000
        while not self.ended.is_set():
            client.sendall(block)

    def do_chunkextension(self, client, count):
        client.sendall(head(b'Transfer-Encoding: chunked\r\n') + b'5;')
        block = b'e' * (1 << 20)
        while not self.ended.is_set():
            client.sendall(block)

    # -- bombs
    def do_gzipbomb(self, client, count):
        client.sendall(page(self.bombs['gzip'], b'Content-Encoding: gzip\r\n'))

    def do_deflatebomb(self, client, count):
        client.sendall(page(self.bombs['deflate'], b'Content-Encoding: deflate\r\n'))

    def do_zstdbomb(self, client, count):
        client.sendall(page(self.bombs['zstd'], b'Content-Encoding: zstd\r\n'))

    def do_gzipingzip(self, client, count):
        client.sendall(page(gzip.compress(self.bombs['gzip']), b'Content-Encoding: gzip, gzip\r\n'))

    # -- lies
    def do_lying(self, client, count):
        client.sendall(page(b'a 1\n', b'Content-Length: 1000\r\n'))

    def do_hugelength(self, client, count):
        client.sendall(page(b'a 1\n', b'Content-Length: 9223372036854775807\r\n'))

    def do_overflowlength(self, client, count):
        client.sendall(page(b'a 1\n', b'Content-Length: 99999999999999999999999999\r\n'))

    def do_cut(self, client, count):
        client.sendall(page(b'5\r\na 1\nb\r\n', b'Transfer-Encoding: chunked\r\n'))

    def do_halfpage(self, client, count):
        client.sendall(page(b'a 1\nb{c="d', b'Content-Length: 10\r\n'))

    def do_reset(self, client, count):
        client.sendall(page(b'a 1\n' * 1000, b'Content-Length: 100000\r\n'))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))

    def do_chunkgarbage(self, client, count):
        client.sendall(page(b'zz\r\na 1\n\r\n0\r\n\r\n', b'Transfer-Encoding: chunked\r\n'))

    def do_chunkhuge(self, client, count):
        client.sendall(page(b'ffffffffffffffffff\r\na 1\n', b'Transfer-Encoding: chunked\r\n'))

    def do_xchunked(self, client, count):
        client.sendall(page(b'4\r\na 1\n\r\n0\r\n\r\n', b'Transfer-Encoding: xchunked\r\n'))

    def do_http09(self, client, count):
        client.sendall(b'a 1\nb 2\n')

    def do_badstatus(self, client, count):
        client.sendall(b'HTTP/1.1 99999 Odd\r\n\r\na 1\n')

    def do_brokengzip(self, client, count):
        client.sendall(page(b'this is no gzip', b'Content-Encoding: gzip\r\n'))

    def do_cutgzip(self, client, count):
        client.sendall(page(gzip.compress(b'a 1\n' * 1000)[:-20], b'Content-Encoding: gzip\r\n'))

    # -- elsewhere
    def redirect(self, client, location):
        client.sendall(b'HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: ' + location + b'\r\n\r\n')

    def do_loop(self, client, count):
        self.redirect(client, b'/loop')

    def do_tofile(self, client, count):
        self.redirect(client, b'file:///etc/passwd')

    def do_longredirect(self, client, count):
        self.redirect(client, b'/' + b'x' * 100_000)

    def do_elsewhere(self, client, count):
        self.redirect(client, ('http://%s/good' % self.other).encode())

    # -- pages
    def do_binary(self, client, count):
        client.sendall(page(b'\x7fELF\0\1\2\xff\xfe' + os.urandom(100_000)))

    def do_nul(self, client, count):
        client.sendall(page(b'a\0b 1\n'))

    def do_utf8(self, client, count):
        client.sendall(page(b'a{b="\xc3\x28"} 1\n'))

    def do_html(self, client, count):
        client.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n<html>log in</html>')

    def do_longline(self, client, count):
        client.sendall(page(b'a{b="' + b'x' * (16 << 20) + b'\n'))

    def do_line100mb(self, client, count):
        client.sendall(head() + b'a{b="')
        for _ in range(100):
            client.sendall(b'x' * (1 << 20))
        client.sendall(b'"} 1\n')

    def do_longvalue(self, client, count):
        client.sendall(page(b'long_value{v="' + b'x' * (1 << 20) + b'"} 1\nlong_value_after 1\n'))

    def do_manylabels(self, client, count):
        client.sendall(page(self.pages['manylabels']))

    def do_millions(self, client, count):
        client.sendall(head())
        client.sendall(self.pages['millions'])

    def do_churn(self, client, count):
        client.sendall(head() + b''.join(b'churn_%d_%d 1\n' % (count, i) for i in range(20_000)))

    def do_oddvalues(self, client, count):
        client.sendall(page(b'odd{k="nan"} NaN\nodd{k="inf"} +Inf\nodd{k="minus"} -Inf\nodd{k="small"} 4.9e-324\n'
                            b'odd{k="plain"} 1\n'))

    def do_oddtimes(self, client, count):
        client.sendall(page(b'year_one 1 -62135596800000\n'))

    def do_futuretimes(self, client, count):
        client.sendall(page(b'far_time 1 292277026596000\nlast_time 1 9223372036854775807\nfirst_time 1 1\ndecade 1 %d\nplain_time 1\n'
                            % int((time.time() + 10 * 365 * 86400) * 1000)))

    def do_overflowtime(self, client, count):
        client.sendall(page(b'overflow_time 1 99999999999999999999\n'))

    def do_duplicates(self, client, count):
        client.sendall(page(b'twice{a="b"} 1\n' + b'twice{a="b"} 2\n' * 50_000 + b'twice{a="c"} 1\n'))

    def do_openmetricscut(self, client, count):
        client.sendall(b'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/openmetrics-text; version=1.0.0\r\n\r\n'
                       b'# TYPE a counter\na_total 1\n')

    def do_hugecomment(self, client, count):
        client.sendall(page(b'# HELP a ' + b'h' * (8 << 20) + b'\n# TYPE a ' + b't' * (1 << 20) + b'\na 1\n'))

    def do_asked(self, client, count):
        """Not hostile: the heads of the requests so far, by path."""
        with self.lock:
            told = json.dumps(self.requests).encode()
        client.sendall(page(told))


class Apart:
    """A Hostile in a process of its own; `other` as there."""

    def __init__(self, other=''):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), other], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        self.address = self.process.stdout.readline().decode().strip()
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()  # it ends with its input
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def asked(self, path):
        host, port = self.address.split(':')
        with socket.create_connection((host, int(port)), timeout=30) as client:
            client.sendall(b'GET /asked HTTP/1.1\r\n\r\n')
            answer = b''.join(iter(lambda: client.recv(65536), b''))
        return json.loads(answer.split(b'\r\n\r\n', 1)[1]).get(path, [])


if __name__ == '__main__':
    with Hostile() as server:
        server.other = sys.argv[1]
        print(server.address, flush=True)
        sys.stdin.read()
    os._exit(0)  # without waiting for threads that are still sending
