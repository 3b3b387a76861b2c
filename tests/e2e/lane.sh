#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fast lane's library in real programs: what they do comes out the same, and nobody notices it.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init lane

if [ -z "${LAPBELT_LANE:-}" ] || ! [ -r "$LAPBELT_LANE" ]; then
	skip 'the fast lane' 'its library is not here'
	lib_done
	exit
fi

# Not where a private /tmp would hide it.
cp "$LAPBELT_LANE" "$base/lane.so"
export LAPBELT_LANE="$base/lane.so"
cat >"$base/profile.sb" <<-EOT
	(version 1)
	(allow default)
	(deny file-read* file-write*
	      (require-all (subpath "$world/judged") (regex #"/\\.env$")))
EOT

world_prepare() {
	mkdir "$world/free" "$world/judged"
	echo secret >"$world/judged/.env"
	echo plain >"$world/judged/plain"
	cd "$world/free"
}

with() {
	# shellcheck disable=SC2086 # a list of options, or nothing
	timeout --foreground -k 5 "$lib_patience" "$LAPBELT" run ${LAPBELT_RUN_OPTIONS:-} -f "$base/profile.sb" "$@"
}

loaded() {
	with -- sh -c 'cat /proc/self/maps' >maps
	grep -q 'r-xp .*/lane.so' maps
	fails grep -q 'rwxp' maps
}
check 'programs have it, and no memory that is writable and executable' loaded

switched_off() {
	with --no-lane -- sh -c 'echo "$LD_AUDIT"; cat /proc/self/maps' >seen
	fails grep -q lane.so seen
}
check 'with --no-lane nobody has it' switched_off

others_stay() {
	export LD_AUDIT="$base/other.so"
	with -- env >seen 2>/dev/null
	grep -qx "LD_AUDIT=$base/other.so:$base/lane.so" seen
}
check 'other audit libraries stay' others_stay

not_in_the_list() {
	with -- sh -c 'ldd /bin/sh; LD_DEBUG=statistics true' >seen 2>seen-errors
	fails grep -q lane.so seen
	fails grep -qi 'error' seen-errors
}
check 'it is not among the libraries of a program' not_in_the_list

files() {
	with -- sh -c '
		set -e
		echo one >made; mkdir d; mv made d/moved; ln d/moved d/linked; ln -s moved d/link
		echo two >>d/linked; cat d/link; rm -r d; ! [ -e d ]
	' >seen
	printf 'one\ntwo\n' | cmp - seen
}
check 'files are made, moved, linked and removed' files

judged() {
	with -- sh -c 'cat ../judged/plain; echo more >>../judged/plain; echo new >../judged/new' >seen
	printf 'plain\n' | cmp - seen
	[ "$(cat ../judged/new)" = new ]
	fails with -- sh -c 'cat ../judged/.env' >seen 2>&1
	fails grep -q secret seen
	fails with -- sh -c 'echo x >>../judged/.env'
	fails with -- sh -c 'mv ../judged/.env loot'
	fails with -- sh -c 'ln ../judged/.env loot'
	fails with -- sh -c 'mv made ../judged/.env'
	[ "$(cat ../judged/.env)" = secret ]
	! [ -e loot ]
}
check 'where the floor does not grant it, the policy decides' judged

errors() {
	with -- python3 -I -c '
import errno, os
def fails(error, act, *arguments):
    try:
        act(*arguments)
    except OSError as e:
        assert e.errno == error, e
    else:
        raise AssertionError(arguments)
open("there", "w").close()
fails(errno.ENOENT, os.open, "no/such", os.O_WRONLY | os.O_CREAT)
fails(errno.EEXIST, os.open, "there", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
fails(errno.EISDIR, os.open, ".", os.O_WRONLY)
fails(errno.ENOTDIR, os.mkdir, "there/x")
fails(errno.EEXIST, os.mkdir, "there")
fails(errno.ENOENT, os.rename, "no", "yes")
fails(errno.EPERM, os.open, "../judged/.env", os.O_RDONLY)
fails(errno.EPERM, os.open, "../judged/.env", os.O_WRONLY)
'
}
check 'errors are those of the kernel, or of the policy' errors

compiled() {
	with -- sh -c 'cc "$@" -o program program.c && ./program' sh "$@" >seen
	grep -qx 'it works' seen
}
program() {
	cat >program.c <<-'EOT'
		#include <pthread.h>
		#include <stdio.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <sys/stat.h>
		#include <unistd.h>
		static int cleaned, handled;
		static void clean(void *x) { (void)x; cleaned = 1; }
		static void handle(int n) {
			int fd = open("../judged/from-handler", O_WRONLY | O_CREAT, 0600);
			(void)n;
			handled = fd >= 0 && close(fd) == 0;
		}
		static void *wait_for_reader(void *x) {
			pthread_cleanup_push(clean, x);
			(void)!open("fifo", O_WRONLY);
			pthread_cleanup_pop(0);
			return x;
		}
		int main(void) {
			struct sigaction action = {.sa_handler = handle};
			pthread_t thread;
			void *end;
			FILE *file = fopen("made", "w");
			if (!file || fclose(file) || mkfifo("fifo", 0600)) return 1;
			pthread_create(&thread, NULL, wait_for_reader, NULL);
			usleep(100000);
			pthread_cancel(thread);
			pthread_join(thread, &end);
			if (end != PTHREAD_CANCELED || !cleaned) return 2;
			sigaction(SIGALRM, &action, NULL);
			alarm(1);
			if (open("fifo", O_WRONLY) >= 0 || !handled) return 3;
			puts("it works");
			return 0;
		}
	EOT
	compiled -O2 -fexceptions -pthread
}
check 'a call that waits is cancelled, and interrupted by a handler that makes calls' program

sanitized() {
	printf '#include <stdio.h>\nint main(void) { FILE *f = fopen("x", "w"); return !f || fclose(f) || puts("it works") < 0; }\n' >program.c
	compiled "$@"
}
check 'a static program' sanitized -static
for sanitizer in address thread undefined leak; do
	# Some need what a system, or a sandbox, may not have.
	lib_start
	printf 'int main(void) { return 0; }\n' >"$base/empty.c"
	if cc -fsanitize=$sanitizer -o "$base/empty" "$base/empty.c" 2>/dev/null && "$base/empty" &&
		with --no-lane -- "$base/empty" 2>/dev/null; then
		check "a program with the $sanitizer sanitizer" sanitized -fsanitize=$sanitizer
	else
		echo "# the $sanitizer sanitizer does not work here, lane or not"
	fi
done

lib_done
