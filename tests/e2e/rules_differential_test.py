"""The real Prometheus and vagtd evaluate the documented rules, those recommended for the agent, the same with clocks ten times
as fast, and 50 recording rules over the same simulated servers, and send to a real Alertmanager each: the same alerts since
the same time, the same recorded series, the same messages.

Needs the folder of shared test data (VAGT_SHARED, or ../shared beside the source) and Debian's prometheus and
prometheus-alertmanager. VAGT_DIFF_SECONDS: how long, ten minutes unless said otherwise, at least two."""
import datetime
import json
import os
import re
import time
import unittest

from harness import Capture, EndToEnd, Program, free_port, get, get_json, need, wait_until
from rules_simulation import SHARED, SLOT, Simulation

SECONDS = int(os.environ.get('VAGT_DIFF_SECONDS', '600'))
SCRAPE = 2
EVALUATION = 15
SLOWEST = 30  # the documented groups' own interval
LOOK_AT = 50  # second of a slot: everything scraped and evaluated since it began
RANGE_TOLERANCE = 0.03  # windows begin up to a scrape apart
ALERTMANAGER = '''
route: {{receiver: hook, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 24h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/{path}"}}]
'''
GAUGES = {'temp': 'DCGM_FI_DEV_GPU_TEMP', 'power': 'DCGM_FI_DEV_POWER_USAGE', 'free': 'DCGM_FI_DEV_FB_FREE',
          'load': 'node_load1', 'waiting': 'vllm:num_requests_waiting', 'files': 'node_filesystem_avail_bytes'}
COUNTERS = {'energy': 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 'cpu': 'node_cpu_seconds_total', 'received': 'node_network_receive_bytes_total',
            'tokens': 'vllm:generation_tokens_total', 'used': 'container_cpu_usage_seconds_total'}
OTHERS = {
    'exact_share': 'node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes',
    'exact_joined': 'DCGM_FI_DEV_POWER_USAGE / on(instance, UUID) group_left() DCGM_FI_DEV_ENFORCED_POWER_LIMIT',
    'exact_named': 'label_replace(DCGM_FI_DEV_GPU_TEMP, "place", "slot-$1", "gpu", "(.*)")',
    'exact_values': 'count_values by (instance) ("level", DCGM_FI_DEV_XID_ERRORS)',
    'exact_hot': 'topk by (instance) (2, DCGM_FI_DEV_FB_FREE)',
    'exact_over': 'sum by (instance) (DCGM_FI_DEV_GPU_TEMP > bool 60)',
    'near_p95': 'histogram_quantile(0.95, sum by (le, instance) (rate(vllm:e2e_request_latency_seconds_bucket[5m])))',
    'near_p50': 'histogram_quantile(0.5, rate(vllm:time_to_first_token_seconds_bucket[5m]))',
    'exact_chain': 'sum(recorded:exact_temp_max) + sum(recorded:exact_load_avg)',
    'exact_absent': 'absent(nothing{instance="x"})',
}


def recording_rules():
    """50 of them. exact: of one instant, so the same to the last digits but for the order of a sum."""
    rules = {}
    for name, metric in GAUGES.items():
        for op in ('sum', 'avg', 'max', 'min', 'stddev'):
            rules['exact_%s_%s' % (name, op)] = '%s by (instance, job) (%s)' % (op, metric)
    for name, metric in COUNTERS.items():
        rules['near_%s_rate' % name] = 'sum by (instance) (rate(%s[5m]))' % metric
        rules['near_%s_increase' % name] = 'max by (instance) (increase(%s[3m]))' % metric
    rules.update(OTHERS)
    assert len(rules) == 50, len(rules)
    return 'groups:\n- name: recorded\n  rules:\n' + ''.join(
        '  - {record: "recorded:%s", expr: %s}\n' % (name, json.dumps(expr)) for name, expr in rules.items())


