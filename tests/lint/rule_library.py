#!/usr/bin/env python3
"""The shipped rules: their unit tests pass, each alert has a runbook that exists and a test that names it, and the linter finds
nothing in them, but every flaw of the documented ones; each of its findings has a page.

Needs vagtctl in VAGT_BIN; asks promtool too where there is one."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / 'rules' / 'library'


def shipped():
    return sorted(f for f in LIBRARY.glob('*.rules.yml') if f.name != 'documented.rules.yml')


def faults_of(rules):
    text = rules.read_text(encoding='utf-8')
    tests = LIBRARY / 'tests' / rules.name.replace('.rules.yml', '.test.yml')
    tested = tests.read_text(encoding='utf-8') if tests.exists() else ''
    for alert in re.split(r'^ *- alert: ', text, flags=re.M)[1:]:
        name = alert.split('\n', 1)[0].strip()
        runbook = re.search(r'runbook_url: *(\S+)', alert)
        if runbook is None:
            yield '%s: %s has no runbook_url' % (rules.name, name)
        elif not (ROOT / runbook.group(1)).exists():
            yield '%s: %s: there is no %s' % (rules.name, name, runbook.group(1))
        if not re.search(r'\b%s\b' % re.escape(name), tested):
            yield '%s: %s has no unit test' % (rules.name, name)


def dead_links():
    for page in sorted((ROOT / 'docs' / 'runbooks').glob('*.md')):
        for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', page.read_text(encoding='utf-8')):
            if not (page.parent / link).exists():
                yield 'docs/runbooks/%s: there is no %s' % (page.name, link)


# What the linter has to say of the rules that many sites have: each flaw they are known for.
DOCUMENTED = {
    'GPUTempCritical': ['threshold-of-one-product'],
    'GPUThermalThrottling': ['for-filters-nothing', 'off-by-default'],
    'GPUECCUncorrectable': ['cleared-by-reset'],
    'GPUXIDError': ['rate-on-gauge'],
    'GPUPowerEnvelopeExceeded': ['threshold-of-one-product'],
    'GPUIdleDuringWork': ['allocated-is-not-busy', 'one-sample-resets-for'],
    'HostMemoryLow': ['share-of-memory'],
    'OOMKillerFired': [],
    'ContainerRestartLoop': ['rate-on-gauge'],
    'vLLMQueueBacklog': ['one-sample-resets-for'],
    'vLLMHighLatency': ['latency-of-whole-answer', 'quantile-of-every-series'],
}
EVERYWHERE = {'no-runbook', 'no-summary'}


def lint(*files):
    run = subprocess.run([os.path.join(os.environ['VAGT_BIN'], 'vagtctl'), '-o', 'json', 'lint', 'rules', *map(str, files)],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def lint_faults():
    for note in lint(*shipped()):
        yield '%s:%d: %s: %s [%s]' % (os.path.basename(note['file']), note['line'], note['rule'], note['text'], note['code'])
    found = {name: [] for name in DOCUMENTED}
    for note in lint(LIBRARY / 'documented.rules.yml'):
        if note['code'] not in EVERYWHERE:
            found[note['rule']].append(note['code'])
    for name, codes in DOCUMENTED.items():
        if sorted(found[name]) != codes:
            yield 'documented.rules.yml: %s: the linter finds %s, not %s' % (name, sorted(found[name]), codes)


def page_faults():
    usage = subprocess.run([os.path.join(os.environ['VAGT_BIN'], 'vagtctl'), 'lint', 'rules', '--help'],
                           capture_output=True, text=True, check=True).stdout
    codes = set(re.findall(r'^  ([a-z]+(?:-[a-z]+)+) {2,}', usage, flags=re.M))
    pages = {page.stem for page in (ROOT / 'docs' / 'lint').glob('*.md')}
    for code in sorted(codes ^ pages):
        yield 'docs/lint/%s.md: %s' % (code, 'no such page' if code in codes else 'no such finding')


def main():
    faults = [fault for rules in shipped() for fault in faults_of(rules)] + list(dead_links())
    faults += [*lint_faults(), *page_faults()]
    for tool in [os.path.join(os.environ['VAGT_BIN'], 'vagtctl'), shutil.which('promtool')]:
        if tool is None:
            print('no promtool here: the unit tests ran under vagtctl only')
            continue
        run = subprocess.run([tool, 'test', 'rules', *map(str, sorted((LIBRARY / 'tests').glob('*.test.yml')))],
                             capture_output=True, text=True, check=False)
        if run.returncode != 0:
            faults.append('%s test rules: exit status %d\n%s%s' % (tool, run.returncode, run.stdout, run.stderr))
    print('\n'.join(faults) or 'rule library: %d files, all tested and with runbooks' % len(shipped()))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
