#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs every example of the manual pages. Usage: examples.py LAPBELT PAGE...

A comment before each literal block or display says what it is:

  .\" example: sbt           a case in the format of lapbelt-test(5), without its title
  .\" example: sbt file      the same with titles, as a whole file
  .\" example: file NAME     the contents of a file, for what follows in this page
  .\" example: shell         commands behind "$ ", each with what it prints
  .\" example: c             the body of a function, which compiles
  .\" example: shown REASON  not run, because REASON

Commands run in a project below a home directory, both empty at the start of a page.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap
from pages import Page


class Place:
    """Where the commands of one page run."""

    def __init__(self, lapbelt, include):
        self.include = include
        # Not below /tmp, which is a place of its own to a run.
        self.root = pathlib.Path(tempfile.mkdtemp(prefix='lapbelt-man.', dir='/var/tmp'))
        self.home = self.root / 'home'
        self.project = self.home / 'project'
        self.project.mkdir(parents=True)
        tools = self.root / 'tools'
        tools.mkdir()
        (tools / 'lapbelt').symlink_to(lapbelt)
        (tools / 'sandbox-exec').symlink_to(lapbelt)
        self.env = {'HOME': str(self.home), 'LC_ALL': 'C',
                    'PATH': f'{tools}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'}

    def run(self, command):
        done = subprocess.run(['sh', '-c', command], cwd=self.project, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return done.stdout.replace(str(self.home), '/home/u')

    def remove(self):
        shutil.rmtree(self.root)


def run_table(place, example):
    lines = example.lines if example.kind == 'sbt file' else ['=== example'] + example.lines
    (place.root / 'example.sbt').write_text('\n'.join(lines) + '\n')
    done = subprocess.run(['lapbelt', 'test', str(place.root / 'example.sbt')], env=place.env,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    bad = [line for line in done.stdout.splitlines() if not line.startswith('ok ')]
    return done.returncode == 0 and 'ok 1' in done.stdout, '\n'.join(bad)


def run_shell(place, example):
    """Each command prints what stands below it."""
    wanted, found = '\n'.join(example.lines), []
    if not example.lines[0].startswith('$ '):
        return False, 'it begins with no command'
    for line in example.lines:
        if line.startswith('$ '):
            found += [line] + place.run(line[2:]).splitlines()
    return '\n'.join(found) == wanted, '\n'.join(found)


def compile_c(place, example):
    """The body of a function that returns an int."""
    code = place.root / 'example.c'
    code.write_text('#include <stdio.h>\n#include <lapbelt.h>\nint example(void);\n'
                    'int example(void)\n{\n' + '\n'.join(example.lines) + '\n}\n')
    done = subprocess.run(['cc', '-std=c11', '-Wall', '-Wextra', '-Werror', '-fsyntax-only',
                           f'-I{place.include}', str(code)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def run_example(place, example):
    kind = example.kind or ''
    if kind == 'c':
        return compile_c(place, example)
    if kind in ('sbt', 'sbt file'):
        return run_table(place, example)
    if kind == 'shell':
        return run_shell(place, example)
    if kind.startswith('file '):
        (place.project / kind[5:]).write_text('\n'.join(example.lines) + '\n')
        return True, ''
    return kind.startswith('shown ') and len(kind) > 10, 'no comment says how to run it'


def main():
    lapbelt, tap = os.path.realpath(sys.argv[1]), Tap()
    for path in sys.argv[2:]:
        page = Page(pathlib.Path(path))
        place = Place(lapbelt, pathlib.Path(path).parent.parent / 'include')
        for example in page.examples():
            good, why = run_example(place, example)
            tap.check(good, f'{page.name}:{example.line} {example.kind}', why)
        place.remove()
    return tap.done()


sys.exit(main())
