#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
lapbelt-sbpl(7) against the program: every name that profiles may use is in it, as what it is, and
it has no other. Usage: language.py LAPBELT SOURCE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)) + '/../lib')
from tap import Tap
from pages import Page

lapbelt, source = sys.argv[1], pathlib.Path(sys.argv[2])
page = Page(source / 'man/lapbelt-sbpl.7')
tap = Tap()


def same(what, wanted, found):
    """One test: the page (FOUND) has what the program has (WANTED), each once."""
    wanted, found = sorted(wanted), sorted(found)
    complaints = [f'missing in the page: {name}' for name in sorted(set(wanted) - set(found))]
    complaints += [f'only in the page: {name}' for name in sorted(set(found) - set(wanted))]
    complaints += [f'more than once: {name}'
                   for name in sorted({name for name in found if found.count(name) > 1})]
    tap.check(wanted == found, f'{what} ({len(wanted)})', '\n'.join(complaints))


# ---- The program's tables ----


def rows(table, macro):
    """The rows MACRO(...) of a .def file, as lists of words."""
    text = re.sub(r'/\*.*?\*/', '', (source / 'src/policy' / table).read_text(), flags=re.S)
    return [[word.strip().strip('"') for word in row.split(',')]
            for row in re.findall(rf'^{macro}\((.*)\)$', text, re.M)]


ops = {symbol: (name, parent, builtin, categories)
       for symbol, name, parent, builtin, categories in rows('ops.def', 'OP')}
filters = rows('filters.def', 'FILTER')
sbpl = {path.name: path.read_text() for path in (source / 'src/sbpl').glob('*.c')}


def table_names(kind):
    """Names in the tables of KIND, struct builtin or struct syntax."""
    found = []
    for text in sbpl.values():
        for body in re.findall(rf'struct {kind} \w+\[\] = {{(.*?)\n\t*}};', text, re.S):
            found += re.findall(r'{"([^"]+)",', body)
    return found


def prelude_names():
    return re.findall(r'^\t"\((?:define|macro) \(?([^ )]+)', sbpl['prelude.c'], re.M)


def alias_rows():
    body = re.search(r'} aliases\[\] = {(.*?)\n};', sbpl['names.c'], re.S).group(1)
    return re.findall(r'{"([^"]+)", (?:"([^"]+)"|NULL), (\w+)}', body)


# ---- Operations ----


def op_rows():
    """name (what stands in parentheses) for each row of the page."""
    start = page.lines.index('.Sh OPERATIONS')
    end = page.lines.index('.Sh FILTERS')
    for names, inside in page.items(page.lines[start:end]):
        for name in names:
            yield f'{name} ({" ".join(inside)})'


def op_row(name, parent, builtin):
    if name == 'default':
        return 'default ()'
    above = ops[parent][0]
    if builtin == 'INHERIT':
        return f'{name} ({above})'
    return f'{name} ({"" if above == "default" else above + " "}{builtin.lower()})'


same('operations, their parents and defaults',
     [op_row(name, parent, builtin) for name, parent, builtin, _ in ops.values()], op_rows())


def op_names(section):
    return [name for names, _ in page.items(page.section(section)) for name in names]


# What the page says means nothing on Linux is what a plan says is not applicable.
gone = op_names('Operations that are gone')
profile = '(version 1)\n(allow default)\n' + ''.join(
    f'(deny {name})\n' for name, _, _, _ in ops.values() if name != 'default' and name not in gone)
