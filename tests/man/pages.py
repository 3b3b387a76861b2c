# SPDX-License-Identifier: Apache-2.0
"""What a manual page says, as the tests need it."""
import re

ESCAPES = {
    r'\e': '\\', r'\-': '-', r'\&': '', r'\|': '', r'\(aq': "'", r'\(dq': '"', r'\(ga': '`',
    r'\(ti': '~', r'\(ha': '^', r'\(rs': '\\',
}


def plain(text):
    """TEXT as the reader sees it."""
    return re.sub(r'\\(?:\(..|.)', lambda m: ESCAPES[m.group()], text)


def words(line):
    """The arguments of a macro line: quoted ones are one word."""
    return [plain(quoted or bare) for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', line)]


MACROS = {'Ic', 'Cm', 'Pq', 'Fl', 'Ta', 'Ar', 'Ns', 'No', 'Op', 'Pa', 'Ql'}


def marked(line, macro):
    """The words that stand under MACRO (Ic, Fl) in LINE."""
    found, on = [], False
    if not line.startswith('.') or line.startswith('.\\"'):
        return found
    for word in words(line.lstrip('.')):
        if word in MACROS:
            on = word == macro
        elif on and word not in (',', '.', ';', ':', '(', ')', '|'):
            found.append(word)
    return found


class Example:
    def __init__(self, kind, line, lines):
        self.kind, self.line, self.lines = kind, line, lines


class Page:
    def __init__(self, path):
        self.name = path.name
        self.lines = path.read_text().splitlines()

    def section(self, title):
        """The lines below .Sh or .Ss TITLE, up to the next of them."""
        found, on = [], False
        for line in self.lines:
            if re.match(r'\.S[hs] ', line):
                on = line[4:].strip('"') == title
            elif on:
                found.append(line)
        return found

    def after(self, mark):
        """The lines of the list that follows the comment `.\\" names: MARK`."""
        start = self.lines.index('.\\" names: ' + mark) + 1
        end = next(i for i in range(start, len(self.lines)) if self.lines[i].startswith('.El'))
        return self.lines[start:end]

    def names(self, mark, macro='Ic'):
        return [name for line in self.after(mark) if line.startswith('.')
                for name in marked(line, macro)]

    def heads(self, mark):
        """As names(), those of the .It lines only."""
        return [name for head, _ in self.items(self.after(mark)) for name in head]

    def items(self, lines):
        """For each .It of LINES: its words under Ic, those under Ic or Cm in Pq."""
        for line in lines:
            if line.startswith('.It Ic '):
                head, _, rest = line.partition(' Pq ')
                rest = '.' + rest
                yield marked(head, 'Ic'), marked(rest, 'Ic') + marked(rest, 'Cm')

    def examples(self):
        """Every literal block and display line; kind None: it has no mark."""
        kind, i = None, 0
        while i < len(self.lines):
            line = self.lines[i]
            i += 1
            mark = re.match(r'\.\\" example: (.*)', line)
            if mark:
                kind = mark.group(1)
                continue
            if line.startswith('.Bd -literal'):
                end = self.lines.index('.Ed', i)
                yield Example(kind, i, [plain(text) for text in self.lines[i:end]])
                i = end
            elif line.startswith('.Dl '):
                yield Example(kind, i, [plain(line[4:])])
            elif line == '.Pp':
                continue
            kind = None
