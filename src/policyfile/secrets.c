/* SPDX-License-Identifier: Apache-2.0 */
#include "policyfile/secrets.h"

#include "base/banned.h"

enum systems {
	SYSTEM_LINUX = 1 << TARGET_LINUX,
	SYSTEM_DARWIN = 1 << TARGET_DARWIN,
	SYSTEM_ANY = SYSTEM_LINUX | SYSTEM_DARWIN,
};

const struct secret policyfile_secrets[] = {
#define SECRET(systems, base, name) {SYSTEM_##systems, SECRET_##base, name},
#include "policyfile/secrets.def"
};

const struct secret_variable policyfile_secret_variables[] = {
#define SECRET_VARIABLE(variable, name) {variable, name},
#include "policyfile/secrets.def"
};

const size_t policyfile_n_secrets = sizeof(policyfile_secrets) / sizeof(policyfile_secrets[0]);
const size_t policyfile_n_secret_variables =
	sizeof(policyfile_secret_variables) / sizeof(policyfile_secret_variables[0]);

const char *policyfile_secret_base(enum secret_base base)
{
	static const char *const usual[SECRET_BASES] = {
		[SECRET_HOME] = "",
		[SECRET_CONFIG] = ".config/",
		[SECRET_DATA] = ".local/share/",
		[SECRET_STATE] = ".local/state/",
		[SECRET_RUNTIME] = NULL,
		[SECRET_ROOT] = "/",
	};

	return usual[base];
}