def quicker(text):
    """The same rules under a tenth of their waiting time, told apart by a label; they hold on for a slot."""
    def tenth(match):
        seconds = int(match.group(2)) * {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}[match.group(3)]
        return '%sfor: %dms\n%skeep_firing_for: 1m' % (match.group(1), seconds * 100, match.group(1))

    text = re.sub(r'^( *)for: (\d+)([smhd])$', tenth, text, flags=re.M)
    text = re.sub(r'^( *)labels: \{', r'\1labels: {quick: "yes", ', text, flags=re.M)
    text = re.sub(r'^( *)labels:$', r'\1labels:\n\1  quick: "yes"', text, flags=re.M)
    text = re.sub(r'^ *interval: .*\n', '', text, flags=re.M)
    return re.sub(r'- name: ', '- name: quick ', text)


def seconds(timestamp):
    text = re.sub(r'\.(\d{1,6})\d*', lambda m: '.' + m.group(1).ljust(6, '0'), timestamp.replace('Z', '+00:00'))
    return datetime.datetime.fromisoformat(text).timestamp()


def spelt_out(text):
    """1e+11, which Prometheus 2 writes for 100000000000, as Prometheus 3 has it; in a URL or not."""
    return re.sub(r'\b\d(?:\.\d+)?e(?:\+|%2B)\d\d\b', lambda m: '%d' % float(m.group().replace('%2B', '+')), text or '')


def near(a, b, tolerance):
    return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(abs(a), abs(b))


class Server:
    """What is compared of one rule evaluating server and the Alertmanager that it sends to."""

    def __init__(self, url, alertmanager, hook):
        self.url, self.alertmanager, self.hook = url, alertmanager, hook
        self.durations = {}

    def rules(self):
        groups = get_json(self.url + '/api/v1/rules')['data']['groups']
        return {(g['name'], r['name'], i): (r, g) for g in groups for i, r in enumerate(g['rules'])}

    def alerts(self):
        found = {}
        for (_, _, _), (rule, _) in self.rules().items():
            for alert in rule.get('alerts') or []:
                key = json.dumps(alert['labels'], sort_keys=True)
                found[key] = dict(alert, due=seconds(alert['activeAt']) + rule['duration'], query=rule['query'])
        return found

    def series(self, selector):
        answer = get_json(self.url + '/api/v1/query', data=('query=' + selector).encode())
        return {json.dumps(r['metric'], sort_keys=True): float(r['value'][1]) for r in answer['data']['result']}

    def received(self):
        return {json.dumps(a['labels'], sort_keys=True): a for a in get_json(self.alertmanager + '/api/v2/alerts')}

    def messages(self, until):
        """labels -> [(status, when)] in the order of arrival."""
        told = {}
        for request in self.hook.seen('/'):
            if request['at'] <= until:
                for alert in json.loads(request['body'])['alerts']:
                    told.setdefault(json.dumps(alert['labels'], sort_keys=True), []).append((alert['status'], request['at']))
        return told


