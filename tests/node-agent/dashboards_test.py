#!/usr/bin/env python3
"""Which metrics of dashboards 1860 and 12239 are on the agent's pages.

  dashboards_test.py AGENT SHARED

SHARED/agent/metrics.tsv names what each dashboard uses. A name counts as present when it is on this host's page, on the page of a
recorded host or GPU, or in the program itself (its hardware is not here). Exit status 1: one is nowhere and has no reason below.
"""
import pathlib, re, subprocess, sys

agent, shared = sys.argv[1], pathlib.Path(sys.argv[2])
REASONS = {
    'node_netstat_Tcp_MaxConn': "outside node_exporter's default fields; --collector.netstat.fields adds it",
    'node_memory_VmallocChunk_bytes': 'kernels since 4.4 print it on request of the configuration only',
    'up': 'made by the scraper',
}
run = subprocess.run([agent, 'collect', '--collector.tcpstat', '--collector.processes', '--collector.interrupts'], capture_output=True, timeout=300)
page = {re.split(rb'[{ ]', line)[0].decode() for line in run.stdout.splitlines() if line and not line.startswith(b'#')}
recorded = set()
for path in (shared / 'agent' / 'fixtures' / 'expected').glob('*.prom'):
    recorded |= {re.split(r'[{ ]', line)[0] for line in path.read_text().splitlines() if line and line[0] != '#'}
program = pathlib.Path(agent).read_bytes()
# Families whose names are put together from what the kernel prints.
MADE = re.compile(r'node_(memory|netstat|vmstat|sockstat)_\w+$|node_network_(receive|transmit)_\w+$')

wanted = {}
for line in (shared / 'agent' / 'metrics.tsv').read_text().splitlines():
    for dashboard in ('1860', '12239'):
        if re.search(r'\b%s\b' % dashboard, line):
            wanted.setdefault(dashboard, set()).add(line.split('\t')[0])
missing = 0
for dashboard, names in sorted(wanted.items()):
    counts = {'on this page': 0, 'on a recorded page': 0, 'in the program': 0, 'with a reason': 0}
    for name in sorted(names):
        if name in page:
            counts['on this page'] += 1
        elif name in recorded:
            counts['on a recorded page'] += 1
        elif name.encode() in program or MADE.match(name):
            counts['in the program'] += 1
        elif name in REASONS:
            counts['with a reason'] += 1
            print('%s: %s: %s' % (dashboard, name, REASONS[name]))
        else:
            missing += 1
            print('%s: MISSING %s' % (dashboard, name))
    print('dashboard %s: %d names: %s' % (dashboard, len(names), ', '.join('%d %s' % (n, k) for k, n in counts.items())))
sys.exit(1 if missing else 0)
