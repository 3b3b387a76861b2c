/* SPDX-License-Identifier: Apache-2.0 */
#include "policyfile/shipped.h"

#include "policyfile/policyfile.h"
#include "base/banned.h"

struct str policyfile_shipped(struct str name)
{
	for (size_t i = 0; i < shipped_n_profiles; i++)
		if (str_is(name, shipped_profiles[i].name))
			return (struct str){shipped_profiles[i].text, shipped_profiles[i].n};
	return (struct str){NULL, 0};
}
