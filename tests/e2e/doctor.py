#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`lapbelt doctor` says what is so, here and where something is taken away. Usage: doctor.py LAPBELT
PAGE
"""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap

lapbelt, page = os.path.realpath(sys.argv[1]), sys.argv[2]
tap = Tap()
check, skip = tap.check, tap.skip


def doctor(*before):
    """What it says behind the command BEFORE, and its exit status."""
    done = subprocess.run([*before, lapbelt, 'doctor', '--json'], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    try:
        return json.loads(done.stdout), done.returncode
    except ValueError:
        return done.stdout, done.returncode


def value(found, name):
    return next(row['value'] for row in found['findings'] if row['name'] == name)


def found_text(found, name):
    return next(row['text'] for row in found['findings'] if row['name'] == name)


here, status = doctor()
check(isinstance(here, dict), 'the JSON is JSON', str(here))
text = subprocess.run([lapbelt, 'doctor'], stdout=subprocess.PIPE, text=True, check=False).stdout
check(all(f'{"ok" if row["good"] else "--"} {row["name"]}: {row["text"]}\n' in text
          for row in here['findings']), 'the text says the same', text)
check(status == (0 if here['enforced'] else 1), 'the exit status is whether the policy holds')

with open(page, encoding='utf-8') as file:
    lines = file.read()
names = [name for line in re.findall(r'^\.It Cm (.*)$', lines, re.M) for name in line.split(' , ')]
check(names == [row['name'] for row in here['findings']], 'lapbelt-doctor(1) has the findings',
      f'{names}')
check(all(f'.Cm {key}' in lines or f', {key}' in lines
          for key in ['enforced', 'findings', *here['findings'][0]]), 'and the keys')

plan = json.loads(subprocess.run(
    [lapbelt, 'plan', '--json', '-p', '(version 1)(allow default)'],
    stdout=subprocess.PIPE, check=False).stdout or '{"namespaces": []}')
check((value(here, 'user-namespaces') == 'yes') == ('user' in plan['namespaces']),
      'plans use user namespaces where it finds them', str(here))

# Something is taken away; the same probe had it.
if value(here, 'user-namespaces') == 'yes' and value(here, 'mode') == 'userns':
    taken, status = doctor('unshare', '-Ur', 'sh', '-c',
                           'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', 'sh')
    check(value(taken, 'mode') == 'no-userns' and value(taken, 'user-namespaces') == 'no',
          'without user namespaces the mode is another', str(taken))
    check('max_user_namespaces is 0' in found_text(taken, 'user-namespaces'),
          'and it says what is in the way', str(taken))
    check(status == 0 and taken['enforced'], 'but the policy holds all the same', str(taken))
else:
    skip('without user namespaces the mode is another', 'there are none to take away')

if value(here, 'mode') in ('userns', 'no-userns'):
    nested, status = doctor(lapbelt, 'exec', '-p', '(version 1)(allow default)')
    check(value(nested, 'mode') == 'nested' and value(nested, 'listener') == 'no',
          'inside a sandbox it knows that it is', str(nested))
    check(status == 1 and not nested['enforced'],
          'and that it judges too little for the default policy', str(nested))
    nested, status = doctor(lapbelt, 'run', '--')
    check(value(nested, 'mode') == 'nested' and status == 0 and nested['enforced'] and
          'write, attributes' in found_text(nested, 'listener'),
          'or enough, and what', str(nested))
else:
    skip('inside a sandbox it knows that it is', 'no sandbox can be made here')

done = subprocess.run([lapbelt, 'doctor', 'twice'], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False)
check(done.returncode == 64, 'a word too many is one')

sys.exit(tap.done())
