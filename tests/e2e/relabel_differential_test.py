"""Twenty jobs that relabel heavily, over the same file and HTTP discovery, in the real Prometheus and in vagtd: the same
targets, labels and scrape URLs, before and after the discovered targets change."""
import json
import os
import unittest

from harness import EndToEnd, HttpService, Program, QuietHandler, free_port, get, get_json, need, wait_until

# Each is one job's own keys; `files` and `http` stand for its discovery sections.
JOBS = [
    # 1: copy, rename, join
    '''{files}
    relabel_configs:
    - {{source_labels: [rack, unit], separator: "-", target_label: place}}
    - {{source_labels: [__address__], target_label: instance, regex: "([^:]+):.*"}}''',
    # 2: keep and drop on several labels
    '''{files}
    relabel_configs:
    - {{action: keep, source_labels: [kind, rack], regex: "gpu;r[12]"}}
    - {{action: drop, source_labels: [unit], regex: "u3|u4"}}''',
    # 3: another port and path
    '''{files}
    relabel_configs:
    - {{source_labels: [__address__], regex: "(.+):\\\\d+", replacement: "$1:9400", target_label: __address__}}
    - {{source_labels: [kind], regex: gpu, replacement: /dcgm/metrics, target_label: __metrics_path__}}''',
    # 4: the blackbox pattern
    '''{files}
    metrics_path: /probe
    params: {{module: [http_2xx, extra]}}
    relabel_configs:
    - {{source_labels: [__address__], target_label: __param_target}}
    - {{source_labels: [__param_target], target_label: instance}}
    - {{target_label: __address__, replacement: "127.0.0.1:9115"}}''',
    # 5: shards
    '''{files}
    relabel_configs:
    - {{source_labels: [__address__], modulus: 4, target_label: __tmp_shard, action: hashmod}}
    - {{source_labels: [__tmp_shard], regex: "[13]", action: keep}}''',
    # 6: hashmod kept as a label
    '''{files}
    relabel_configs:
    - {{source_labels: [rack, unit, kind], modulus: 4294967296, target_label: hash, action: hashmod}}''',
    # 7: labelmap of meta labels
    '''{http}
    relabel_configs:
    - {{action: labelmap, regex: "__meta_(.+)", replacement: "meta_$1"}}
    - {{action: labelmap, regex: "__x_(.*)"}}''',
    # 8: labeldrop, labelkeep
    '''{files}
    relabel_configs:
    - {{action: labeldrop, regex: "rack|u.*"}}''',
    '''{files}
    relabel_configs:
    - {{action: labelkeep, regex: "__.*|job|kind"}}''',
    # 10: case
    '''{files}
    relabel_configs:
    - {{action: uppercase, source_labels: [rack, kind], separator: _, target_label: up}}
    - {{action: lowercase, source_labels: [note], target_label: low}}''',
    # 11: keepequal, dropequal
    '''{files}
    relabel_configs:
    - {{action: keepequal, source_labels: [kind], target_label: wanted}}''',
    '''{files}
    relabel_configs:
    - {{action: dropequal, source_labels: [kind], target_label: wanted}}''',
    # 13: the job's name, interval, timeout and scheme by relabelling
    '''{files}
    scrape_interval: 60s
    relabel_configs:
    - {{source_labels: [kind], target_label: job, regex: "(.+)", replacement: "by-$1"}}
    - {{source_labels: [kind], regex: gpu, replacement: 15s, target_label: __scrape_interval__}}
    - {{source_labels: [kind], regex: gpu, replacement: 7s, target_label: __scrape_timeout__}}
    - {{source_labels: [kind], regex: cpu, replacement: https, target_label: __scheme__}}''',
    # 14: an empty replacement deletes, an absent source leaves alone
    '''{files}
    relabel_configs:
    - {{target_label: note, replacement: ""}}
    - {{source_labels: [absent], regex: "(.+)", target_label: rack}}
    - {{source_labels: [absent], regex: "(.*)", target_label: unit}}''',
    # 15: named and nested groups, $$ and ${}
    '''{files}
    relabel_configs:
    - {{source_labels: [__address__], regex: "((?P<host>[a-z]+)(\\\\d+)).*", target_label: parts, replacement: "${{host}}/${{3}}/$1$$x"}}
    - {{source_labels: [rack], regex: "r(\\\\d)", target_label: "rack_$1", replacement: "yes"}}''',
    # 16: two of one target collapse into one
    '''{files}
    relabel_configs:
    - {{regex: "rack|unit|kind|note|wanted|__x_a", action: labeldrop}}
    - {{target_label: __address__, replacement: "one:1"}}
    - {{target_label: instance, replacement: same}}''',
    # 17: parameters rewritten one by one
    '''{http}
    params: {{a: ["1", "2"], b: ["x y&z"]}}
    relabel_configs:
    - {{source_labels: [__meta_team], target_label: __param_a}}
    - {{source_labels: [__meta_team], regex: "(.+)", target_label: __param_c, replacement: "$1/ü"}}''',
    # 18: addresses that are none
    '''{http}
    relabel_configs:
    - {{source_labels: [__meta_team], regex: b, target_label: __address__, replacement: "bad/address:1"}}''',
    # 19: both kinds of discovery and static targets in one job
    '''{files}
{http}
    static_configs:
    - {{targets: ["static1:1", "static2:1"], labels: {{kind: static, __meta_team: s}}}}
    relabel_configs:
    - {{source_labels: [__meta_filepath, __meta_url], separator: "|", target_label: source, regex: ".*/([^/|]*)\\\\|?([^|]*)", replacement: "$1;$2"}}
    - {{source_labels: [__meta_team], regex: "|s|a", action: keep}}''',
    # 20: labels that a target may not bring
    '''{http}
    honor_labels: true
    relabel_configs:
    - {{source_labels: [job, __scheme__, __metrics_path__], target_label: all}}
    - {{source_labels: [__meta_team], target_label: __tmp_team}}
    - {{source_labels: [__tmp_team], target_label: team}}''',
]

