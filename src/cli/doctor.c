/* SPDX-License-Identifier: Apache-2.0 */
/* lapbelt doctor: what this machine offers to a run, and why not more. */
#include <lapbelt.h>

#include "base/buf.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/diag.h"
#include "cli/out.h"
#include "base/banned.h"

static void put_line(void *context, const struct lapbelt_finding *finding)
{
	struct buf *text = context;

	buf_printf(text, "%s %s: ", finding->good ? "ok" : "--", finding->name);
	diag_add_text(text, finding->text);
	buf_putc(text, '\n');
	if (finding->help[0])
		buf_printf(text, "     would help: %s\n", finding->help);
}

static void put_object(void *context, const struct lapbelt_finding *finding)
{
	struct json *json = context;

	json_open(json, NULL, '{');
	json_string(json, "name", str_of(finding->name));
	json_bool(json, "good", finding->good);
	json_string(json, "value", str_of(finding->value));
	json_string(json, "text", str_of(finding->text));
	json_string(json, "help", str_of(finding->help));
	json_close(json);
}

static int doctor(struct args *args, char **operands)
{
	struct lapbelt_error error = LAPBELT_ERROR_INIT;
	struct buf text = {0};
	struct json json = {.buf = &text};
	int enforced = 0, r;

	if (operands[0])
		return diag_usage("doctor", "'%s' is one word too many", operands[0]);
	if (args->json) {
		json_open(&json, NULL, '{');
		json_open(&json, "findings", '[');
		r = lapbelt_doctor(put_object, &json, &enforced, &error);
		json_close(&json);
		json_bool(&json, "enforced", enforced);
		json_close(&json);
	} else {
		r = lapbelt_doctor(put_line, &text, &enforced, &error);
	}
	if (r == 0)
		out_print(&text);
	buf_release(&text);
	return r < 0 ? diag_error(&error) : !enforced;
}

static const struct opt *const options[] = {&opt_json, &opt_help_text, NULL};

const struct command command_doctor = {
	"doctor", "", "Say what this machine offers to a run, and why not more.", options, doctor,
};
