#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The manual pages against the program: every command has a page and every option is in it, every
function of the library is in liblapbelt(3), and pages refer to pages that are there.
Usage: commands.py LAPBELT SOURCE
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap
from pages import Page, marked

lapbelt, source = sys.argv[1], pathlib.Path(sys.argv[2])
pages = {path.name: Page(path) for path in sorted((source / 'man').glob('*.[0-9]'))}
tap = Tap()


def same(what, wanted, found):
    """One test: the page (FOUND) has what the program has (WANTED)."""
    wanted, found = sorted(wanted), sorted(found)
    tap.check(wanted == found, f'{what} ({len(wanted)})',
              f'the program has: {", ".join(wanted)}\nthe page has:     {", ".join(found)}')


def said(*words):
    return subprocess.run([lapbelt, *words], stdout=subprocess.PIPE, text=True, check=True).stdout


# ---- Commands and options ----

summary = dict(re.findall(r'^  (\S+) +(\S.*)$', said('--help'), re.M))


def options_of(command):
    """The options of `lapbelt help COMMAND`, each a list of its names; its operands."""
    text = said('help', command)
    rows = [re.findall(r'--?[\w-]+', row)
            for row in re.findall(r'^  ((?:-\w(?:, )?|    )(?:--[\w-]+)?)[ =]', text, re.M)]
    return rows, re.search(r'^usage: lapbelt \S+ \[OPTION\.\.\.\] ?(.*)', text).group(1)


def flags(lines):
    """The options that LINES name by .Fl, which writes one dash itself."""
    return {'-' + word for line in lines for word in marked(line, 'Fl')}


same('lapbelt(1) lists the commands', [*summary, 'help', 'version'],
     [name for line in pages['lapbelt.1'].lines
      if (found := re.match(r'\.It Cm (\w+)', line)) for name in [found.group(1)]])
helps = {'-h', '--help'}
for command in summary:
    page = pages[f'lapbelt-{command}.1']
    rows, operands = options_of(command)
    options = {name for row in rows for name in row}
    synopsis = page.section('SYNOPSIS')
    same(f'{page.name} has the options of {command}', options,
         flags(page.lines) & options | helps)
    same(f'{page.name} describes no other options', [],
         {flag for line in page.lines if line.startswith('.It Fl') for flag in flags([line])}
         - options)
    same(f'the synopsis of {page.name} has no others', [], flags(synopsis) - options - {'--'})
    # One name of each is enough: of --write, -w.
    missing = [row for row in rows if not flags(synopsis) & set(row) and '--help' not in row]
    same(f'the synopsis of {page.name} has every option', [], [row[-1] for row in missing])
    same(f'{page.name} explains the words of the usage line', [],
         {word.lower() for word in re.findall(r'[A-Z]{3,}', operands)} - {'path'}
         - {word for line in page.lines for word in marked(line, 'Ar')})

kinds = re.findall(r'^LINT\(\w+, "([^"]+)"\)', (source / 'src/policy/lint.def').read_text(), re.M)
same('lapbelt-check(1) has the kinds of warnings', kinds,
     pages['lapbelt-check.1'].names('lint', 'Cm'))

# ---- README.md, and examples that no test runs ----


def unknown_options(line):
    """Options of LINE, a shell command, that its lapbelt command does not have."""
    line_words = shlex.split(line, comments=True)
    for i, word in enumerate(line_words):
        if word != 'lapbelt':
            continue
        command = line_words[i + 1] if line_words[i + 1] in summary else 'run'
        known = {name for row in options_of(command)[0] for name in row}
        for option in line_words[i + 1 + (line_words[i + 1] in summary):]:
            if option in ('--', '&&', '|', ';') or (option[0] != '-' and command in ('run', 'exec')):
                break
            if option[0] == '-' and option.partition('=')[0] not in known:
                yield f'{option} in: {line}'


commands = re.findall(r'^    \$ (.*)', (source / 'README.md').read_text(), re.M)
same('the commands of README.md have their options', [],
     [bad for line in commands for bad in unknown_options(line)])
same('examples that are not run have theirs', [],
     [bad for page in pages.values() for example in page.examples()
      if (example.kind or '').startswith('shown') for line in example.lines
      if line.startswith('$ ') for bad in unknown_options(line[2:])])

# ---- The library ----


def tidy(text):
    return re.sub(r' ?\* ?', ' *', ' '.join(text.split())).replace('( *', '(*')


def prototypes():
    text = re.sub(r'/\*.*?\*/', '', (source / 'include/lapbelt.h').read_text(), flags=re.S)
    for result, name, arguments in re.findall(
            r'^LAPBELT_API ([^;(]*?)(\w+)\(([^;]*)\);', text, re.M | re.S):
        yield tidy(f'{result} {name}({arguments})')


def page_prototypes():
    result = name = ''
    arguments = []
    for line in pages['liblapbelt.3'].section('SYNOPSIS'):
        macro, _, rest = line.partition(' ')
        quoted = re.findall(r'"([^"]*)"|(\S+)', rest)
        parts = [a or b for a, b in quoted]
        if macro == '.Ft':
            result = rest.strip('"')
        elif macro == '.Fo':
            name, arguments = rest, []
        elif macro == '.Fa':
            arguments += parts
        elif macro == '.Fn':
            yield tidy(f'{result} {parts[0]}({", ".join(parts[1:])})')
        elif macro == '.Fc':
            yield tidy(f'{result} {name}({", ".join(arguments)})')


same('liblapbelt(3) has the functions of lapbelt.h', prototypes(), page_prototypes())
header = (source / 'include/lapbelt.h').read_text()
codes = header.partition('enum lapbelt_code {')[2].partition('}')[0]
same('liblapbelt(3) has the error codes, and what they exit with',
     [f'{name} {status or 0}' for name, status in
      re.findall(r'^\t(LAPBELT_\w+),(?:.*\(exit (\d+)\))?', codes, re.M)],
     [' '.join(found) for line in pages['liblapbelt.3'].lines
      for found in re.findall(r'^\.It Dv (LAPBELT_\w+) Pq (\d+)', line)])
for page in pages.values():
    same(f'{page.name}: names of the library are those of lapbelt.h', [],
         {name for name in re.findall(
             r'\b(?:LAPBELT_|lapbelt_)\w+',
             '\n'.join(line for line in page.lines if not line.startswith('.Ev ')))
          if not re.search(rf'\b{name}\b', header)})

# ---- References ----

for page in pages.values():
    links = {f'{name}.{section}' for name, section in
             re.findall(r'^\.Xr (\S*lapbelt\S*) (\d)', '\n'.join(page.lines), re.M)}
    same(f'{page.name} refers to pages that are there', [], links - set(pages))
    see = [(section, name) for name, section in
           re.findall(r'^\.Xr (\S+) (\d)', '\n'.join(page.section('SEE ALSO')), re.M)]
    same(f'{page.name}: other pages stand by section and name', [],
         [name for (name, _), (_, _) in zip(see, see[1:])] if see != sorted(see) else [])
same('all pages are installed', pages,
     re.findall(r"'(\S+\.\d)'", (source / 'man/meson.build').read_text()))
same('lapbelt(1) leads to all pages', set(pages) - {'lapbelt.1'},
     {f'{name}.{section}' for name, section in
      re.findall(r'^\.Xr (\S+) (\d)', '\n'.join(pages['lapbelt.1'].section('SEE ALSO')), re.M)
      if 'lapbelt' in name})

sys.exit(tap.done())
