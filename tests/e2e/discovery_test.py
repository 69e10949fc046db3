"""Discovery beyond scraping: Alertmanagers that come and go are found and paged, and vagtctl tells what a job would scrape as promtool does."""
import json
import os
import subprocess
import unittest

from harness import BIN, Capture, EndToEnd, Exporter, HttpService, QuietHandler, get, get_json, make_certificate, need, wait_until

PROMTOOL = '/usr/bin/promtool'

ALERTING = '''
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 200ms}
rule_files: [r.yml]
alerting:
  alertmanagers:
    - file_sd_configs: [{files: [ams.json]}]
      relabel_configs:
        - {source_labels: [ignored], regex: "yes", action: drop}
    - http_sd_configs: [{url: "http://%s/", refresh_interval: 1s}]
      path_prefix: /prefix
scrape_configs: [{job_name: x, static_configs: [{targets: ["%s"]}]}]
'''
RULES = 'groups: [{name: g, rules: [{alert: Hot, expr: "a == 1"}]}]\n'

JOBS = '''
scrape_configs:
  - job_name: gpu
    scrape_interval: 30s
    params: {module: [a b]}
    static_configs:
      - {targets: ["a:1", "b:1", "a:1"], labels: {rack: r1, __meta_thing: x}}
      - {targets: ["dropped:1"]}
    file_sd_configs: [{files: [%s]}]
    relabel_configs:
      - {source_labels: [__address__], regex: "dropped.*", action: drop}
      - {source_labels: [__meta_thing], target_label: thing}
      - {source_labels: [__address__], regex: "(.*):.*", target_label: instance}
  - {job_name: other, static_configs: [{targets: ["o:1"]}]}
'''


class Targets(HttpService):
    """Lists `targets` as http_sd_configs wants it."""

    def __init__(self):
        listed = self
        self.targets = []

        class Handler(QuietHandler):
            def do_GET(self):
                self.answer(200, json.dumps([{'targets': listed.targets}]), 'application/json')

        super().__init__(Handler)


