#!/usr/bin/env python3
"""All programs together for a while, with misfortune: kill -9 of vagtd and of the agent, a full disk, a dead receiver.

    tests/e2e/soak.py [MINUTES]      (default 30; VAGT_BIN names the programs, root is needed for the small tmpfs)

Every cycle a fault appears and heals at a scripted exporter; each firing and each resolve must arrive, whatever happened
meanwhile. The last third is left in peace: resident memory must not grow there. Exit status 0 when all held.
"""
import contextlib
import json
import os
import random
import subprocess
import sys
import time

from harness import BIN, Capture, EndToEnd, Exporter, Program, free_port, get, wait_until

CONFIG = '''
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml]
scrape_configs:
  - job_name: scripted
    static_configs: [{{targets: ["{scripted}"]}}]
  - job_name: node
    static_configs: [{{targets: ["{node}"]}}]
  - job_name: vagt
    static_configs: [{{targets: ["{agent}"]}}]
'''
RULES = '''
groups:
  - name: soak
    interval: 1s
    rules:
      - alert: Fault
        expr: fault > 0
        for: 2s
        labels: {severity: critical, cycle: "{{ $value }}"}
'''
ALERTMANAGER = '''
route: {{receiver: hook, group_by: [alertname, cycle], group_wait: 1s, group_interval: 2s, repeat_interval: 1h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "http://{hook}/hook", send_resolved: true}}]
'''


def rss_mib(pid):
    with open('/proc/%d/status' % pid) as status:
        for line in status:
            if line.startswith('VmRSS'):
                return int(line.split()[1]) / 1024


class Soak(EndToEnd):
    minutes = 30.0

    def runTest(self):
        self.fault, self.alive = 0, True
        self.start_everything()
        seed = int(time.time())
        self.random = random.Random(seed)
        print('seed %d' % seed)
        begin = time.monotonic()
        peace = begin + self.minutes * 40
        end = begin + self.minutes * 60
        cycle, counts, peaceful = 0, {}, []
        while time.monotonic() < end:
            cycle += 1
            misfortune = self.random.choice([self.kill_vagtd, self.kill_agent, self.fill_disk, self.lose_receiver, None])
            if time.monotonic() > peace:
                misfortune = None
            self.run_cycle(cycle, misfortune)
            name = misfortune.__name__ if misfortune else 'nothing'
            counts[name] = counts.get(name, 0) + 1
            memory = rss_mib(self.daemon.program.process.pid), rss_mib(self.agent.process.pid)
            if time.monotonic() > peace:
                peaceful.append(memory)
            print('%5.1f min  cycle %3d  %-14s vagtd %6.1f MiB  agent %5.1f MiB' % ((time.monotonic() - begin) / 60, cycle, name, *memory),
                  flush=True)
        self.check_messages(cycle)
        self.check_memory(peaceful)
        print('%d cycles, %s; every page arrived' % (cycle, counts))

    def start_everything(self):
        self.disk = os.path.join(self.folder, 'disk')
        os.makedirs(self.disk)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', self.disk], check=True)
        self.addCleanup(subprocess.run, ['umount', '-l', self.disk], check=False)
        self.scripted = self.enter(Exporter(lambda: 'fault %d\n' % self.fault))
        self.hook = self.enter(Capture(lambda path, body: (200, 'ok') if self.alive else (503, 'dead')))
        self.node_address, self.agent_address = ('127.0.0.1:%d' % free_port() for _ in range(2))
        self.stack.callback(Program(['/usr/bin/prometheus-node-exporter', '--web.listen-address=' + self.node_address],
                                    os.path.join(self.folder, 'node.log')).stop)
        self.start_agent()
        self.stack.callback(lambda: self.agent.stop())
        self.daemon = self.vagtd(
            CONFIG.format(scripted=self.scripted.address, node=self.node_address, agent=self.agent_address),
            ALERTMANAGER.format(hook=self.hook.address), flags=['--rules.alert.for-grace-period=1s'])
        self.daemon.flags = [f if not f.startswith('--storage') else '--storage.tsdb.path=' + os.path.join(self.disk, 'data')
                             for f in self.daemon.flags]
        self.daemon.write('rules.yml', RULES)
        self.daemon.start()

    def start_agent(self):
        self.agent = Program([os.path.join(BIN, 'vagt-agent'), '--web.listen-address=' + self.agent_address],
                             os.path.join(self.folder, 'agent.log'))

    def run_cycle(self, cycle, misfortune):
        self.fault = cycle
        time.sleep(self.random.uniform(0, 5))
        repair = misfortune() if misfortune else None
        time.sleep(self.random.uniform(3, 10))
        if repair:
            repair()
        wait_until('page of cycle %d' % cycle, lambda: self.messages(cycle, 'firing'), 60)
        self.fault = 0
        wait_until('resolve of cycle %d' % cycle, lambda: self.messages(cycle, 'resolved'), 60)

    def messages(self, cycle, status):
        found = []
        for request in self.hook.seen('/hook'):
            body = json.loads(request['body'])
            if body['groupLabels'].get('cycle') == str(cycle) and body['status'] == status:
                found.append(body)
        return found

    def check_messages(self, cycles):
        repeated = [c for c in range(1, cycles + 1) for s in ('firing', 'resolved') if len(self.messages(c, s)) != 1]
        print('cycles with a repeated message: %s' % (repeated or 'none'))
        self.assertEqual(repeated, [])

    def check_memory(self, peaceful):
        if len(peaceful) < 8:
            return print('too short to judge memory')
        quarter = len(peaceful) // 4
        for which, name, slack in ((0, 'vagtd', 1.15), (1, 'agent', 1.1)):
            early = sum(m[which] for m in peaceful[quarter:2 * quarter]) / quarter
            late = sum(m[which] for m in peaceful[-quarter:]) / quarter
            print('%s in peace: %.1f MiB early, %.1f MiB late' % (name, early, late))
            self.assertLess(late, early * slack + 2, name)

    def kill_vagtd(self):
        self.daemon.kill9()
        time.sleep(self.random.uniform(0, 3))
        self.daemon.start()

    def kill_agent(self):
        self.agent.kill9()
        self.start_agent()

    def fill_disk(self):
        path = os.path.join(self.disk, 'filler')
        with contextlib.suppress(OSError), open(path, 'wb') as filler:
            while True:
                filler.write(b'\0' * 1048576)
        self.assertIn('ealthy', get(self.daemon.url + '/-/healthy'))
        return lambda: os.remove(path)

    def lose_receiver(self):
        self.alive = False

        def revive():
            self.alive = True
        return revive


if __name__ == '__main__':
    import unittest
    if len(sys.argv) > 1:
        Soak.minutes = float(sys.argv[1])
    result = unittest.TextTestRunner(verbosity=1).run(Soak())
    sys.exit(0 if result.wasSuccessful() else 1)