FIRST = [{'targets': ['gpu1:9100', 'gpu2:9100', '[::1]:9100', 'noport'],
          'labels': {'kind': 'gpu', 'rack': 'r1', 'unit': 'u1', 'note': 'ÄB C', 'wanted': 'gpu'}},
         {'targets': ['cpu%d:9100' % i for i in range(20)], 'labels': {'kind': 'cpu', 'rack': 'r2', 'unit': 'u3', 'wanted': 'gpu'}},
         {'targets': ['gpu7:9100'], 'labels': {'kind': 'gpu', 'rack': 'r2', 'unit': 'u2', '__x_a': 'b'}}]
SECOND = [{'targets': ['gpu1:9100', 'gpu9:9200'],
           'labels': {'kind': 'gpu', 'rack': 'r1', 'unit': 'u9', 'note': '', 'wanted': 'cpu'}}]
FIRST_HTTP = [{'targets': ['web1:8080', 'web2:8080'], 'labels': {'__meta_team': 'a', 'kind': 'web', '__x_deep': 'v'}},
              {'targets': ['web3:8080'], 'labels': {'__meta_team': 'b', 'job': 'mine', 'instance': 'me'}},
              {'targets': [], 'labels': {'__meta_team': 'c'}}]
SECOND_HTTP = [{'targets': ['web1:8080'], 'labels': {'__meta_team': 'd'}}]


