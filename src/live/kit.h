/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit: what the helper is made of, in one folder: this program, the libraries it uses, and their
 * loader, which is what is executed. So the helper needs nothing of the system that a profile could
 * deny, but that folder. They are copies: Landlock knows files by inode, and the system's own must
 * not be granted by the way.
 */
#ifndef LIVE_KIT_H
#define LIVE_KIT_H

#include <limits.h>

#include <lapbelt.h>

enum {
	KIT_MAX = 16, /* files */
};

struct kit {
	struct kit_file {
		char name[256];
		int fd; /* the original */
	} files[KIT_MAX];
	size_t n;
	char loader[256], program[256]; /* their names; loader "": the program needs none */
};

#define KIT_NONE ((struct kit){.n = 0})

int kit_open(struct kit *ret, struct lapbelt_error *error);
void kit_close(struct kit *kit);

/* Copies the kit into the directory DIRFD, which is empty. 0, or -1 with errno. */
int kit_copy(const struct kit *kit, int dirfd);

/* Removes such copies. */
void kit_remove(const struct kit *kit, int dirfd);

/* The helper's command line, for a kit at FOLDER. */
struct kit_command {
	char loader[PATH_MAX], program[PATH_MAX], folder[PATH_MAX];
	char in[16], out[16];
	char *argv[9];
};

/* IN, OUT: the descriptors it is to be told. */
void kit_command(const struct kit *kit, const char *folder, int in, int out,
		 struct kit_command *ret);

#endif