@unittest.skipUnless(os.path.exists(os.path.join(SHARED, 'agent', 'rules.yml')), 'NOT RUN: no shared test data at ' + SHARED)
@need('/usr/bin/prometheus')
@need('/usr/bin/prometheus-alertmanager')
class RulesDifferential(EndToEnd):
    maxDiff = None

    def setUp(self):
        super().setUp()
        texts = {'recorded.yml': recording_rules()}
        for name, path in {'documented.yml': 'seed-config/rules/documented.yml', 'agent.yml': 'agent/rules.yml'}.items():
            with open(os.path.join(SHARED, path), encoding='utf-8') as f:
                texts[name] = f.read()
            texts['quick-' + name] = quicker(texts[name])
        self.simulation = self.enter(Simulation(self.folder, ['gpu-0000', 'gpu-0001'], texts['agent.yml']))
        for name, text in texts.items():
            with open(os.path.join(self.folder, name), 'w', encoding='utf-8') as f:
                f.write(text)
        self.differences = []
        self.compared = {'alerts': 0, 'firing': 0, 'series': 0, 'received': 0, 'messages': 0, 'worst active-since': 0.0}
        self.prometheus = self.start_prometheus()
        self.vagtd_server = self.start_vagtd()

    def peer(self, name, *arguments):
        program = Program(list(arguments), os.path.join(self.folder, name + '.log'))
        self.stack.callback(program.stop)
        return program

    def start_alertmanager(self, name):
        hook = self.enter(Capture())
        config = os.path.join(self.folder, name + '.yml')
        with open(config, 'w', encoding='utf-8') as f:
            f.write(ALERTMANAGER.format(hook=hook.address, path=name))
        address = '127.0.0.1:%d' % free_port()
        self.peer(name, '/usr/bin/prometheus-alertmanager', '--config.file=' + config, '--web.listen-address=' + address,
                  '--cluster.listen-address=', '--storage.path=' + os.path.join(self.folder, name))
        return address, hook

    def config(self, alertmanager):
        return ('global: {scrape_interval: %ds, scrape_timeout: %ds, evaluation_interval: %ds, external_labels: {site: lab}}\n'
                'rule_files: ["%s/*documented.yml", "%s/*agent.yml", "%s/recorded.yml"]\n'
                'alerting: {alertmanagers: [{static_configs: [{targets: ["%s"]}]}]}\n%s'
                % (SCRAPE, SCRAPE, EVALUATION, self.folder, self.folder, self.folder, alertmanager, self.simulation.scrape_config()))

    def start_prometheus(self):
        alertmanager, hook = self.start_alertmanager('of-prometheus')
        path = os.path.join(self.folder, 'prometheus.yml')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(self.config(alertmanager))
        address = '127.0.0.1:%d' % free_port()
        self.peer('prometheus', '/usr/bin/prometheus', '--config.file=' + path, '--web.listen-address=' + address,
                  '--web.external-url=http://watch.example/', '--web.route-prefix=/', '--storage.tsdb.path=' + os.path.join(self.folder, 'tsdb'))
        return Server('http://' + address, 'http://' + alertmanager, hook)

    def start_vagtd(self):
        alertmanager, hook = self.start_alertmanager('of-vagtd')
        daemon = self.vagtd(self.config(alertmanager), flags=['--web.external-url=http://watch.example/', '--web.route-prefix=/']).start()
        return Server(daemon.url, 'http://' + alertmanager, hook)

    def both(self):
        return self.prometheus, self.vagtd_server

    def answering(self, server):
        try:
            return get(server.url + '/-/ready') and get(server.alertmanager + '/-/ready') \
                and get_json(server.url + '/api/v1/query?query=count(up)')['data']['result']
        except OSError:
            return None

    def differ(self, what, *of):
        self.differences.append('%s %s: %s' % (time.strftime('%H:%M:%S'), what, ' | '.join(map(str, of))))

    def settled(self, alert, now):
        """False within one evaluation of the moment at which `for` is over: one server may be there and the other not."""
        return abs(now - alert['due']) > SLOWEST + SCRAPE

    def same_active(self, now):
        theirs, ours = (s.alerts() for s in self.both())
        for key in sorted(theirs.keys() | ours.keys()):
            a, b = theirs.get(key), ours.get(key)
            if a is None or b is None:
                self.differ('alert only at ' + ('vagtd' if a is None else 'Prometheus'), key, a or b)
                continue
            self.compared['alerts'] += 1
            self.compared['firing'] += a['state'] == 'firing'
            apart = abs(seconds(a['activeAt']) - seconds(b['activeAt']))
            self.compared['worst active-since'] = max(self.compared['worst active-since'], apart)
            interval = EVALUATION if 'quick' in key or 'recorded' in key else SLOWEST
            if apart > interval + SCRAPE or not self.same_value(a, b, interval) or (a['state'] != b['state'] and self.settled(a, now)):
                self.differ('alert', key, a, b)
        return theirs, ours

    @staticmethod
    def same_value(a, b, interval):
        theirs, ours = float(a['value']), float(b['value'])
        if 'time()' in a['query'] and abs(theirs - ours) <= interval + SCRAPE:
            return True  # an age, taken when the group was due
        if 'deriv(' in a['query']:
            return theirs * ours > 0  # a stair's slope depends on where in the window its steps are seen
        return near(theirs, ours, RANGE_TOLERANCE)

    def same_series(self, slot):
        # Prometheus writes the series of alerts from the third evaluation on, when it has restored what there was before.
        for selector in ('{__name__=~"recorded:.*"}', *(['ALERTS_FOR_STATE'] if slot >= 2 else [])):
            theirs, ours = (s.series(selector) for s in self.both())
            for key in sorted(theirs.keys() ^ ours.keys()):
                self.differ('series only at ' + ('vagtd' if key in ours else 'Prometheus'), key)
            for key in sorted(theirs.keys() & ours.keys()):
                self.compared['series'] += 1
                tolerance = 1e-9 if 'exact_' in key else RANGE_TOLERANCE
                if not near(theirs[key], ours[key], tolerance):
                    self.differ('value', key, theirs[key], ours[key])

    def same_at_alertmanager(self, now, active):
        theirs, ours = (s.received() for s in self.both())
        waiting = {self.with_site(key) for side in active for key, alert in side.items() if not self.settled(alert, now)}
        for key in sorted((theirs.keys() | ours.keys()) - waiting):
            a, b = theirs.get(key), ours.get(key)
            if a is None or b is None:
                self.differ('sent only by ' + ('vagtd' if a is None else 'Prometheus'), key, a or b)
                continue
            self.compared['received'] += 1
            apart = abs(seconds(a['startsAt']) - seconds(b['startsAt']))
            urls = [spelt_out(x['generatorURL']) for x in (a, b)]
            if urls[0] != urls[1] or a['status']['state'] != b['status']['state'] or apart > SLOWEST + SCRAPE \
                    or self.words(a['annotations']) != self.words(b['annotations']):
                self.differ('sent', key, a, b)

    @staticmethod
    def with_site(key):
        return json.dumps(dict(json.loads(key), site='lab'), sort_keys=True)

    @staticmethod
    def words(annotations):
        """Without the digits behind the point, which a window that begins a scrape later changes."""
        return {name: re.sub(r'(\d)\.\d+', r'\1', text) for name, text in annotations.items()}

    def same_rules(self):
        theirs, ours = (s.rules() for s in self.both())
        self.assertEqual(sorted(theirs), sorted(ours))
        for key in theirs:
            a, b = (dict(side[key][0], **{'group interval': side[key][1]['interval']}) for side in (theirs, ours))
            self.assertEqual(spelt_out(a['query']), b['query'])
            for field in ('duration', 'labels', 'annotations', 'type', 'health', 'lastError', 'group interval'):
                # Prometheus 2 leaves out what is empty.
                self.assertEqual(a.get(field) or None, b.get(field) or None, (key, field))

    def same_messages(self, until):
        theirs, ours = (s.messages(until) for s in self.both())
        for key in sorted(theirs.keys() | ours.keys()):
            a, b = sorted((theirs.get(key, []), ours.get(key, [])), key=len)
            # The last message of one may still be under way to the other.
            if len(b) == len(a) + 1 and b[-1][1] > until - SLOWEST - SCRAPE - 5:
                b = b[:-1]
            self.compared['messages'] += len(a)
            if [status for status, _ in a] != [status for status, _ in b]:
                self.differ('messages', key, theirs.get(key), ours.get(key))

    def test_same_alerts_series_and_messages(self):
        for server in self.both():
            wait_until('both servers', lambda: self.answering(server), 60)
        self.simulation.open()
        begin = time.time()
        for slot in range(max(2, SECONDS // SLOT)):
            time.sleep(max(0, begin + slot * SLOT + LOOK_AT - time.time()))
            now = time.time()
            active = self.same_active(now)
            self.same_series(slot)
            self.same_at_alertmanager(now, active)
            print('slot %d: %d and %d alerts active' % (slot, *map(len, active)), flush=True)
        self.same_messages(time.time())
        print('\n'.join(self.differences))
        print('compared: %s; %d differences' % (self.compared, len(self.differences)), flush=True)
        self.same_rules()
        for name in ('alerts', 'firing', 'series', 'received', 'messages'):
            self.assertGreater(self.compared[name], 100, name)
        self.assertEqual(len(self.differences), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
