/* SPDX-License-Identifier: Apache-2.0 */
/* deed: one act to be done, as the judge tells the helper; and the table of acts. */
#ifndef LIVE_DEED_H
#define LIVE_DEED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>

/* What an object is. */
enum kind {
	KIND_NONE, /* the act is about none */
	KIND_FILE,
	KIND_DIRECTORY,
	KIND_SYMLINK,
	KIND_FIFO,
	KIND_SOCKET,
	KIND_CHARACTER,
	KIND_BLOCK,
	KIND_COUNT
};

/* Whom a signal is for. */
enum who {
	WHO_NOBODY,
	WHO_SELF,
	WHO_CHILD,  /* of another process group, as the next */
	WHO_PARENT, /* in the same sandbox */
	WHO_GROUP_CHILD,
	WHO_GROUP_PARENT,
	WHO_OUTSIDER,
	WHO_MATE, /* outside, of the same process group */
};

struct address {
	socklen_t length; /* 0: none */
	struct sockaddr_storage name;
};

/* Plain bytes: it goes through a pipe. */
struct deed {
	unsigned act; /* in acts[] */
	enum kind kind;
	unsigned mode; /* of the object, or that it is to be given */
	char path[PATH_MAX];
	ino_t inode;          /* of what is there; 0: nothing */
	char other[PATH_MAX]; /* a second name */
	char xattr[256];
	struct address address;
	bool udp;
	int socket; /* made outside; -1: none */
	enum who who;
	pid_t pid; /* of an outsider or a mate */
	int signal;
};

/* Other operations that an act asks for, and about what. */
enum about {
	ABOUT_NOTHING,
	ABOUT_OBJECT, /* where there is one */
	ABOUT_OTHER,  /* the second name */
	ABOUT_SAME,   /* the row's own words */
};

struct also {
	const char *operation; /* NULL ends a list */
	enum about about;
	const char *attribute; /* one more, KEY=VALUE; NULL: none */
};

enum act_flags {
	ACT_MAKES = 1 << 0,     /* nothing may be at the path */
	ACT_HARMLESS = 1 << 1,  /* changes nothing: may be done on what is the host's */
	ACT_NET = 1 << 2,       /* wants a network of its own */
	ACT_IPC = 1 << 3,       /* wants System V objects of its own */
	ACT_LINKS = 1 << 4,     /* is about a symbolic link itself */
	ACT_EXEC = 1 << 5,      /* executes the object */
	ACT_SETS_MODE = 1 << 6, /* the mode that a row says is the new one */
};

#define KIND(kind) (1u << KIND_##kind)

struct act {
	const char *operation;
	const char *call;                    /* for people */
	int (*run)(const struct deed *deed); /* in the helper. 0, or -1 with errno */
	unsigned kinds; /* KIND()s of objects it can be about, the first being the usual; 0: none */
	unsigned flags; /* enum act_flags */
	struct also also[4];
};

extern const struct act acts[];
extern const size_t n_acts;

/* The exit status of what is executed by acts that execute. */
enum {
	EXECUTED = 42
};

/* In a child: ends with PARENT, which may be gone already. */
void die_with(pid_t parent);

/* ---- The acts ---- */

int act_read(const struct deed *deed);
int act_stat(const struct deed *deed);
int act_exists(const struct deed *deed);
int act_get_xattr(const struct deed *deed);
int act_write(const struct deed *deed);
int act_make(const struct deed *deed);
int act_unlink(const struct deed *deed);
int act_chmod(const struct deed *deed);
int act_chown(const struct deed *deed);
int act_utimes(const struct deed *deed);
int act_set_xattr(const struct deed *deed);
int act_set_acl(const struct deed *deed);
int act_set_flags(const struct deed *deed);
int act_link(const struct deed *deed);
int act_ioctl(const struct deed *deed);
int act_lock(const struct deed *deed);
int act_map(const struct deed *deed);
int act_mount(const struct deed *deed);
int act_chroot(const struct deed *deed);
int act_exec(const struct deed *deed);
int act_exec_script(const struct deed *deed);
int act_fork(const struct deed *deed);
int act_signal(const struct deed *deed);
int act_connect(const struct deed *deed);
int act_bind(const struct deed *deed);
int act_listen(const struct deed *deed);
int act_sysv_shm(const struct deed *deed);
int act_sysv_sem(const struct deed *deed);
int act_sysv_msg(const struct deed *deed);
int act_openpt(const struct deed *deed);
int act_code(const struct deed *deed);

#endif
