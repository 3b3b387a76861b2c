#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Each report of reports.txt has a row that tries it, whose title begins with its number, and each
number stands for a report. Says how many there are. Usage: reports.py [FOLDER]
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap

tap = Tap()
folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
folder = folder if folder.is_dir() else folder.parent

listed = re.findall(r'^(R\d{3}) (?:\S.*?) {1,}\S', (folder / 'reports.txt').read_text(), re.M)
rows = {}
for path in sorted([*folder.glob('*.sh'), *folder.glob('*.py')]):
    for numbers in re.findall(r'''["']((?:R\d{3} )*R\d{3}): ''', path.read_text()):
        for number in numbers.split():
            rows.setdefault(number, []).append(path.name)

tap.check(len(listed) == len(set(listed)), 'no report is listed twice')
for number in listed:
    tap.check(number in rows, f'{number} is tried by {", ".join(sorted(set(rows.get(number, ["nothing"]))))}')
unknown = sorted(set(rows) - set(listed))
tap.check(not unknown, 'each number stands for a report', ' '.join(unknown))
print(f'# {len(set(listed) & set(rows))} reports are tried, by {sum(map(len, rows.values()))} rows')
sys.exit(tap.done())
