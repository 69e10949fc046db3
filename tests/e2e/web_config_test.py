"""vagtd behind TLS and a password, and the two changing while it runs."""
import base64
import os
import ssl
import subprocess
import unittest
import urllib.error
import urllib.request
import warnings

from harness import EndToEnd, make_certificate, need, wait_until

with warnings.catch_warnings():
    warnings.simplefilter('ignore', DeprecationWarning)
    try:
        import crypt
    except ImportError:  # gone in Python 3.13
        crypt = None


def bcrypt(password):
    return crypt.crypt(password, crypt.mksalt(crypt.METHOD_BLOWFISH, rounds=16))


class WebConfig(EndToEnd):
    def get(self, path, certificate, password=None):
        """The status; None when there is no answer."""
        context = ssl.create_default_context(cafile=certificate)
        request = urllib.request.Request('https://localhost:%d%s' % (self.daemon.port, path))
        if password is not None:
            request.add_header('Authorization', 'Basic ' + base64.b64encode(('ann:' + password).encode()).decode())
        try:
            with urllib.request.urlopen(request, timeout=5, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return None

    def configure(self, password, certificate, key):
        return self.daemon.write('web.yml', 'tls_server_config: {cert_file: %s, key_file: %s}\nbasic_auth_users: {ann: "%s"}\n'
                                 % (certificate, key, bcrypt(password)))

    @unittest.skipUnless(crypt, 'this Python has no crypt module')
    @need('/usr/bin/openssl')
    def test_life(self):
        first, second = os.path.join(self.folder, 'first'), os.path.join(self.folder, 'second')
        os.makedirs(first)
        os.makedirs(second)
        certificate, key = make_certificate(first)
        self.daemon = self.vagtd('scrape_configs: []\n')
        self.daemon.flags.append('--web.config.file=' + self.configure('one', certificate, key))
        self.daemon.start(ready=False)
        wait_until('ready over TLS', lambda: self.get('/-/ready', certificate, 'one') == 200, 30)
        self.assertEqual(self.get('/api/v1/query?query=1', certificate), 401)
        self.assertEqual(self.get('/api/v1/query?query=1', certificate, 'two'), 401)
        self.assertEqual(self.get('/api/v1/query?query=1', certificate, 'one'), 200)
        with self.assertRaises(OSError):
            urllib.request.urlopen(self.daemon.url + '/-/ready', timeout=5)
        other, other_key = make_certificate(second)
        self.configure('two', other, other_key)
        wait_until('the new certificate and password', lambda: self.get('/-/ready', other, 'two') == 200, 20)
        self.assertIsNone(self.get('/-/ready', certificate, 'two'))
        self.assertEqual(self.get('/-/ready', other, 'one'), 401)

    def test_a_bad_file_is_no_start(self):
        self.daemon = self.vagtd('scrape_configs: []\n')
        self.daemon.flags.append('--web.config.file=' + self.daemon.write('web.yml', 'basic_auth_users: {ann: plain}\n'))
        self.daemon.start(ready=False)
        self.assertNotEqual(self.daemon.program.process.wait(30), 0)
        self.assertIn('web.yml:1:', self.daemon.program.output())
        self.assertIn('no bcrypt hash', self.daemon.program.output())


if __name__ == '__main__':
    unittest.main(verbosity=2)
