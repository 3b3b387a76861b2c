# SPDX-License-Identifier: Apache-2.0
"""The Test Anything Protocol, for the tests that are written in Python."""
import os


class Tap:
    """Tests, one after another. A skip is a failure if LAPBELT_MUST_WORK is set."""

    def __init__(self):
        self.count = self.failures = 0

    def check(self, good, what, why=''):
        """One test, called WHAT; WHY is shown if it is not GOOD."""
        self.count += 1
        self.failures += not good
        print(f'{"" if good else "not "}ok {self.count} - {what}', flush=True)
        if not good and why:
            print('# ' + why.replace('\n', '\n# '), flush=True)

    def skip(self, what, why):
        if os.environ.get('LAPBELT_MUST_WORK'):
            self.check(False, what, f'skipped: {why}')
        else:
            self.check(True, f'{what} # SKIP {why}')

    def done(self):
        """Ends the tests. The exit status of the program."""
        print(f'1..{self.count}')
        return int(self.failures > 0)
