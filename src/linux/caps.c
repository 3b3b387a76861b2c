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

int caps_drop(uint64_t also)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	uint64_t mask = kept_mask() | also;

	/* Ends at the first number this kernel does not know. */
	for (int cap = 0; cap < 64; cap++) {
		int held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (held < 0)
			break;
		if (held && !(mask & (1ull << cap)) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 &&
		    errno != EPERM)
			return -1;
	}
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
