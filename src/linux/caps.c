/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of the command, capabilities(7). */
#include "linux/linux.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/banned.h"

/* What root needs to handle files of others as outside; the policy bounds which files. */
static const unsigned char kept[] = {
	CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID,
	CAP_SETGID, CAP_SETUID,       CAP_KILL,   CAP_NET_BIND_SERVICE,
};

static uint64_t kept_mask(void)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < sizeof(kept); i++)
		mask |= 1ull << kept[i];
	return mask;
}

int caps_drop_bounding(void)
{
	uint64_t mask = kept_mask();

	for (int cap = 0; cap < 64; cap++) {
		if ((mask & (1ull << cap)) || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
			continue;
		/* EINVAL: the first number this kernel does not know. EPERM: of none, without
		 * CAP_SETPCAP; then no_new_privs alone keeps an exec from giving any. */
		return errno == EINVAL || errno == EPERM ? 0 : -1;
	}
	return 0;
}

static int keep(uint64_t mask)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		uint32_t word = (uint32_t)(mask >> (32 * i));

		data[i].permitted &= word;
		data[i].effective &= word;
		data[i].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &header, data);
}

int caps_drop(uint64_t also)
{
	return keep(kept_mask() | also);
}

int caps_drop_all(void)
{
	return keep(0);
}
