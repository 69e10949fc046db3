"""What the rules differential scrapes: the benchmark kit's simulated exporters, and a page of faults for the metrics that
these do not have. Every page holds still for one slot, so that two servers that scrape at different moments see the same."""
import csv
import os
import re
import subprocess
import threading
import time
import zlib

from harness import ROOT, HttpService, Program, QuietHandler, free_port, get, wait_until

SHARED = os.environ.get('VAGT_SHARED', os.path.join(os.path.dirname(ROOT), 'shared'))
KINDS = ('gpu', 'node', 'vllm', 'cadvisor')
SLOT = 60
# A level is held for so many slots, so that what lasts five minutes happens as well as what lasts one.
HOLD = (1, 2, 3, 6)
GAUGE_LEVELS = (0, 1, 0, 2, 0.5, 100, 0, 3000)
# Slots between two steps of a counter. None divides the windows of five and ten minutes: where one step leaves a window as the
# next one enters it, the moment of the evaluation decides.
COUNTER_PERIODS = (3, 7, 4, 1000)
COUNTER_STEPS = (1, 40, 20000)
AGES = (60, 400, 1200, 4000)


def pick(choices, *key):
    return choices[zlib.crc32('/'.join(map(str, key)).encode()) % len(choices)]


class Faults:
    """Series for every metric that `rules` (text) names and `known` lacks, with the labels of metrics.tsv and values that
    are a function of name, labels and slot."""

    def __init__(self, rules, known, gpus):
        with open(os.path.join(SHARED, 'agent', 'metrics.tsv'), encoding='utf-8') as f:
            described = {row['name']: row for row in csv.DictReader(f, delimiter='\t')}
        named = set(re.findall(r'\b(?:vagt|node|ipmi|smartctl)_[a-z0-9A-Z_]+', rules)) - known
        self.metrics = {n: described.get(n, {'type': 'gauge', 'labels': ''}) for n in named}
        # Untyped ones too: what rate() is taken of counts.
        self.counting = {n for n in named if n.endswith('_total') or self.metrics[n]['type'] == 'counter'
                         or re.search(r'\b(rate|increase)\(%s\b' % n, rules)}
        self.matchers = {}
        for name, inside in re.findall(r'\b([a-z0-9A-Z_]+)\{([^}]*)\}', rules):
            for label, _, value in re.findall(r'(\w+)(=~|=)"([^"]*)"', inside.replace('\\"', '"')):
                self.matchers.setdefault((name, label), []).extend(v.replace('.*', '0') for v in value.split('|')[:3])
        self.gpus = gpus  # (UUID, pci_bus_id) of each host, so that joins with the simulation's series find them

    def label_sets(self, host, name):
        labels = self.metrics[name]['labels'].replace('GPU labels', 'gpu,UUID,pci_bus_id').split(',')
        sets = []
        for i in range(3):
            chosen = {}
            for label in filter(None, (re.sub(r'[^A-Za-z_].*', '', x.strip()) for x in labels)):
                values = self.matchers.get((name, label)) or {'device': ['eth0', 'eth1', 'nvme0n1'],
                                                               'UUID': [u for u, _ in self.gpus[host]],
                                                               'pci_bus_id': [p for _, p in self.gpus[host]]}.get(label, ['0', '1', '2'])
                chosen[label] = values[i % len(values)]
            if chosen not in sets:
                sets.append(chosen)
        return sets

    def value(self, slot, host, name, labels):
        key = (host, name, sorted(labels.items()))
        if name in self.counting:
            period = pick(COUNTER_PERIODS, *key)
            return pick(COUNTER_STEPS, *key, 'step') * ((slot + pick(range(period), *key, 'phase')) // period)
        stretch = slot // pick(HOLD, *key)
        if re.search('timestamp_seconds|boot_time', name):
            return stretch * pick(HOLD, *key) * SLOT - pick(AGES, *key, stretch)
        return pick(GAUGE_LEVELS, *key, stretch)

    def page(self, slot, host):
        lines = []
        for name in sorted(self.metrics):
            lines.append('# TYPE %s %s' % (name, 'counter' if name in self.counting else 'gauge'))
            for labels in self.label_sets(host, name):
                inside = ','.join('%s="%s"' % item for item in sorted(labels.items()))
                lines.append('%s{%s} %r' % (name, inside, self.value(slot, host, name, labels)))
        return '\n'.join(lines) + '\n'


class Simulation:
    """A context manager that serves /dcgm/HOST/metrics, all pages of a host in one, since rules that join two metrics must not
    see one of them a scrape later; and /vagt/HOST/metrics, which is down now and then. Empty pages until open()."""

    def __init__(self, folder, hosts, rules):
        build = os.path.join(folder, 'loadgen')
        os.makedirs(build)
        subprocess.run(['make', '-s', '-C', os.path.join(SHARED, 'bench'), 'BUILD=' + build], check=True)
        self.port = free_port()
        self.program = Program([os.path.join(build, 'loadgen'), 'serve', '--port', str(self.port)], os.path.join(folder, 'loadgen.log'))
        self.hosts = hosts
        self.lock = threading.Lock()
        self.pages = {}
        self.opened = False
        wait_until('the simulation', self.answers)
        known = set(re.findall(r'^([a-zA-Z_:][\w:]*)', self.simulated(hosts[0]), re.M))
        gpus = {host: re.findall(r'^DCGM_FI_DEV_GPU_TEMP\{.*UUID="([^"]+)",pci_bus_id="([^"]+)"', self.simulated(host), re.M)
                for host in hosts}
        self.faults = Faults(rules, known, gpus)
        outer = self

        class Handler(QuietHandler):
            def do_GET(self):
                self.answer(*outer.answer(*self.path.strip('/').split('/')[:2]))

        self.service = HttpService(Handler)

    def answers(self):
        try:
            return get('http://127.0.0.1:%d/stats' % self.port)
        except OSError:
            return None

    def simulated(self, host):
        return ''.join(get('http://127.0.0.1:%d/%s/%s/metrics' % (self.port, kind, host)) for kind in KINDS)

    def answer(self, job, host):
        slot = int(time.time() // SLOT)
        if not self.opened:
            return 200, ''
        if job == 'vagt':
            return (200, 'agent 1\n') if pick((1, 1, 0), host, slot // 2) else (503, '')
        with self.lock:
            if (host, slot) not in self.pages:
                self.pages = {key: page for key, page in self.pages.items() if key[1] == slot}
                self.pages[host, slot] = self.simulated(host) + self.faults.page(slot, host)
            return 200, self.pages[host, slot]

    def open(self):
        """From the next slot's begin on there is something to scrape; returns when that begins."""
        time.sleep(SLOT - time.time() % SLOT)
        self.opened = True

    def scrape_config(self):
        out = ['scrape_configs:']
        for job in ('dcgm', 'vagt'):
            for host in self.hosts:
                out.append('- {job_name: "%s %s", metrics_path: /%s/%s/metrics, static_configs: [{targets: ["%s"], '
                           'labels: {job: %s, instance: %s}}]}' % (job, host, job, host, self.service.address, job, host))
        return '\n'.join(out) + '\n'

    def __enter__(self):
        self.service.__enter__()
        return self

    def __exit__(self, *exc):
        self.service.__exit__(*exc)
        self.program.stop()
