"""Real exporters from Debian, scraped by the real Prometheus and by vagtd at the same time: the same series, values that stand
still, `up` and metadata. VAGT_E2E_SCRAPE_SECONDS says for how long (two minutes for the full run)."""
import collections
import json
import os
import shutil
import socket
import subprocess
import textwrap
import time
import unittest
import urllib.parse

from harness import EndToEnd, HttpService, Program, QuietHandler, free_port, get, get_json, need, wait_until

SECONDS = int(os.environ.get('VAGT_E2E_SCRAPE_SECONDS', '20'))
CLIENT = '''
import sys, time
from prometheus_client import CollectorRegistry, Counter, Enum, Gauge, Histogram, Info, Summary
from prometheus_client.exposition import make_wsgi_app
from wsgiref.simple_server import WSGIRequestHandler, make_server
r = CollectorRegistry()
Counter('jobs', 'Jobs \\\\ done\\nso far', ['queue'], registry=r).labels('a "b"\\\\c').inc(3)
Gauge('temp_celsius', 'Temperature', unit='celsius', registry=r).set(-1.5e-7)
h = Histogram('wait_seconds', 'Wait', buckets=(1, 2.5, 10), registry=r)
for v in (0.5, 2, 3, 50): h.observe(v, {'trace_id': 'abc'})
Summary('size_bytes', 'Size', registry=r).observe(7)
Info('build', 'Build', registry=r).info({'version': '1.2'})
Enum('state', 'State', states=['up', 'down'], registry=r).state('down')
Gauge('nan', 'NaN', registry=r).set(float('nan')); Gauge('inf', 'Inf', registry=r).set(float('inf'))
class Quiet(WSGIRequestHandler):
    def log_message(self, *a): pass
app = make_wsgi_app(r)
def text(env, start):
    env.pop('HTTP_ACCEPT', None)
    return app(env, start)
make_server('127.0.0.1', int(sys.argv[1]), text if sys.argv[2] == 'text' else app, handler_class=Quiet).serve_forever()
'''


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(('127.0.0.1', port)) == 0