plan = json.loads(subprocess.run([lapbelt, 'plan', '--exec', '--json', '-p', profile],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout)
same('operations that are not applicable on Linux',
     [found.group(1) for rule in plan['rules'] if not rule['applicable']
      for found in [re.fullmatch(r'\(deny (\S+)\)', rule['rule']['text'])]],
     op_names('Operations that mean nothing on Linux'))

# ---- Filters ----


def takes(symbol, category):
    name, _, _, categories = ops[symbol]
    if name not in ('syscall-unix', 'storage-class-map') and \
            category in ('CAT_EXTENSION', 'CAT_PROCESS', 'CAT_SYSTEM'):
        return True
    return categories == '0' or category in categories.replace(' ', '').split('|')


def operation_for(category):
    """An operation that takes filters of CATEGORY."""
    return next(ops[symbol][0] for symbol in ops if takes(symbol, category))


values = {'SUBPATH': ('"/a"', '/a', '/b'), 'LITERAL': ('"a"', 'a', 'b'),
          'PREFIX': ('"a"', 'a', 'b'), 'STRING': ('"a"', 'a', 'b'), 'INTEGER': ('2', '2', '5'),
          'BITFIELD': ('2', '2', '5'), 'BOOL': ('#t', 'true', 'false'),
          'ADDRESS': ('tcp "localhost:2"', 'localhost:2', 'localhost:5')}
keys = {'file-mode': 'mode', 'signal-number': 'signal'}


def decides_by_key(name, category, argument):
    """A case of lapbelt-test(5): the filter decides on what is given by its key."""
    op, key = operation_for(category), keys.get(name, name)
    value, given, other = values[argument]
    return (f'=== {name}\n(version 1)\n(allow default)\n(deny {op} ({name} {value}))\n---\n'
            f'{op} {key}={given} => deny 3\n{op} {key}={other} => allow\n{op} => allow\n')


with tempfile.NamedTemporaryFile('w', suffix='.sbt') as file:
    file.write('\n'.join(decides_by_key(*row[1:]) for row in filters))
    file.flush()
    said = subprocess.run([lapbelt, 'test', file.name], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False).stdout.splitlines()
    same('every filter decides on what its key gives', [],
         [line for line in said if not line.startswith(('ok ', '1..'))])


def filters_in(file, start):
    """Names of the filters whose symbols stand in the braces behind START."""
    text = (source / 'src' / file).read_text()
    body = text[text.index(start):].partition('}')[0]
    symbols = re.findall(r'FILTER_(\w+)', body.partition('{')[2])
    return {name for symbol, name, _, _ in filters if symbol in symbols}


own_keys = {'vnode-type', 'file-mode', 'xattr', 'device-major', 'device-minor', 'target',
            'signal-number', 'socket-domain', 'socket-type', 'socket-protocol'}
darwin_only = filters_in('policy/guard.c', 'is_darwin_only[FILTER_COUNT]')


def kind_of(name, argument):
    """The list of the page where the filter belongs."""
    if argument in ('SUBPATH', 'ADDRESS'):
        return argument
    if name in own_keys:
        return 'attributes'
    if name in darwin_only:
        return 'darwin'
    return 'names' if argument in ('LITERAL', 'PREFIX') else 'numbers'


def page_filters(kind):
    heads = kind in ('SUBPATH', 'ADDRESS', 'attributes', 'names')
    return (page.heads if heads else page.names)('filters ' + kind)


lists = {'SUBPATH': [], 'ADDRESS': [], 'attributes': [], 'names': [], 'numbers': [], 'darwin': []}
for _, filter_name, _, filter_argument in filters:
    lists[kind_of(filter_name, filter_argument)].append(filter_name)
for kind, kind_names in lists.items():
    same(f'filters: {kind}', kind_names, page_filters(kind))
same('filters and the keys of lapbelt decide',
     [f'{name} {keys.get(name, name)}' for name in own_keys],
     [f'{name} {key}' for names, inside in page.items(page.after('filters attributes'))
      for name, key in zip(names, inside or names)])
request = (source / 'src/liblapbelt-request.c').read_text()
bare = re.findall(r'FILTER_(\w+)', request.partition('names[] = {')[2].partition('}')[0])
by_symbol = {symbol: name for symbol, name, _, _ in filters}
bare = [by_symbol[symbol] for symbol in bare if by_symbol[symbol] in lists['names']]
same('names stand in the order in which operations take them',
     [f'{i} {name}' for i, name in enumerate(bare)],
     [f'{i} {name}' for i, name in
      enumerate(name for name in page_filters('names') if name in bare)])
same('filters that are not known on Linux', filters_in('plan/gaps.c', 'unknown[] ='),
     page.names('unknown'))

# ---- The rest ----

same('modifiers and the rules they fit',
     [f'{name} ({"allow deny" if actions == "ON_BOTH" else actions[3:].lower()})'
      for _, name, actions, _ in rows('modifiers.def', 'MODIFIER')],
     [f'{name} ({" ".join(inside)})' for names, inside in page.items(page.after('modifiers'))
      for name in names])
same('special forms', table_names('syntax'), page.heads('syntax'))
same('procedures', table_names('builtin') + [name for name in prelude_names() if name[0] != '*'],
     page.names('procedures') + ['termination'])


def page_aliases(known):
    for line in page.after('aliases ' + known):
        if line.startswith('.It Ic '):
            written, _, means = line[7:].partition(' Ta ')
            yield f'{written}: {means.removeprefix("Ic ")}'


for versions in ('ALWAYS', 'OLD'):
    same(f'older names: {versions}',
         [f'{written}: {means or "nothing: the rule is dropped"}'
          for written, means, known in alias_rows() if known == versions],
         [row for row in page_aliases(versions)
          if 'as a modifier' not in row and 'termination' not in row])
same('shipped profiles',
     [path.name for path in (source / 'share/profiles').iterdir()
      if not path.name.startswith(('default', 'runtime'))],
     page.names('shipped', 'Pa'))

# ---- Limits ----


def number(text):
    value, _, shift = text.replace('u', '').partition(' << ')
    return int(value) << int(shift or 0)


def limits():
    texts = {name: (source / 'src' / name).read_text()
             for name in ('sbpl/sbpl.h', 'sbpl/machine.h', 'sbpl/filters.c', 'policy/policy.h',
                          'liblapbelt.c')}
    found = re.findall(r'\.(?:steps|depth|memory|imports|rules|states|work) = ([\d u<]+\d)',
                       texts['sbpl/sbpl.h'] + texts['policy/policy.h'])
    for file, name in (('sbpl/filters.c', 'FILTER_TESTS_MAX'), ('sbpl/machine.h', 'NEST_MAX'),
                       ('liblapbelt.c', 'PROFILE_MAX')):
        found.append(re.search(rf'\b{name} = ([\d <]+\d)', texts[file]).group(1))
    return [str(number(text)) for text in found]


def page_limits():
    for line in page.after('limits'):
        if ' Ta ' in line:
            value, _, unit = line.partition(' Ta ')[2].replace(',', '').partition(' ')
            yield str(int(value) << (20 if unit == 'MiB' else 0))


same('limits', limits(), page_limits())

# ---- Every name that the page gives has a value ----

given = page.heads('syntax') + page.names('procedures') + page.names('modifiers') + \
    [row.split(':')[0] for known in ('ALWAYS', 'OLD') for row in page_aliases(known)] + [row.split()[0] for row in op_rows()] + \
    [name for kind in lists for name in page_filters(kind)]
profile = '(version 1)\n' + ''.join(
    f"(if (not (defined? '{name})) (error \"{name}\"))\n" for name in given)
done = subprocess.run([lapbelt, 'check', '-'], input=profile, stderr=subprocess.PIPE, text=True,
                      check=False)
same('every name of the page has a value', [], done.stderr.splitlines())

sys.exit(tap.done())
