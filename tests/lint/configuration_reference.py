#!/usr/bin/env python3
"""Writes docs/configuration.md from the structs of config/ and scrape/ and the code that fills them; --check says whether it
is current. A key's type and default come from its struct member, its meaning from the comment there or, where several keys
share a member or none has one, from MEANINGS below."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = 'docs/configuration.md'
HEADERS = ['config/prometheus_config.h', 'config/sections.h', 'scrape/scrape_config.h', 'scrape/discovery_config.h',
           'scrape/relabel.h', 'net/http_client.h']

TYPES = [(r'^Duration', 'duration'), (r'^(std::)?u?int\d+_t', 'int'), (r'^bool', 'bool'), (r'^double', 'float'), (r'^Secret', 'secret'),
         (r'^std::string', 'string'), (r'^std::vector<std::string>', 'list of strings'), (r'^Labels', 'map of strings'),
         (r'^std::map', 'map of strings'), (r'^std::optional<Duration>', 'duration'), (r'^std::optional<uint64_t>', 'size'),
         (r'^std::optional<double>', 'float')]
UNITS = {'seconds': 's', 'minutes': 'm', 'hours': 'h', 'milliseconds': 'ms'}

# Sections: title, where it stands, (file, function) of its reader, {variable: struct}.
SECTIONS = [
    ('global', '`global:`', [('config/scrape_section.cpp', 'read_global'), ('config/scrape_section.cpp', 'read_limits'),
                             ('config/scrape_section.cpp', 'read_name_scheme')],
     {'out': 'GlobalConfig', 'defaults': 'JobDefaults', 'limits': 'ScrapeLimits'}),
    ('scrape_config', '`scrape_configs:`, a list', [
        ('config/scrape_section.cpp', 'read_job'), ('config/scrape_section.cpp', 'read_timing'),
        ('config/scrape_section.cpp', 'read_job_protocols'), ('config/scrape_section.cpp', 'read_limits'),
        ('config/scrape_section.cpp', 'read_name_scheme'), ('config/discovery_section.cpp', 'read_discovery')],
     {'job': 'ScrapeConfig', 'limits': 'ScrapeLimits'}),
    ('http_config', 'beside the other keys of `scrape_configs`, `alertmanagers`, `remote_write`, `remote_read` and of the discovery '
     'sections that ask over HTTP', [('config/http_config.cpp', 'read_http_config')], {'out': 'HttpClientConfig'}),
    ('basic_auth', '`basic_auth:`', [('config/http_config.cpp', 'read_basic_auth')], {'out': 'BasicAuth'}),
    ('authorization', '`authorization:`', [('config/http_config.cpp', 'read_authorization')], {'out': 'Authorization'}),
    ('oauth2', '`oauth2:`', [('config/http_config.cpp', 'read_oauth2')], {'out': 'OAuth2'}),
    ('tls_config', '`tls_config:`', [('config/http_config.cpp', 'read_tls_config')], {'out': 'TlsOptions'}),
    ('http_headers', '`http_headers:`, a map of header names to', [('config/http_config.cpp', 'read_headers')], {}),
    ('relabel_config', '`relabel_configs:`, `metric_relabel_configs:`, `alert_relabel_configs:`, `write_relabel_configs:`, lists',
     [('config/relabel_section.cpp', 'read_rule')], {'rule': 'RelabelConfig'}),
    ('static_config', '`static_configs:`, a list', [('config/discovery_section.cpp', 'read_static_group')], {'group': 'TargetGroup'}),
    ('file_sd_config', '`file_sd_configs:`, a list', [('config/discovery_section.cpp', 'read_file_discovery')],
     {'config': 'FileDiscoveryConfig'}),
    ('http_sd_config', '`http_sd_configs:`, a list', [('config/discovery_section.cpp', 'read_http_discovery')],
     {'config': 'HttpDiscoveryConfig'}),
    ('dns_sd_config', '`dns_sd_configs:`, a list', [('config/discovery_kinds.cpp', 'read_dns_discovery'),
                                                  ('config/discovery_kinds.cpp', 'read_port')], {'config': 'DnsDiscoveryConfig'}),
    ('docker_sd_config', '`docker_sd_configs:`, a list', [('config/discovery_kinds.cpp', 'read_docker_discovery'),
                                                        ('config/discovery_kinds.cpp', 'read_port')], {'config': 'DockerDiscoveryConfig'}),
    ('consul_sd_config', '`consul_sd_configs:`, a list', [('config/discovery_kinds.cpp', 'read_consul_discovery')],
     {'config': 'ConsulDiscoveryConfig'}),
    ('kubernetes_sd_config', '`kubernetes_sd_configs:`, a list', [('config/discovery_kinds.cpp', 'read_kubernetes_discovery')],
     {'config': 'KubernetesDiscoveryConfig'}),
    ('namespaces', '`namespaces:` of kubernetes_sd_config', [('config/discovery_kinds.cpp', 'read_namespaces')],
     {'out': 'KubernetesDiscoveryConfig'}),
    ('selectors', '`selectors:` of kubernetes_sd_config, a list', [('config/discovery_kinds.cpp', 'read_selectors')],
     {'selector': 'Selector'}),
    ('attach_metadata', '`attach_metadata:` of kubernetes_sd_config', [('config/discovery_kinds.cpp', 'read_attached')],
     {'out': 'KubernetesDiscoveryConfig'}),
    ('alerting', '`alerting:`', [('config/prometheus_sections.cpp', 'read_alerting')], {'out': 'AlertingConfig'}),
    ('alertmanager_config', '`alertmanagers:`, a list', [('config/prometheus_sections.cpp', 'read_alertmanager')],
     {'config': 'AlertmanagerTarget'}),
    ('storage', '`storage:`', [('config/prometheus_sections.cpp', 'read_storage')], {'out': 'StorageConfig'}),
    ('tsdb', '`storage.tsdb:`', [('config/prometheus_sections.cpp', 'read_tsdb')], {'out': 'StorageConfig'}),
    ('retention', '`storage.tsdb.retention:`', [('config/prometheus_sections.cpp', 'read_retention')], {'out': 'StorageConfig'}),
    ('chunk_encoding', '`storage.tsdb.chunk_encoding:`', [('config/prometheus_sections.cpp', 'read_chunk_encoding')],
     {'out': 'StorageConfig'}),
    ('exemplars', '`storage.exemplars:`', [('config/prometheus_sections.cpp', 'read_exemplars')], {'out': 'StorageConfig'}),
    ('remote_write', '`remote_write:`, a list', [('config/remote_section.cpp', 'read_writer')], {'config': 'RemoteWriteConfig'}),
    ('queue_config', '`queue_config:` of remote_write', [('config/remote_section.cpp', 'read_queue')], {'out': 'RemoteQueueConfig'}),
    ('metadata_config', '`metadata_config:` of remote_write', [('config/remote_section.cpp', 'read_metadata_config')],
     {'out': 'RemoteWriteConfig'}),
    ('remote_read', '`remote_read:`, a list', [('config/remote_section.cpp', 'read_reader')], {'config': 'RemoteReadConfig'}),
    ('otlp', '`otlp:`', [('config/remote_section.cpp', 'read_otlp')], {'out': 'OtlpConfig'}),
    ('tracing', '`tracing:`', [('config/remote_section.cpp', 'read_tracing')], {}),
    ('runtime', '`runtime:`', [('config/prometheus_config.cpp', 'read_runtime')], {}),
]

# section.key or key → (type, default, meaning); "" leaves what the struct says.
MEANINGS = {
    'scrape_interval': ('', '1m', 'How often targets are scraped.'),
    'scrape_timeout': ('duration', '10s, or the interval where that is shorter', 'Of one scrape.'),
    'scrape_config.scrape_interval': ('', 'global', 'How often targets are scraped.'),
    'scrape_config.scrape_timeout': ('duration', 'global', 'Of one scrape.'),
    'evaluation_interval': ('', '', 'How often rules are evaluated.'),
    'rule_query_offset': ('', '', 'Rules look this far into the past.'),
    'query_log_file': ('', '', 'Where queries are logged.'),
    'scrape_failure_log_file': ('string', '', 'Where failed scrapes are logged.'),
    'scrape_protocols': ('list of strings', 'all text formats, OpenMetrics 1.0.0 first', 'What is offered to targets, best first.'),
    'fallback_scrape_protocol': ('string', '', 'What a page is read as whose Content-Type says nothing of use.'),
    'metric_name_validation_scheme': ('string', 'utf8', '`utf8` or `legacy`.'),
    'metric_name_escaping_scheme': ('string', 'allow-utf-8', '`allow-utf-8`, `underscores`, `dots` or `values`.'),
    'body_size_limit': ('size', '0', 'Of an uncompressed page; 0: none.'),
    'sample_limit': ('', '', 'Samples of a scrape after metric relabelling; more fail it.'),
    'label_limit': ('', '', 'Labels of a sample; more fail the scrape.'),
    'job_name': ('string', 'required', 'Unique; the label `job` unless a target brings one.'),
    'metrics_path': ('', '', 'The path of the page.'),
    'scheme': ('', '', '`http` or `https`.'),
    'params': ('map of lists', '', 'The query string.'),
    'honor_labels': ('', '', "A page's own labels win over the target's."),
    'honor_timestamps': ('', '', "A page's own time stamps count."),
    'track_timestamps_staleness': ('', '', 'Series with time stamps of their own end when they vanish.'),
    'enable_compression': ('', '', 'Pages are asked for compressed.'),
    'extra_scrape_metrics': ('', '', 'Adds `scrape_timeout_seconds`, `scrape_sample_limit` and `scrape_body_size_bytes`.'),
    'relabel_configs': ('list', '', 'See [relabel_config](#relabel_config): of targets.'),
    'metric_relabel_configs': ('list', '', 'See [relabel_config](#relabel_config): of samples.'),
    'alert_relabel_configs': ('list', '', 'See [relabel_config](#relabel_config): of alerts that are sent.'),
    'write_relabel_configs': ('list', '', 'See [relabel_config](#relabel_config): of what is sent.'),
    'external_labels': ('map of strings', '', 'Added to what leaves; `$VAR` and `${VAR}` come from the environment.'),
    'http_headers': ('map', '', 'See [http_headers](#http_headers).'),
    'proxy_connect_header': ('map of lists', '', 'Sent to the proxy with CONNECT.'),
    'bearer_token': ('secret', '', 'As `authorization.credentials`.'),
    'bearer_token_file': ('string', '', 'As `authorization.credentials_file`.'),
    'follow_redirects': ('', '', 'Credentials never follow to another host.'),
    'insecure_skip_verify': ('', '', "The server's certificate is not checked."),
    'values': ('list of strings', '', 'Values, one header each.'),
    'secrets': ('list of secrets', '', 'The same, not shown.'),
    'files': ('list of strings', '', 'Files that hold a value each, read with every request.'),
    'file_sd_config.files': ('', 'required', 'Globs, `*` in the last element only; `.json`, `.yml`, `.yaml`. Watched with inotify.'),
    'refresh_interval': ('', '', 'How often the source is asked.'),
    'targets': ('list of strings', '', '`host:port`.'),
    'labels': ('map of strings', '', 'Of all these targets.'),
    'role': ('string', 'required', '`pod`, `service`, `endpoints`, `endpointslice`, `node` or `ingress`.'),
    'selectors': ('list', '', 'See [selectors](#selectors).'),
    'namespaces': ('map', '', 'See [namespaces](#namespaces).'),
    'attach_metadata': ('map', '', 'See [attach_metadata](#attach_metadata).'),
    'username': ('string', '', 'For basic auth.'), 'password': ('secret', '', 'For basic auth.'),
    'filters': ('list of `{name, values}`', '', "Docker's filters of its container list."),
    'port': ('int', '', 'Of targets whose source names none.'),
    'regex': ('', '', 'RE2, anchored at both ends.'), 'action': ('string', 'replace', 'What the rule does.'),
    'alertmanagers': ('list', '', 'See [alertmanager_config](#alertmanager_config).'),
    'size': ('size', 'the flag', 'Of what is kept.'), 'time': ('', 'the flag', 'How long samples are kept.'),
    'percentage': ('', '', 'Of the disk.'),
    'floats': ('', '', '`xor` or `xor2`; shown, without effect here.'),
    'max_exemplars': ('', '', 'Exemplars kept in memory; 0: none.'),
    'endpoint_params': ('map of strings', '', 'Sent with the request for a token.'),
    'token_url': ('', 'required', 'Where tokens are fetched.'),
    'proxy_url': ('', '', 'Requests go through it.'), 'no_proxy': ('', '', 'Hosts, addresses and ranges that do not.'),
    'proxy_from_environment': ('bool', '', '`HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` count.'),
    'enable_http2': ('', '', 'HTTP/2 is offered over TLS.'),
    'credentials_file': ('', '', 'Read at each request.'),
    'url': ('', 'required', ''), 'send': ('', '', 'Metadata is sent.'),
    'gogc': ('int', '75', 'Without effect here.'),
    'username_ref': ('string', '', 'Refused: there is no secret manager.'), 'password_ref': ('string', '', 'Refused: there is no secret manager.'),
}
NESTED = {'basic_auth', 'authorization', 'oauth2', 'tls_config', 'tsdb', 'exemplars', 'retention', 'chunk_encoding', 'queue_config',
          'metadata_config'}
INTRO = '''# The configuration file

*Written by `tests/lint/configuration_reference.py --write` from the structs and their readers; a test says when it is not current.*

`prometheus.yml` as of Prometheus 3.14. Relative paths are relative to the file. Keys that are unknown, misspelt or there twice are
errors with file:line:column and the nearest key. Secrets are shown as `<secret>`. A reload restarts only what changed.

Top level: `global`, `runtime`, `rule_files` (globs), `scrape_config_files` (globs of files with `scrape_configs:`), `scrape_configs`,
`alerting`, `storage`, `remote_write`, `remote_read`, `otlp`, `tracing`, and ours: `notify_file`, the path of an `alertmanager.yml`
that vagtd runs itself.

Types: *duration* is `1h30m`, *size* is `512MB` (powers of 1024), *secret* is a string that is not shown.
'''


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


def struct_members():
    """{struct: {member: (type, default, comment)}}"""
    structs = {}
    for path in HEADERS:
        stack, pending = [], []
        for line in read(path).split('\n'):
            code, _, comment = line.partition('//')
            code, comment = code.rstrip(), comment.strip()
            opened = re.match(r'\s*struct (\w+) \{', code)
            if opened:
                stack.append(opened.group(1))
                structs.setdefault(opened.group(1), {})
                pending = []
                continue
            if re.match(r'\s*\};', code) and stack:
                stack.pop()
                pending = []
                continue
            if not code.strip():
                pending = pending + [comment] if comment else []
                continue
            if not stack or '(' in code.split('=')[0].split('{')[0]:
                pending = []
                continue
            member = re.match(r'\s*([\w:]+(?:<.*>)?)\s+(.+);$', code)
            if member:
                for name, default in split_declarators(member.group(2)):
                    structs[stack[-1]][name] = (member.group(1), default, ' '.join(pending + ([comment] if comment else [])))
            pending = []
    return structs


def split_declarators(text):
    """"a = 1, b{0}, c" → [("a", "1"), ("b", "0"), ("c", "")]"""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in '({<') - (c in ')}>')
        if c == ',' and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    out = []
    for part in parts:
        found = re.match(r'\s*(\w+)\s*(?:=\s*(.*)|\{(.*)\})?$', part)
        if found:
            out.append((found.group(1), (found.group(2) or found.group(3) or '').strip()))
    return out


def function_body(path, name):
    text = read(path)
    found = re.search(r'^[A-Za-z][\w:<>, &*\n]*\b%s\(' % name, text, re.M)
    if not found:
        raise SystemExit('%s: no function %s' % (path, name))
    start = text.index('{\n', found.end())
    return text[start:text.index('\n}\n', start)]


def keys_of(body):
    """[(key, variable or "", member or "")] in the order they are read."""
    found = []
    for match in re.finditer(r'(?:\.|\b)(read|read_bytes|take|section|read_sources)\(\s*(?:fields,\s*)?"(\w+)"(?:,\s*([\w.]+))?', body):
        variable, _, member = (match.group(3) or '').rpartition('.')
        found.append((match.group(2), variable.split('.')[0], member))
    for match in re.finditer(r'each_of\(fields, "(\w+)"', body):
        found.append((match.group(1), '', ''))
    for match in re.finditer(r'\{\s*("\w+"(?:,\s*"\w+")+)\s*\}', body):
        for key in re.findall(r'"(\w+)"', match.group(1)):
            if key in ('proxy_url', 'no_proxy', 'proxy_from_environment', 'proxy_connect_header'):
                found.append((key, '', ''))
    unique = {}
    for key, variable, member in found:
        if key not in unique or (member and not unique[key][1]):
            unique[key] = (variable, member)
    return [(key, *rest) for key, rest in unique.items()]


def default_text(default):
    found = re.match(r'std::chrono::(\w+)\(([\d\']+)\)', default)
    if found:
        return found.group(2).replace("'", '') + UNITS[found.group(1)]
    return default.replace("'", '').replace('{', '').replace('}', '').strip('"') if not default.startswith('{') else ''


def type_text(kind):
    for pattern, text in TYPES:
        if re.match(pattern, kind):
            return text
    return 'string'


def row(section, key, variable, member, variables, structs):
    kind, default, meaning = '', '', ''
    struct = structs.get(variables.get(variable, ''), {})
    if member in struct:
        kind, default, meaning = struct[member]
        kind, default = type_text(kind), default_text(default)
        if kind == 'duration' and default == '0':
            default = '0s'
        if kind == 'bool' and not default:
            default = 'false'
    for name in ('%s.%s' % (section, key), key):
        if name in MEANINGS:
            given = MEANINGS[name]
            kind, default = given[0] or kind, given[1] or default
            meaning = given[2] if not meaning or name == '%s.%s' % (section, key) else meaning
            break
    if key in NESTED:
        kind, meaning = 'map', 'See [%s](#%s).' % (key, key)
    if key.endswith('_sd_configs') or key == 'static_configs':
        known = any(title == key[:-1] for title, *_ in SECTIONS)
        kind, meaning = 'list', 'See [%s](#%s).' % (key[:-1], key[:-1]) if known else meaning
    return '| `%s` | %s | %s | %s |' % (key, kind or 'string', '`%s`' % default if default and ' ' not in default else default,
                                        meaning.replace('|', '\\|'))


def unimplemented():
    return sorted(set(re.findall(r'\{"(\w+_sd_configs)"', read('config/discovery_unimplemented.cpp'))))


def page():
    structs = struct_members()
    lines = [INTRO]
    for title, place, readers, variables in SECTIONS:
        lines += ['## %s' % title, '', 'Stands at: %s.' % place, '', '| key | type | default | meaning |', '|---|---|---|---|']
        seen = set()
        for path, function in readers:
            for key, variable, member in keys_of(function_body(path, function)):
                if key not in seen:
                    seen.add(key)
                    lines.append(row(title, key, variable, member, variables, structs))
        if len(seen) == 0:
            raise SystemExit('%s: no keys found' % title)
        lines.append('')
    kinds = unimplemented()
    lines += ['## Discovery that does not run here', '',
              'These kinds are read and checked as Prometheus does; at load they are warned of, `/api/v1/targets` shows an error for the '
              'job, `prometheus_sd_failed_configs` counts them, and the rest of the job runs: ' +
              ', '.join('`%s`' % kind for kind in kinds) + '.', '']
    return '\n'.join(lines)


def main():
    text = page()
    if '--write' in sys.argv:
        with open(os.path.join(ROOT, OUT), 'w', encoding='utf-8') as f:
            f.write(text)
        return 0
    if not os.path.exists(os.path.join(ROOT, OUT)) or read(OUT) != text:
        print('%s is not current: run tests/lint/configuration_reference.py --write' % OUT)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