class Exporters(EndToEnd):
    def start_program(self, name, port, *arguments):
        program = Program(list(arguments), os.path.join(self.folder, name + '.log'))
        self.stack.callback(program.stop)
        wait_until('%s listens' % name, lambda: is_open(port) or program.process.poll() is not None, 20)
        self.assertIsNone(program.process.poll(), '%s ended:\n%s' % (name, program.output()[-1500:]))
        return '127.0.0.1:%d' % port

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(textwrap.dedent(text))
        return path

    # Each starts one exporter, and the server it watches, and returns its job.

    def node(self):
        port = free_port()
        return {'static_configs': [{'targets': [self.start_program(
            'node', port, '/usr/bin/prometheus-node-exporter', '--web.listen-address=127.0.0.1:%d' % port)]}]}

    def process(self):
        port = free_port()
        # Processes of our own: those of the machine come and go between one program's scrape and the other's.
        for _ in range(2):
            self.stack.callback(Program(['/bin/sleep', '3600'], os.path.join(self.folder, 'still.log')).stop)
        config = self.write('process.yml', "process_names:\n- {comm: [sleep], cmdline: ['sleep']}\n")
        return {'scrape_interval': '5s', 'scrape_timeout': '5s', 'static_configs': [{'targets': [self.start_program(
            'process', port, '/usr/bin/prometheus-process-exporter', '--web.listen-address=127.0.0.1:%d' % port,
            '--config.path=' + config, '-threads=false')]}]}

    def pushgateway(self):
        port = free_port()
        address = self.start_program('pushgateway', port, '/usr/bin/prometheus-pushgateway',
                                     '--web.listen-address=127.0.0.1:%d' % port)
        get('http://%s/metrics/job/backup/instance/db1' % address, data=b'# TYPE last_success gauge\nlast_success 1.7e9\n')
        return {'honor_labels': True, 'static_configs': [{'targets': [address]}]}

    def blackbox(self):
        class Site(QuietHandler):
            def do_GET(self):
                self.answer(200, 'fine', 'text/html')

        site = self.enter(HttpService(Site))
        port = free_port()
        config = self.write('blackbox.yml', 'modules:\n  http_2xx: {prober: http}\n  tcp: {prober: tcp}\n')
        address = self.start_program('blackbox', port, '/usr/bin/prometheus-blackbox-exporter',
                                     '--web.listen-address=127.0.0.1:%d' % port, '--config.file=' + config)
        return {'metrics_path': '/probe', 'params': {'module': ['http_2xx']},
                'static_configs': [{'targets': [site.address, '127.0.0.1:1']}],
                'relabel_configs': [{'source_labels': ['__address__'], 'target_label': '__param_target'},
                                    {'source_labels': ['__param_target'], 'target_label': 'instance'},
                                    {'target_label': '__address__', 'replacement': address}]}

    def redis(self):
        server, port = free_port(), free_port()
        self.start_program('redis-server', server, '/usr/bin/redis-server', '--port', str(server), '--bind', '127.0.0.1', '--save', '',
                           '--dir', self.folder)
        return {'static_configs': [{'targets': [self.start_program(
            'redis', port, '/usr/bin/prometheus-redis-exporter', '-redis.addr=redis://127.0.0.1:%d' % server,
            '-web.listen-address=127.0.0.1:%d' % port)]}]}

    def nginx(self):
        server, port = free_port(), free_port()
        config = self.write('nginx.conf', '''
            daemon off; pid %(dir)s/nginx.pid; error_log %(dir)s/nginx.error.log; worker_processes 1; user root;
            events {}
            http { access_log off; client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p; fastcgi_temp_path %(dir)s/f;
              uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
              server { listen 127.0.0.1:%(port)d; location /stub_status { stub_status; } } }
            ''' % {'dir': self.folder, 'port': server})
        self.start_program('nginx-server', server, '/usr/sbin/nginx', '-c', config)
        return {'static_configs': [{'targets': [self.start_program(
            'nginx', port, '/usr/bin/prometheus-nginx-exporter', '-nginx.scrape-uri=http://127.0.0.1:%d/stub_status' % server,
            '-web.listen-address=127.0.0.1:%d' % port)]}]}

    def apache(self):
        server, port = free_port(), free_port()
        config = self.write('apache.conf', '''
            ServerRoot /usr/lib/apache2
            ServerName localhost
            Listen 127.0.0.1:%(port)d
            PidFile %(dir)s/apache.pid
            ErrorLog %(dir)s/apache.error.log
            LoadModule mpm_event_module modules/mod_mpm_event.so
            LoadModule authz_core_module modules/mod_authz_core.so
            LoadModule status_module modules/mod_status.so
            User www-data
            ExtendedStatus On
            <Location /server-status>
              SetHandler server-status
            </Location>
            ''' % {'dir': self.folder, 'port': server})
        self.start_program('apache-server', server, '/usr/sbin/apache2', '-f', config, '-DFOREGROUND')
        return {'static_configs': [{'targets': [self.start_program(
            'apache', port, '/usr/bin/prometheus-apache-exporter', '--scrape_uri=http://127.0.0.1:%d/server-status?auto' % server,
            '--telemetry.endpoint=/metrics', '--telemetry.address=127.0.0.1:%d' % port)]}]}

    def haproxy(self):
        stats, port = free_port(), free_port()
        config = self.write('haproxy.cfg', '''
            defaults
              mode http
              timeout client 5s
              timeout server 5s
              timeout connect 5s
            frontend stats
              bind 127.0.0.1:%d
              stats enable
              stats uri /
            backend app
              server s1 127.0.0.1:1 check
            ''' % stats)
        self.start_program('haproxy-server', stats, '/usr/sbin/haproxy', '-f', config, '-db')
        return {'static_configs': [{'targets': [self.start_program(
            'haproxy', port, '/usr/bin/prometheus-haproxy-exporter', '--haproxy.scrape-uri=http://127.0.0.1:%d/;csv' % stats,
            '--web.listen-address=127.0.0.1:%d' % port)]}]}

    def client(self, name, form):
        port = free_port()
        address = self.start_program(name, port, '/usr/bin/python3', self.write(name + '.py', CLIENT), str(port), form)
        return {'static_configs': [{'targets': [address]}]}

    def python_openmetrics(self):
        return self.client('python_openmetrics', 'openmetrics')

    def python_text(self):
        return self.client('python_text', 'text')

    def ipmi(self):
        bmc, port = free_port(), free_port()
        lan = self.write('lan.conf', '''
            name "bmc"
            set_working_mc 0x20
            startlan 1
              addr 127.0.0.1 %d
              priv_limit admin
              allowed_auths_callback none md2 md5 straight
              allowed_auths_user none md2 md5 straight
              allowed_auths_operator none md2 md5 straight
              allowed_auths_admin none md2 md5 straight
              guid a123456789abcdefa123456789abcdef
            endlan
            user 1 true "" "test" user 10 none md2 md5 straight
            user 2 true "ipmiusr" "test" admin 10 none md2 md5 straight
            ''' % bmc)
        emu = self.write('ipmi.emu', '''
            mc_setbmc 0x20
            mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
            sel_enable 0x20 1000 0x0a
            sensor_add 0x20 0 1 1 1
            sensor_set_value 0x20 0 1 0x60 0
            mc_enable 0x20
            ''')
        program = Program(['/usr/bin/ipmi_sim', '-c', lan, '-f', emu, '-s', self.folder, '-n'], os.path.join(self.folder, 'ipmi_sim.log'))
        self.stack.callback(program.kill9)
        config = self.write('ipmi.yml', '''
            modules:
              default:
                user: ipmiusr
                pass: test
                driver: LAN
                timeout: 2000
                privilege: admin
                collectors: [bmc, chassis]
            ''')
        address = self.start_program('ipmi', port, '/usr/bin/prometheus-ipmi-exporter', '--config.file=' + config,
                                     '--web.listen-address=127.0.0.1:%d' % port)
        return {'metrics_path': '/ipmi', 'static_configs': [{'targets': ['127.0.0.1:%d' % bmc]}], 'scrape_interval': '5s',
                'scrape_timeout': '5s',
                'relabel_configs': [{'source_labels': ['__address__'], 'target_label': '__param_target'},
                                    {'target_label': '__address__', 'replacement': address}]}

    EXPORTERS = [('node', 'prometheus-node-exporter'), ('process', 'prometheus-process-exporter'),
                 ('pushgateway', 'prometheus-pushgateway'), ('blackbox', 'prometheus-blackbox-exporter'),
                 ('redis', 'prometheus-redis-exporter'), ('nginx', 'prometheus-nginx-exporter'),
                 ('apache', 'prometheus-apache-exporter'), ('haproxy', 'prometheus-haproxy-exporter'),
                 ('python_openmetrics', 'python3'), ('python_text', 'python3'), ('ipmi', 'prometheus-ipmi-exporter')]

    def jobs(self):
        jobs, missing = [], []
        for name, program in self.EXPORTERS:
            found = shutil.which(program) and (not name.startswith('python_') or subprocess.run(
                ['/usr/bin/python3', '-c', 'import prometheus_client'], capture_output=True, check=False).returncode == 0)
            needed = {'redis': 'redis-server', 'nginx': '/usr/sbin/nginx', 'apache': '/usr/sbin/apache2',
                      'haproxy': '/usr/sbin/haproxy', 'ipmi': 'ipmi_sim'}.get(name)
            if not found or (needed and not shutil.which(needed)):
                missing.append(name)
                continue
            jobs.append({'job_name': name, 'scrape_interval': '2s', 'scrape_timeout': '2s', **getattr(self, name)()})
        if missing:
            print('NOT INSTALLED, left out: ' + ', '.join(missing))
        return jobs

    @staticmethod
    def series_of(url, job, at, seconds):
        """{series: [values]} of a job's series in the window; `le` and `quantile` as numbers, since 3.x spells them its own way."""
        query = {'query': '{job="%s"}[%ds]' % (job, seconds)}
        if job == 'pushgateway':
            query['query'] = '{job=~"pushgateway|backup"}[%ds]' % seconds
        answer = get_json(url + '/api/v1/query?' + urllib.parse.urlencode({**query, 'time': at}))
        found = {}
        for series in answer['data']['result']:
            labels = dict(series['metric'])
            for name in ('le', 'quantile'):
                if name in labels:
                    labels[name] = repr(float(labels[name]))
            # Numbers: 3.x and 2.42 spell exponents in different ways.
            found[tuple(sorted(labels.items()))] = [repr(float(value)) for _, value in series['values']]
        return found

    def compare_job(self, ours, peer, job, at):
        """Returns (series, values compared)."""
        window = max(SECONDS - 5, 5)
        want, got = self.series_of(peer, job, at, window), self.series_of(ours, job, at, window)
        comes_and_goes = {'scrape_duration_seconds'}
        # What a thread waits for is another thing at each scrape; proportional memory moves with every other process.
        passing = {'namedprocess_namegroup_threads_wchan', 'namedprocess_namegroup_memory_bytes'}
        # A process that lived for a scrape or two was seen by one of the two only.
        most = min(max(len(v) for v in found.values()) for found in (want, got) if found) - 1

        def steady(found):
            return {s for s, values in found.items()
                    if len(values) >= max(most, 2) and dict(s)['__name__'] not in passing}

        self.assertTrue(want, job)
        self.assertEqual(sorted(steady(want) - set(got)), [], 'only Prometheus has these of %s' % job)
        self.assertEqual(sorted(steady(got) - set(want)), [], 'only vagtd has these of %s' % job)
        compared = 0
        for series in steady(want) & steady(got):
            if dict(series)['__name__'] in comes_and_goes or len(set(want[series])) != 1 or len(set(got[series])) != 1:
                continue
            # A few more or less since the other was there is no difference of the programs: exporters count scrapes. What
            # the client in Python counts of its own stands still.
            name = dict(series)['__name__']
            counts_scrapes = name.endswith(('_total', '_count', '_sum', '_bucket')) and not name.startswith(('jobs_', 'wait_seconds_'))
            if counts_scrapes and want[series][0] != got[series][0]:
                continue
            self.assertEqual(got[series][0], want[series][0], str(series))
            compared += 1
        self.assertGreater(compared, 0, job)
        return len(want), compared

    @staticmethod
    def metadata_of(url, job):
        answer = get_json(url + '/api/v1/targets/metadata?' + urllib.parse.urlencode({'match_target': '{job="%s"}' % job}))
        return {(m['metric'], m['type'], m['help'], m['unit']) for m in answer['data']}

    @staticmethod
    def exemplars_of(url):
        """[(bucket, labels, value)] of the client's histogram, each once: Prometheus 2.42 keeps one that stays on the page with
        every scrape's time, when it has none of its own."""
        answer = get_json(url + '/api/v1/query_exemplars?' + urllib.parse.urlencode(
            {'query': 'rate(wait_seconds_bucket{job="python_openmetrics"}[1m])', 'start': time.time() - 600, 'end': time.time()}))
        return sorted({(float(row['seriesLabels']['le']), tuple(sorted(e['labels'].items())), float(e['value']))
                       for row in answer['data'] for e in row['exemplars']})

    @need('/usr/bin/prometheus')
    def test_beside_prometheus(self):
        jobs = self.jobs()
        self.assertGreaterEqual(len(jobs), 1)
        text = json.dumps({'scrape_configs': jobs})  # YAML's subset
        daemon = self.vagtd(text).start()
        port = free_port()
        peer_url = 'http://127.0.0.1:%d' % port
        peer = Program(['/usr/bin/prometheus', '--config.file=' + os.path.join(daemon.folder, 'prometheus.yml'),
                        '--storage.tsdb.path=' + os.path.join(self.folder, 'peer'), '--web.listen-address=127.0.0.1:%d' % port,
                        '--enable-feature=exemplar-storage'], os.path.join(self.folder, 'peer.log'))
        self.stack.callback(peer.stop)

        def ready():
            try:
                return get(peer_url + '/-/ready')
            except OSError:
                return False

        wait_until('prometheus ready', ready, 30)
        names = [job['job_name'] for job in jobs]
        for url in (peer_url, daemon.url):
            wait_until('all targets scraped by %s' % url, lambda: all(
                t['health'] != 'unknown' for t in get_json(url + '/api/v1/targets')['data']['activeTargets']), 30)
        time.sleep(SECONDS)
        at = time.time() - 1
        health = [{t['labels']['instance'] + t['scrapePool']: t['health'] for t in get_json(url + '/api/v1/targets')['data']['activeTargets']}
                  for url in (peer_url, daemon.url)]
        self.assertEqual(health[1], health[0])
        totals = collections.Counter()
        for job in names:
            series, compared = self.compare_job(daemon.url, peer_url, job, at)
            want, got = self.metadata_of(peer_url, job), self.metadata_of(daemon.url, job)
            self.assertEqual(sorted(want ^ got), [], 'metadata of %s' % job)
            print('%-20s %5d series, %5d steady values, %4d families agree' % (job, series, compared, len(want)))
            totals.update(series=series, values=compared)
        if 'python_openmetrics' in names:
            want, got = self.exemplars_of(peer_url), self.exemplars_of(daemon.url)
            self.assertTrue(want)
            self.assertEqual(got, want)
            print('%d exemplars agree' % len(want))
        print('%d exporters: %d series, %d values' % (len(names), totals['series'], totals['values']))


if __name__ == '__main__':
    unittest.main(verbosity=2)
