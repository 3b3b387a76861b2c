/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policyfile: from what people state to SBPL text. In this version: the
 * default policy of `lapbelt run`. What comes out is exactly what is enforced
 * on Linux and what Seatbelt gets on macOS.
 *
 * Pure: facts about the machine come in as data (session/facts.c finds them).
 */
#ifndef POLICYFILE_POLICYFILE_H
#define POLICYFILE_POLICYFILE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/policy.h"

/* A git directory that is there at the start. */
struct git_dir {
	struct str path; /* canonical: .../.git, .../.git/worktrees/x, .../.git/modules/x, a bare
			    one */
	struct str work_tree_pointer; /* the `.git` file that leads to it from a work tree; n 0:
					 none */
};

struct default_facts {
	enum target target;
	struct str home, cwd;    /* canonical */
	struct str tmpdir;       /* the private TMPDIR as the command will see it */
	struct str tty;          /* the controlling terminal's path; n 0: none */
	const struct str *write; /* more canonical write roots */
	size_t n_write;
	const struct git_dir *git;
	size_t n_git;
	const struct str *obeyed; /* canonical files and folders that something outside runs or
				     obeys, besides names that are protected anywhere, and the
				     links that lead there */
	size_t n_obeyed;
	const struct str *ways; /* directories on the way to them that keep their names */
	size_t n_ways;
	const struct str
		*secrets; /* canonical paths where secrets live besides their usual names */
	size_t n_secrets;
	struct str other_home; /* where the user's secrets are if HOME was changed; n 0: nowhere */
};

/*
 * Appends the profile's text: a `;; scope:` line, definitions from FACTS, then
 * share/profiles/default-SYSTEM.sb and default.sb, where all rules stand. It imports nothing: saved
 * to a file it means the same. Names may hold any byte. 0 or -ERR_MEMORY.
 *
 * Rules with the message "lapbelt: new repository" protect the configuration of repositories that
 * are there at the start; the broker (broker/fresh.h) lifts them from those the session makes.
 */
int policyfile_default(const struct default_facts *facts, struct buf *ret, struct err *e);

/* A profile that ships with us: "default.sb", "runtime.sb", "no-network.sb", ... n 0: there is
 * none. */
struct str policyfile_shipped(struct str name);

#endif
