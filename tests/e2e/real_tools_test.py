"""Other people's programs against ours: node_exporter scraped, amtool and promtool served, Prometheus scraping our pages."""
import json
import os
import subprocess
import time
import unittest

from harness import BIN, Capture, EndToEnd, Program, free_port, get, get_json, need, wait_until

PROMETHEUS = '''
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: node
    static_configs: [{{targets: ["{node}"]}}]
'''
ALERTMANAGER = '''
route: {{receiver: hook, group_by: [alertname], group_wait: 100ms, group_interval: 1s}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/hook"}}]
'''
SECONDS = int(os.environ.get('VAGT_E2E_SCRAPE_SECONDS', '10'))


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout + done.stderr


class RealTools(EndToEnd):
    def peer(self, name, *arguments):
        program = Program(list(arguments), os.path.join(self.folder, name + '.log'))
        self.stack.callback(program.stop)
        return program

    @need('/usr/bin/prometheus-node-exporter')
    def test_node_exporter_is_scraped_without_a_refused_sample(self):
        node = '127.0.0.1:%d' % free_port()
        self.peer('node', '/usr/bin/prometheus-node-exporter', '--web.listen-address=' + node)
        daemon = self.vagtd(PROMETHEUS.format(node=node)).start()
        wait_until('node_exporter up', lambda: daemon.value('up{job="node"}') == 1)
        time.sleep(SECONDS)
        self.assertEqual(daemon.value('min_over_time(up{job="node"}[%ds])' % max(1, SECONDS - 2)), 1)
        target = get_json(daemon.url + '/api/v1/targets')['data']['activeTargets'][0]
        self.assertEqual((target['health'], target['lastError']), ('up', ''))
        kept = daemon.value('scrape_samples_post_metric_relabeling')
        self.assertEqual(kept, daemon.value('scrape_samples_scraped'))
        self.assertEqual(daemon.value('count({job="node",__name__!~"up|scrape_.*"})'), kept)

    @need('/usr/bin/amtool')
    def test_amtool(self):
        hook = self.enter(Capture())
        daemon = self.vagtd(alertmanager_yml=ALERTMANAGER.format(hook=hook.address)).start()
        amtool = ['amtool', '--no-version-check', '--alertmanager.url=' + daemon.url]
        self.assertEqual(run(*amtool, 'alert', 'add', 'GpuLost', 'gpu=3', '--annotation=summary=gone')[0], 0)
        self.assertIn('GpuLost', run(*amtool, 'alert', 'query')[1])
        wait_until('delivered', lambda: hook.seen('/hook'))
        status, silence = run(*amtool, 'silence', 'add', 'alertname=GpuLost', '--comment=known', '--author=me')
        self.assertEqual(status, 0, silence)
        self.assertIn(silence.strip(), run(*amtool, 'silence', 'query')[1])
        self.assertNotIn('GpuLost', run(*amtool, 'alert', 'query')[1])
        self.assertIn('GpuLost', run(*amtool, 'alert', 'query', '--silenced')[1])
        self.assertEqual(run(*amtool, 'silence', 'expire', silence.strip())[0], 0)
        self.assertNotIn(silence.strip(), run(*amtool, 'silence', 'query')[1])
        self.assertEqual(run(*amtool, 'config', 'show')[0], 0)

    @need('/usr/bin/promtool')
    def test_promtool(self):
        daemon = self.vagtd('global: {scrape_interval: 1s}\n').start()
        status, text = run('promtool', 'query', 'instant', daemon.url, 'vector(1)')
        self.assertEqual((status, text.split(' @')[0]), (0, '{} => 1'))
        status, text = run('promtool', 'query', 'range', '--start=0', '--end=60', '--step=30s', daemon.url, 'vector(2)')
        self.assertEqual(status, 0, text)
        self.assertEqual(text.count('2 @'), 3)

    @need('/usr/bin/prometheus')
    def test_prometheus_scrapes_vagtd_and_the_agent(self):
        daemon = self.vagtd('global: {scrape_interval: 1s}\n').start()
        agent = '127.0.0.1:%d' % free_port()
        self.peer('agent', os.path.join(BIN, 'vagt-agent'), '--web.listen-address=' + agent)
        wait_until('agent', lambda: self.reachable('http://' + agent + '/metrics'))
        config = os.path.join(self.folder, 'prom.yml')
        with open(config, 'w') as f:
            f.write('global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: x\n    static_configs: [{targets: ["%s", "%s"]}]\n'
                    % (daemon.url[7:], agent))
        port = free_port()
        self.peer('prometheus', '/usr/bin/prometheus', '--config.file=' + config, '--web.listen-address=127.0.0.1:%d' % port,
                  '--storage.tsdb.path=' + os.path.join(self.folder, 'promdata'))
        url = 'http://127.0.0.1:%d' % port

        def answered(query):
            if not self.reachable(url + '/-/ready'):
                return None
            return {r['metric']['instance']: float(r['value'][1]) for r in get_json(url + '/api/v1/query?query=' + query)['data']['result']}

        wait_until('both up in Prometheus', lambda: (answered('up') or {}) == {daemon.url[7:]: 1, agent: 1}, 30)
        scraped, kept = answered('scrape_samples_scraped'), answered('scrape_samples_post_metric_relabeling')
        self.assertEqual(scraped, kept)
        lines = [l for l in get('http://' + agent + '/metrics').splitlines() if l and l[0] != '#']
        self.assertLess(abs(scraped[agent] - len(lines)), 30)

    @staticmethod
    def reachable(url):
        try:
            return get(url)
        except OSError:
            return None


if __name__ == '__main__':
    unittest.main(verbosity=2)