class Discovery(EndToEnd):
    def ctl(self, *arguments):
        return subprocess.run([os.path.join(BIN, 'vagtctl'), *arguments], capture_output=True, text=True, timeout=60)

    def urls(self, daemon):
        return sorted(a['url'] for a in get_json(daemon.url + '/api/v1/alertmanagers')['data']['activeAlertmanagers'])

    def test_alertmanagers_come_and_go(self):
        first, second, third = (self.enter(Capture()) for _ in range(3))
        exporter, listed = self.enter(Exporter(lambda: 'a 1\n')), self.enter(Targets())
        daemon = self.vagtd(ALERTING % (listed.address, exporter.address), flags=['--rules.alert.resend-delay=1s'])
        daemon.write('r.yml', RULES)

        def say(*groups):
            # Replaced, as tools do it.
            os.rename(daemon.write('ams.new', json.dumps(groups)), os.path.join(daemon.folder, 'ams.json'))

        say({'targets': [first.address]}, {'targets': ['nowhere:1'], 'labels': {'ignored': 'yes'}})
        daemon.start()
        wait_until('the first hears of it', lambda: first.seen('/api/v2/alerts'))
        self.assertEqual(self.urls(daemon), ['http://%s/api/v2/alerts' % first.address])
        # Another appears, over HTTP, behind a prefix.
        listed.targets = [third.address]
        wait_until('the third hears of it', lambda: third.seen('/prefix/api/v2/alerts'))
        # One is replaced by another.
        say({'targets': [second.address]})
        wait_until('the second hears of it', lambda: second.seen('/api/v2/alerts'))
        self.assertNotIn('http://%s/api/v2/alerts' % first.address, self.urls(daemon))
        # A malformed file, a source that is down: the last ones go on to be paged.
        daemon.write('ams.json', '[{')
        listed.targets = {'no': 'list'}
        heard = len(second.seen()), len(third.seen())
        wait_until('both still hear', lambda: len(second.seen()) > heard[0] + 1 and len(third.seen()) > heard[1] + 1)
        # All vanish.
        say()
        listed.targets = []
        wait_until('there are none', lambda: not self.urls(daemon))
        wait_until('it says so', lambda: 'prometheus_notifications_alertmanagers_discovered 0\n' in get(daemon.url + '/metrics'))
        # And one is back.
        say({'targets': [first.address]})
        heard = len(first.seen())
        wait_until('the first hears again', lambda: len(first.seen()) > heard)

    def jobs(self):
        files = os.path.join(self.folder, 'targets.json')
        with open(files, 'w', encoding='utf-8') as f:
            json.dump([{'targets': ['c:1', 'd:1/path'], 'labels': {'rack': 'r2'}}], f)
        path = os.path.join(self.folder, 'prometheus.yml')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(JOBS % files)
        return path

    def test_check_service_discovery(self):
        done = self.ctl('check', 'service-discovery', self.jobs(), 'gpu')
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {t['discoveredLabels']['__address__']: t for t in json.loads(done.stdout)}
        self.assertEqual(sorted(found), ['a:1', 'b:1', 'c:1', 'd:1/path', 'dropped:1'])
        self.assertEqual(len(json.loads(done.stdout)), 5)  # a:1 once
        self.assertEqual(found['dropped:1']['labels'], {})
        self.assertIn('is not a valid hostname', found['d:1/path']['error'])
        self.assertEqual({k: found['a:1']['labels'][k] for k in ('instance', 'thing', 'rack', 'job')},
                         {'instance': 'a', 'thing': 'x', 'rack': 'r1', 'job': 'gpu'})
        self.assertNotIn('__meta_thing', found['a:1']['labels'])
        for arguments, says in ((('check', 'service-discovery', self.jobs(), 'none'), 'Job none not found. Select one of:\n\tgpu\n\tother\n'),
                                (('check', 'service-discovery', '/no/such.yml', 'gpu'), 'Cannot load config /no/such.yml')):
            done = self.ctl(*arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr)

    def test_a_source_that_does_not_answer_ends_with_the_timeout(self):
        silent = self.enter(Targets())
        silent.server.RequestHandlerClass.do_GET = lambda handler: handler.rfile.read(1)
        path = os.path.join(self.folder, 'p.yml')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('scrape_configs: [{job_name: j, http_sd_configs: [{url: "http://%s/"}], static_configs: [{targets: ["s:1"]}]}]\n' % silent.address)
        done = self.ctl('check', 'service-discovery', '--timeout=1s', path, 'j')
        self.assertEqual(done.returncode, 0)
        self.assertIn('not every source answered within 1s', done.stderr)
        self.assertEqual(len(json.loads(done.stdout)), 1)

    @need(PROMTOOL)
    def test_as_promtool(self):
        path = self.jobs()
        with open(path, encoding='utf-8') as f:
            written = f.read().replace('    file_sd_configs:', '    #')  # promtool 2.42 panics over files
        with open(path, 'w', encoding='utf-8') as f:
            f.write(written)
        ours = json.loads(self.ctl('check', 'service-discovery', path, 'gpu').stdout)
        theirs = json.loads(subprocess.run([PROMTOOL, 'check', 'service-discovery', '--timeout=2s', path, 'gpu'],
                                           capture_output=True, text=True, check=True, timeout=60).stdout)

        def comparable(targets):
            return sorted(json.dumps([t['discoveredLabels'], t['labels']], sort_keys=True) for t in targets)

        self.assertEqual(comparable(ours), comparable(theirs))
        self.assertEqual(len(ours), 3)

    def test_check_web_config(self):
        cert, key = make_certificate(self.folder)
        good, bad, missing = (os.path.join(self.folder, name) for name in ('good.yml', 'bad.yml', 'missing.yml'))
        for path, text in ((good, 'tls_server_config: {cert_file: %s, key_file: %s}\n' % (cert, key)), (bad, 'tls_server_confg: {}\n'),
                           (missing, 'tls_server_config: {cert_file: /no/cert.pem, key_file: /no/key.pem}\n')):
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
        done = self.ctl('check', 'web-config', good)
        self.assertEqual((done.returncode, done.stderr), (0, good + ' SUCCESS\n'))
        done = self.ctl('check', 'web-config', good, bad, missing)
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertEqual(lines[0], good + ' SUCCESS')
        self.assertTrue(lines[1].startswith(bad + ' FAILED: ') and 'tls_server_config' in lines[1], lines[1])
        self.assertTrue(lines[2].startswith(missing + ' FAILED: ') and '/no/cert.pem' in lines[2], lines[2])


if __name__ == '__main__':
    unittest.main(verbosity=2)
