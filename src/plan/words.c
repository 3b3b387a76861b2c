/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/words.h"

#include "base/banned.h"

const struct word scope_words[] = {
	{SCOPE_PID, "pid"}, {SCOPE_IPC, "ipc"}, {SCOPE_NET, "net"}, {SCOPE_TMP, "tmp"},
	{SCOPE_SHM, "shm"}, {SCOPE_PTS, "pts"}, {0, NULL},
};

const struct word ns_words[] = {
	{NS_USER, "user"}, {NS_MOUNT, "mount"}, {NS_PID, "pid"},
	{NS_IPC, "ipc"},   {NS_NET, "net"},     {0, NULL},
};

/* One for each group of rights that the planner gives together. */
const struct word fs_words[] = {
	{LL_READ_FILE, "read"},
	{LL_READ_DIR, "list"},
	{LL_EXECUTE, "exec"},
	{LL_WRITE_FILE, "write"},
	{LL_TRUNCATE, "truncate"},
	{LL_MAKE_REG, "create"},
	{LL_REMOVE_FILE, "unlink"},
	{LL_REFER, "move"},
	{LL_MAKE_CHAR, "nodes"},
	{LL_IOCTL_DEV, "ioctl"},
	{0, NULL},
};

const struct word net_words[] = {
	{LL_NET_BIND_TCP, "bind-tcp"}, {LL_NET_CONNECT_TCP, "connect-tcp"}, {0, NULL}};

const struct word scoped_words[] = {
	{LL_SCOPED_ABSTRACT_UNIX, "abstract-unix"}, {LL_SCOPED_SIGNAL, "signal"}, {0, NULL}};

const struct word class_words[] = {
	{BROKER_WRITE, "write"},   {BROKER_READ, "read"},           {BROKER_ATTR, "attributes"},
	{BROKER_UNIX, "unix"},     {BROKER_INET, "inet"},           {BROKER_EXEC, "exec"},
	{BROKER_SIGNAL, "signal"}, {BROKER_INHERITED, "inherited"}, {0, NULL},
};

const struct word lane_words[] = {
	{LANE_READ, "read"},
	{LANE_WRITE, "write"},
	{LANE_READ_WRITE, "read-write"},
	{LANE_CREATE, "create"},
	{LANE_CREATE_READ, "create-read"},
	{LANE_NAMES, "names"},
	{LANE_DIRECTORIES, "directories"},
	{LANE_MOVE, "move"},
	{0, NULL},
};

const struct word mechanism_words[] = {
	{BY_FLOOR, "floor"},          {BY_HIDING, "hidden"},
	{BY_MOUNTS, "mounts"},        {BY_FILTER, "filter"},
	{BY_NAMESPACE, "namespaces"}, {BY_BROKER, "broker"},
	{BY_NOTHING, "nothing"},      {0, NULL},
};

const char *mount_word(enum mount_kind kind)
{
	static const char *const words[] = {
		[MOUNT_PRIVATE_TMP] = "private", [MOUNT_PRIVATE_SHM] = "private",
		[MOUNT_PRIVATE_PTS] = "private", [MOUNT_PROC] = "proc",
		[MOUNT_HIDE] = "hide",           [MOUNT_KEEP] = "keep",
		[MOUNT_READ_ONLY] = "read-only", [MOUNT_WRITABLE] = "writable",
		[MOUNT_MASK] = "hide",
	};

	return words[kind];
}

const char *gap_word(enum gap_kind kind)
{
	static const char *const words[] = {
		[GAP_CONTENT] = "content",
		[GAP_METADATA] = "metadata",
		[GAP_STRICTER] = "stricter",
	};

	return words[kind];
}

unsigned private_in_truth(const struct plan_input *input)
{
	for (size_t i = 0; i < input->n_keep; i++)
		if (str_is(input->keep[i], "/tmp"))
			return input->private_scope & ~(unsigned)SCOPE_TMP;
	return input->private_scope;
}

const char *whose_scope(const struct plan_input *input, unsigned scope)
{
	if (private_in_truth(input) & scope)
		return "private";
	return input->around & scope ? "outer" : "shared";
}
