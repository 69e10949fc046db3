#!/usr/bin/env python3
"""The shipped rules: their unit tests pass, and each alert has a runbook that exists and a test that names it.

Needs vagtctl in VAGT_BIN; asks promtool too where there is one."""
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


def main():
    faults = [fault for rules in shipped() for fault in faults_of(rules)] + list(dead_links())
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
