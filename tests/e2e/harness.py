"""What the end-to-end tests share: the real programs on loopback, a scripted exporter, receivers that record what reaches them.

Every server binds port 0 on 127.0.0.1; every wait is bounded and says what it waited for.
"""
import base64
import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get('VAGT_BIN', os.path.join(ROOT, 'build', 'release', 'bin'))
# Sanitizer builds are slower: all bounds grow with it.
PATIENCE = float(os.environ.get('VAGT_E2E_PATIENCE', '1'))


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def wait_until(what, check, seconds=20):
    """Returns check()'s first true value; fails with `what` when there is none in time."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError('not within %g s: %s' % (seconds * PATIENCE, what))
        time.sleep(0.05)


def get(url, data=None, headers=None, method=None):
    request = urllib.request.Request(url, data=data, headers=headers or {}, method=method)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def get_json(url, **kwargs):
    return json.loads(get(url, **kwargs))


class QuietHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self, status, body, content_type='text/plain; version=0.0.4'):
        data = body.encode()
        self.send_response(status)
        self.send_header('Content-Type', content_type)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked was killed
            self.wfile.write(data)


class HttpService:
    """A threaded HTTP server on loopback, for as long as the with-block lasts."""

    def __init__(self, handler):
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.address = '127.0.0.1:%d' % self.port
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()


class Exporter(HttpService):
    """Serves `page()` at /metrics; the test changes what it says."""

    def __init__(self, page):
        exporter = self
        self.page = page
        self.scrapes = 0

        class Handler(QuietHandler):
            def do_GET(self):
                exporter.scrapes += 1
                self.answer(200, exporter.page())

        super().__init__(Handler)


class Capture(HttpService):
    """Records every request; `reply(path, body)` chooses (status, text)."""

    def __init__(self, reply=None):
        capture = self
        self.lock = threading.Lock()
        self.requests = []
        self.reply = reply or (lambda path, body: (200, 'ok'))

        class Handler(QuietHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length', 0))).decode()
                status, text = capture.reply(self.path, body)
                with capture.lock:
                    capture.requests.append({'path': self.path, 'body': body, 'status': status, 'at': time.time(),
                                             'headers': {k.lower(): v for k, v in self.headers.items()}})
                self.answer(status, text)

        super().__init__(Handler)

    def seen(self, path='', accepted=True):
        with self.lock:
            return [r for r in self.requests if r['path'].startswith(path) and (not accepted or r['status'] < 300)]


def make_certificate(folder):
    """A self-signed certificate for localhost and 127.0.0.1: (certificate file, key file)."""
    cert, key = os.path.join(folder, 'cert.pem'), os.path.join(folder, 'key.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
                    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
                   check=True, capture_output=True)
    return cert, key


class MailServer:
    """aiosmtpd with STARTTLS and AUTH required; keeps (envelope, parsed message)."""
    USER, PASSWORD = 'vagt', 'correct horse'

    def __init__(self, folder):
        from aiosmtpd.controller import Controller
        from aiosmtpd.smtp import AuthResult
        self.cert, key = make_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, key)
        self.messages = []
        outer = self

        class Handler:
            async def handle_DATA(self, server, session, envelope):
                outer.messages.append(envelope)
                return '250 OK'

        def authenticate(server, session, envelope, mechanism, auth_data):
            good = auth_data.login == outer.USER.encode() and auth_data.password == outer.PASSWORD.encode()
            return AuthResult(success=good)

        self.controller = Controller(Handler(), hostname='127.0.0.1', port=free_port(), tls_context=context,
                                     require_starttls=True, auth_required=True, authenticator=authenticate)

    def __enter__(self):
        self.controller.start()
        self.port = self.controller.port
        return self

    def __exit__(self, *exc):
        self.controller.stop()

    def parsed(self):
        import email
        import email.policy
        return [email.message_from_bytes(e.content, policy=email.policy.default) for e in list(self.messages)]


class Program:
    """One of our programs (or a peer), its output kept in a file; never left running."""

    def __init__(self, arguments, log, env=None):
        self.log_path = log
        self.log = open(log, 'ab')
        self.process = subprocess.Popen(arguments, stdout=self.log, stderr=subprocess.STDOUT, env=env)

    def output(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as f:
            return f.read()

    def kill9(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self, seconds=15):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(seconds * PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill9()
                raise AssertionError('did not stop within %g s of SIGTERM:\n%s' % (seconds, self.output()[-2000:]))
        self.log.close()
        return self.process.returncode


class Vagtd:
    """vagtd with a folder of its own; start() after kill9() goes on with the same data and port."""

    def __init__(self, folder, prometheus_yml=None, alertmanager_yml=None, flags=()):
        self.folder = folder
        self.port = free_port()
        self.url = 'http://127.0.0.1:%d' % self.port
        self.flags = ['--web.listen-address=127.0.0.1:%d' % self.port, '--storage.tsdb.path=' + os.path.join(folder, 'data'),
                      *flags]
        if prometheus_yml is not None:
            self.flags.append('--config.file=' + self.write('prometheus.yml', prometheus_yml))
        if alertmanager_yml is not None:
            self.flags.append('--alertmanager.config=' + self.write('alertmanager.yml', alertmanager_yml))
        self.program = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def start(self, ready=True):
        self.program = Program([os.path.join(BIN, 'vagtd'), *self.flags], os.path.join(self.folder, 'vagtd.log'))
        if ready:
            wait_until('vagtd ready', self.ready, 20)
        return self

    def ready(self):
        if self.program.process.poll() is not None:
            raise AssertionError('vagtd ended with %s:\n%s' % (self.program.process.returncode, self.program.output()[-3000:]))
        with contextlib.suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            return get(self.url + '/-/ready')

    def kill9(self):
        self.program.kill9()

    def stop(self):
        if self.program is not None:
            return self.program.stop()

    def query(self, expr):
        answer = get_json(self.url + '/api/v1/query?' + urllib.parse.urlencode({'query': expr}))
        return answer['data']['result']

    def value(self, expr):
        result = self.query(expr)
        return float(result[0]['value'][1]) if result else None


class EndToEnd(unittest.TestCase):
    """A scratch folder, programs stopped at the end, logs shown on failure."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='vagt-e2e-')
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.daemons = []
        self.addCleanup(self.show_logs)

    def enter(self, service):
        return self.stack.enter_context(service)

    def vagtd(self, *args, **kwargs):
        folder = os.path.join(self.folder, 'vagtd%d' % len(self.daemons))
        os.makedirs(folder)
        daemon = Vagtd(folder, *args, **kwargs)
        self.daemons.append(daemon)
        self.stack.callback(daemon.stop)
        return daemon

    def show_logs(self):
        outcome = self._outcome
        errors = getattr(outcome, 'errors', None) or getattr(getattr(outcome, 'result', None), 'errors', []) \
            or getattr(getattr(outcome, 'result', None), 'failures', [])
        if any(error for _, error in errors):
            for daemon in self.daemons:
                if daemon.program is not None:
                    print('--- %s\n%s' % (daemon.folder, daemon.program.output()[-6000:]))


def need(path):
    """Skips, saying what is missing, unless `path` (a peer's program) is installed."""
    return unittest.skipUnless(os.path.exists(path), '%s is not installed' % path)
