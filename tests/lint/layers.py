#!/usr/bin/env python3
"""Fails on an include against the table of CONTRIBUTING.md, a third-party include in a public header, or a folder without
a short README.md. Run by ctest and by ./dev lint; prints FILE:LINE and the rule."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALL = ['base', 'net', 'template', 'exposition', 'tsdb', 'query', 'scrape', 'rules', 'notify', 'config', 'node-agent',
       'cli', 'engine']
# folder -> folders or single headers it may include, besides itself
MAY = {
    'base': [],
    'net': ['base'],
    'template': ['base'],
    'exposition': ['base'],
    'tsdb': ['base'],
    'node-agent': ['base', 'net', 'exposition'],
    'query': ['base', 'tsdb/store.h'],
    'scrape': ['base', 'net', 'exposition', 'tsdb/store.h'],
    'rules': ['base', 'template', 'tsdb/store.h', 'query'],
    'notify': ['base', 'net', 'template'],
    'config': ['base', 'net', 'scrape', 'rules', 'notify'],
    'cli': [f for f in ALL if f not in ('engine', 'node-agent')],
    'engine': [f for f in ALL if f not in ('cli', 'node-agent')],
}
# The agent is one small process: the client half of net links libcurl.
NEVER = {'node-agent': ['net/http_client.h', 'net/smtp.h']}
# X3 lives in query/parse/ and nowhere else; RocksDB in tsdb, curl and Beast in net, yaml-cpp and spdlog in base.
ONLY_IN = [(r'boost/spirit', ['query/parse/']), (r'rocksdb/', ['tsdb/', 'tests/tsdb/']), (r'curl/', ['net/']),
           (r'boost/(beast|asio)', ['net/', 'tests/']), (r'yaml-cpp/', ['base/']), (r'spdlog/', ['base/']),
           (r're2/', ['base/'])]
THIRD_PARTY = re.compile(r'^(boost|rocksdb|curl|yaml-cpp|spdlog|re2|CLI|openssl|zlib|zstd|snappy|date|fmt)\b')
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


def allowed(folder, path):
    if path.split('/')[0] == folder:
        return True
    if path in NEVER.get(folder, []):
        return False
    return any(path == may or path.startswith(may + '/') for may in MAY[folder])


def check_file(folder, path, faults):
    relative = os.path.relpath(path, ROOT)
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        quoted, name = found.group(1) == '"', found.group(2)
        where = '%s:%d' % (relative, number)
        if quoted and folder in MAY and name.split('/')[0] in ALL and not allowed(folder, name):
            faults.append('%s: %s/ may not include %s' % (where, folder, name))
        for pattern, places in ONLY_IN:
            if re.match(pattern, name) and not relative.startswith(tuple(places)):
                faults.append('%s: <%s> belongs in %s' % (where, name, ' or '.join(places)))
        public = relative.endswith('.h') and folder in MAY and not relative.startswith('query/parse/') \
            and 'internal' not in relative
        if public and not quoted and THIRD_PARTY.match(name) and name != 'fmt/core.h':
            if not is_private_header(relative):
                faults.append('%s: a public header includes <%s>' % (where, name))


def is_private_header(relative):
    """A header that its folder's CMakeLists.txt does not list in HEADERS is private."""
    folder = relative.split('/')[0]
    lists = open(os.path.join(ROOT, folder, 'CMakeLists.txt'), encoding='utf-8').read()
    return relative[len(folder) + 1:] not in re.split(r'[\s()]+', lists)


def check_readme(folder, faults):
    readme = os.path.join(ROOT, folder, 'README.md')
    if not os.path.exists(readme):
        faults.append('%s/: no README.md' % folder)
    elif len(open(readme, encoding='utf-8').read().splitlines()) > 40:
        faults.append('%s/README.md: more than 40 lines' % folder)


def main():
    faults, files = [], 0
    for folder in ALL + ['tests', 'fuzz', 'bench']:
        base = os.path.join(ROOT, folder)
        if not os.path.isdir(base):
            continue
        if folder in MAY:
            check_readme(folder, faults)
        for directory, _, names in os.walk(base):
            for name in sorted(names):
                if name.endswith(('.h', '.cpp')):
                    files += 1
                    check_file(folder, os.path.join(directory, name), faults)
    print('\n'.join(faults) or 'layers: %d files keep to the table' % files)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
