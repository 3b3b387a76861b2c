#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`lapbelt plan --json` is JSON, has the keys of lapbelt-plan(1) and no others, and says what the text
says. Usage: plan.py LAPBELT PAGE
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap

lapbelt, page = sys.argv[1:]
tap = Tap()
check = tap.check

PROFILE = r'''(version 1)
(deny default)
(allow file-read* process*)
(allow file-write* (subpath "/var/tmp"))
(deny file-write* (regex #"/hooks/"))
(deny file-read* (literal "/etc/shadow"))
(allow network-outbound (remote tcp "*:443"))
(allow mach-lookup (global-name "x"))
(deny signal (target pgrp))
(deny dynamic-code-generation)
'''
OPTIONS = [['-p', PROFILE, '--limit=time=5', '--limit=memory=1G'], ['--exec', '-p', PROFILE], ['--no-userns', '-p', PROFILE],
           ['-p', '(version 1)(allow default)'], ['--exec', '-p', '(version 1)(deny default)']]


def plan(*options):
    return subprocess.run([lapbelt, 'plan', *options], stdout=subprocess.PIPE, check=True).stdout


def keys_of(value):
    """All keys anywhere in VALUE."""
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


with open(page, encoding='utf-8') as file:
    section = file.read().partition('\n.Sh JSON\n')[2].partition('\n.Sh ')[0]
documented = set(re.findall(r'\b[a-z_]+\b', ' '.join(
    re.findall(r'^\.(?:It )?Cm (.*)$', section.replace(' , Cm ', ' , '), re.M))))
found = set()

for options in OPTIONS:
    name = ' '.join(options).partition('\n')[0]
    parsed = json.loads(plan('--json', *options))
    text = plan(*options).decode()
    found |= keys_of(parsed)
    mine = [rule for rule in parsed['rules'] if not rule['added']]
    heading = (f'rules: {len(mine)}, {sum(rule["exact"] for rule in mine)} enforced as written, '
               f'{sum(not rule["applicable"] for rule in mine)} not applicable\n')
    check(heading in text, f'{name}: the rules', heading + text)
    places = [f'  {rule["rule"]["file"]}:{rule["rule"]["line"]}:{rule["rule"]["column"]}: '
              f'{rule["rule"]["text"]}\n' for rule in parsed['rules']]
    check(all(place in text for place in places), f'R146: {name}: their places', text)
    check(all(rule['applicable'] == bool(rule['by'] or rule['gaps']) for rule in parsed['rules']),
          f'{name}: of each something is said')
    check(all(rule['exact'] == (rule['applicable'] and not rule['gaps'])
              for rule in parsed['rules']), f'{name}: what is exact has no gaps')
    check(all(gap['text'] in text for gap in parsed['gaps']), f'{name}: the gaps', text)
    check(all(any(gap['rule'] == rule['rule'] and i in rule['gaps'] for rule in parsed['rules'])
              for i, gap in enumerate(parsed['gaps']) if gap['rule']),
          f'{name}: gaps stand at their rules')
    check(parsed['refused'] == any(gap['kind'] == 'content' for gap in parsed['gaps']),
          f'{name}: is it refused')
    check(all(f'\n  {item["class"]}: each call ' in text for item in parsed['broker']),
          f'{name}: the classes', text)
    check(all(f'\n  {item["name"]} {item["value"]}: {item["by"]}' in text and
              (item['why'] or '') in text for item in parsed['limits']), f'{name}: the limits', text)
    check(all(item['why'] in text for item in parsed['lane_closed']),
          f'{name}: what the lane does not serve', text)
    check(any(call['name'] == 'openat2' for item in parsed['broker'] for call in item['calls']) ==
          any(item['class'] in ('read', 'write') for item in parsed['broker']),
          f'{name}: openat2 is judged as other opens are', text)
    check(f'\nfloor: {len(parsed["floor"])} rows\n' in text and
          f'\nmounts: {len(parsed["mounts"])}\n' in text and
          f'\nfilter: {parsed["filter"]} instructions\n' in text, f'{name}: the rest', text)

check(found == documented, 'lapbelt-plan(1) has the keys',
      f'only there: {documented - found}; only here: {found - documented}')

odd = b'/var/tmp/\xff\xc3\xa9"\\\n\x1b'
profile = b'(version 1)(deny default)(allow file-read* (subpath "' + \
    odd.replace(b'\\', b'\\\\').replace(b'"', b'\\"') + b'"))'
rule = json.loads(plan('--json', '-p', os.fsdecode(profile)))['rules'][1]['rule']['text']
check(os.fsencode(rule).startswith(b'(allow file-read* (subpath "/var/tmp/\xff\xc3\xa9'),
      'bytes that are not UTF-8 come back', repr(rule))

sys.exit(tap.done())
