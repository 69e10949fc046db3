"""Pages of real agents through the real vagtd: one played host falls ill for each group of the fixture kit's rules, one stays well.

Each fault reaches a receiver and nothing else does; an announced reboot and a silence mute their own host and no other. Durations are
scaled down sixty-fold. Skips, loudly, without the kit.
"""
import json
import os
import re
import subprocess
import unittest

import harness
from agent_faults import FAULTS
from played_host import PlayedHost

SHARED = os.environ.get('VAGT_SHARED', os.path.join(harness.ROOT, '..', 'shared'))
RULES = os.path.join(SHARED, 'agent', 'rules.yml')
UNITS = {'s': 1, 'm': 60, 'h': 3600, 'd': 86400}
# Of each group those faults that one host can have together, within a minute when scaled.
GROUPS = {
    'vagt-agent': ['KernelLogEventsLost', 'AgentCollectorFailing'],
    'vagt-gpu': ['GPUXidPage', 'GPURowRemapFailure', 'GPUTempMarginLow', 'GPUPowerNearLimit', 'GPUPcieWidthReduced', 'NvlinkDown'],
    'vagt-boot': ['UnexpectedReboot'],
    'vagt-host': ['HostMemoryLow', 'OOMKillerFired', 'SystemdUnitFailed', 'FileDescriptorsHigh', 'ClockSkew'],
    'vagt-hw': ['FanFailed', 'PcieAerFatal', 'MemoryUncorrectable'],
    'vagt-disk': ['SmartFailing', 'SmartCriticalWarning', 'RaidDegraded'],
    'vagt-net': ['LinkSpeedDropped', 'BondDegraded', 'LinkFlapping'],
    'vagt-app': ['ContainerOOMKilled'],
}
# What they raise besides when they last: the BMC warns of the slow fan, too.
LATER = {'vagt-hw': {'SensorWarning'}}
# Recorded CPU counters stand still, which is a host without a moment's idleness.
ARTIFACT = {'HostCpuHigh'}
PROMETHEUS = '''
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}}
rule_files: [rules.yml, planned.yml]
scrape_configs:
  - job_name: vagt
    static_configs:
      - targets: [{targets}]
  - job_name: dcgm
    metrics_path: /metrics/gpu
    static_configs:
      - targets: ["{dcgm}"]
'''
ALERTMANAGER = '''
inhibit_rules:
  - source_matchers: [alertname="PlannedReboot"]
    target_matchers: [alertname!="PlannedReboot"]
    equal: [instance]
route:
  receiver: everything
  group_by: [alertname, instance]
  group_wait: 0s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: everything
    webhook_configs: [{{url: "http://{hooks}/hook", send_resolved: true}}]
'''


def scaled(text):
    def shorter(match):
        return '%s%dms' % (match.group(1), int(match.group(2)) * UNITS[match.group(3)] * 1000 // 60)
    return re.sub(r'((?:for|interval): |\[|offset )(\d+)([smhd])', shorter, text)


@unittest.skipUnless(os.path.exists(RULES), 'SKIPPED: %s is not there; no rule of the kit was tried' % RULES)
class LiveRules(harness.EndToEnd):
    def setUp(self):
        super().setUp()
        first = PlayedHost(os.path.join(SHARED, 'agent', 'fixtures'), os.path.join(self.folder, 'well'))
        self.hosts = {'well': first}
        for name in [*GROUPS, 'announced', 'unannounced', 'maintained']:
            self.hosts[name] = first.snapshot(os.path.join(self.folder, name))
        for host in self.hosts.values():
            self.stack.callback(host.stop)
            host.start()
        self.hooks = self.enter(harness.Capture())
        self.daemon = self.vagtd(PROMETHEUS.format(targets=', '.join('"%s"' % self.address(name) for name in self.hosts),
                                                   dcgm=self.address('well').replace('127.0.0.1', 'localhost')),
                                 ALERTMANAGER.format(hooks=self.hooks.address))
        with open(RULES, encoding='utf-8') as f:
            self.daemon.write('rules.yml', scaled(f.read()))
        with open(os.path.join(harness.ROOT, 'packaging', 'examples', 'rules', 'planned-reboot.rules.yml'), encoding='utf-8') as f:
            self.daemon.write('planned.yml', f.read())
        self.daemon.start()
        harness.wait_until('six scrapes of each host', lambda: (self.daemon.value('min(count_over_time(up[1m]))') or 0) >= 6, 60)

    def address(self, name):
        return '127.0.0.1:%d' % self.hosts[name].port

    def fired(self, name):
        """Alerts of a host that reached the receiver."""
        alerts = set()
        for request in self.hooks.seen('/hook'):
            for alert in json.loads(request['body'])['alerts']:
                if alert['labels'].get('instance') == self.address(name):
                    alerts.add(alert['labels']['alertname'])
        return alerts - ARTIFACT

    def test_faults_page_and_announcements_mute(self):
        self.assertEqual({name: self.fired(name) for name in self.hosts if self.fired(name)}, {}, 'healthy hosts are silent')
        expected = {}
        for group, alerts in GROUPS.items():
            host = self.hosts[group]
            host.stop()
            expected[group] = set(alerts)
            for alert in alerts:
                expected[group] |= FAULTS[alert].also
                FAULTS[alert].happens(host)
            host.start()
        for group in GROUPS:
            harness.wait_until('%s: %s' % (group, sorted(expected[group])), lambda: self.fired(group) >= expected[group], 90)
        # A restart of the agent may be seen as one.
        for group in GROUPS:
            self.assertEqual(self.fired(group) - expected[group] - LATER.get(group, set()) - {'AgentDown'}, set(), group)
        self.check_muting()
        self.assertEqual(self.fired('well'), set())

    def check_muting(self):
        announced, host = self.address('announced'), self.hosts['announced']
        subprocess.run([os.path.join(harness.BIN, 'vagt-agent'), 'mark-reboot', '--reason', 'new kernel', '--ttl', '25s',
                        *host.arguments], check=True, capture_output=True)
        harness.wait_until('the announcement is known', lambda: self.daemon.value(
            'count(ALERTS{alertname="PlannedReboot",alertstate="firing",instance="%s"})' % announced), 20)
        subprocess.run([os.path.join(harness.BIN, 'vagtctl'), '--alertmanager.url=' + self.daemon.url, 'silence', 'add', '-d', '10m',
                        '-c', 'new fans', 'instance="%s"' % self.address('maintained')], check=True, capture_output=True)
        for name in ('announced', 'unannounced', 'maintained'):
            self.hosts[name].stop()
        harness.wait_until('the unannounced one pages', lambda: 'AgentDown' in self.fired('unannounced'), 30)
        down = 'ALERTS{alertname="AgentDown",alertstate="firing",instance="%s"}'
        for name in ('announced', 'maintained'):
            harness.wait_until(name + ' is known to be down', lambda: self.daemon.query(down % self.address(name)), 20)
        if self.daemon.value('count(ALERTS{alertname="PlannedReboot",instance="%s"})' % announced):
            self.assertEqual(self.fired('announced') - {'PlannedReboot'}, set())
        harness.wait_until('one that is not back in time pages', lambda: 'AgentDown' in self.fired('announced'), 60)
        self.assertEqual(self.fired('maintained'), set())


if __name__ == '__main__':
    unittest.main(verbosity=2)