class RelabelDifferential(EndToEnd):
    def serve_targets(self):
        test = self

        class Handler(QuietHandler):
            def do_GET(self):
                self.answer(200, json.dumps(test.http), 'application/json')

        self.http = FIRST_HTTP
        return self.enter(HttpService(Handler))

    def write_targets(self, groups):
        temporary = os.path.join(self.folder, '.targets')
        with open(temporary, 'w', encoding='utf-8') as f:
            json.dump(groups, f)
        os.rename(temporary, os.path.join(self.folder, 'targets.json'))

    def configuration(self, address):
        files = '    file_sd_configs: [{files: ["%s/targets*.json"], refresh_interval: 1s}]' % self.folder
        http = '    http_sd_configs: [{url: "http://%s/sd", refresh_interval: 1s}]' % address
        jobs = ''.join('  - job_name: job%02d\n%s\n' % (i + 1, job.format(files=files, http=http)) for i, job in enumerate(JOBS))
        return 'global: {scrape_interval: 30s}\nscrape_configs:\n' + jobs

    @staticmethod
    def targets(url):
        """What discovery and relabelling made: {job: [(URL, labels, interval, timeout)]} and how many were dropped. Not the
        discovered labels: Prometheus 2.42 shows them after relabelling wrote over them."""
        data = get_json(url + '/api/v1/targets')['data']
        active = {}
        for target in data['activeTargets']:
            active.setdefault(target['scrapePool'], []).append(
                (target['scrapeUrl'], sorted(target['labels'].items()), target['scrapeInterval'], target['scrapeTimeout']))
        return {pool: sorted(found) for pool, found in active.items()}, len(data['droppedTargets'])

    def compare(self, peer, ours, moment):
        self.maxDiff = 4000
        wait_until('the same targets ' + moment, lambda: self.targets(peer) == self.targets(ours)
                   or self.attempts.append(1) or len(self.attempts) > 200, 60)
        (want, want_dropped), (got, got_dropped) = self.targets(peer), self.targets(ours)
        for pool in sorted(set(want) | set(got)):
            # Row by row, so that a difference is short.
            for row in want.get(pool, []):
                self.assertIn(row, got.get(pool, []), 'only Prometheus has it: %s' % pool)
            self.assertEqual(got.get(pool), want.get(pool), pool)
        self.assertEqual(got_dropped, want_dropped)
        return sum(len(found) for found in want.values()), want_dropped

    @need('/usr/bin/prometheus')
    def test_twenty_jobs(self):
        self.assertEqual(len(JOBS), 20)
        service = self.serve_targets()
        self.write_targets(FIRST)
        text = self.configuration(service.address)
        daemon = self.vagtd(text).start()
        port = free_port()
        peer_url = 'http://127.0.0.1:%d' % port
        peer = Program(['/usr/bin/prometheus', '--config.file=' + os.path.join(daemon.folder, 'prometheus.yml'),
                        '--storage.tsdb.path=' + os.path.join(self.folder, 'peer'), '--web.listen-address=127.0.0.1:%d' % port,
                        # As 3.x has it: an address without a port stays as it is.
                        '--enable-feature=no-default-scrape-port'], os.path.join(self.folder, 'peer.log'))
        self.stack.callback(peer.stop)

        def ready():
            try:
                return get(peer_url + '/-/ready')
            except OSError:
                return False

        wait_until('prometheus ready', ready, 30)
        # Prometheus hands discovered targets on every five seconds.
        wait_until('prometheus knows its targets', lambda: len(self.targets(peer_url)[0]) >= 18, 30)
        self.attempts = []
        active, dropped = self.compare(peer_url, daemon.url, 'at first')
        self.write_targets(SECOND)
        self.http = SECOND_HTTP
        wait_until('prometheus sees the change',
                   lambda: any('gpu9:9200' in str(found) for found in self.targets(peer_url)[0].values())
                   and not any('web2:8080' in str(found) for found in self.targets(peer_url)[0].values()), 30)
        self.attempts = []
        after = self.compare(peer_url, daemon.url, 'after a change')
        print('20 jobs: %d active, %d dropped targets agree; after the change %d and %d' % (active, dropped, *after))


if __name__ == '__main__':
    unittest.main(verbosity=2)
