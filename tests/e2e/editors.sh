#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Saving, copying and unpacking files, as editors and archivers do it.
# shellcheck disable=SC2016,SC2317 # texts for another shell; functions that lib.sh calls

# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

lib_init editors

# needs PROGRAM SENTENCE TEXT: allowed, if there is such a program
needs() {
	if command -v "$1" >/dev/null; then
		allowed "$2" "$3"
	else
		skip "$2" "no $1 here"
	fi
}

needs vim 'vim saves' 'vim -es -u NONE -c "s/first/1st/" -c wq f; cat f'
needs vim 'vim saves with a backup and a swap file' \
	'vim -es -u NONE -c "set backup writebackup backupcopy=no swapfile" -c "s/first/1st/" -c wq f; cat f f~'
needs vim 'vim keeps mode and hard links' \
	'chmod 755 f && ln f g && vim -es -u NONE -c "set backupcopy=auto" -c "s/first/1st/" -c wq f; cat g; stat -c "%a %h" f'
allowed 'sed -i saves and keeps the mode' 'chmod 751 f && sed -i s/first/1st/ f && cat f && stat -c %a f'
allowed 'a file is saved by rename' 'echo new >.f.tmp && mv .f.tmp f && cat f'
allowed 'a file is saved by truncation' 'echo new >f && cat f'
allowed 'a file is saved by dd at an offset' 'printf X | dd of=f conv=notrunc bs=1 seek=2 2>/dev/null && cat f'
allowed 'tar packs and unpacks, with modes, times and links' \
	'mkdir -p t/d && echo x >t/d/x && ln -s x t/d/link && ln t/d/x t/hard && chmod 640 t/d/x && chmod 2755 t/d &&
	touch -d 2001-02-03 t/d/x && tar -cf t.tar t && mkdir u && tar -xpf t.tar -C u && stat -c "%n %a %Y %h" u/t/d/x u/t/hard && readlink u/t/d/link'
needs rsync 'rsync copies a tree' \
	'mkdir -p t/d && echo x >t/d/x && touch -d 2001-02-03 t/d/x && rsync -a t/ u/ && stat -c "%n %a %Y" u/d/x && rsync -ai t/ u/'
allowed 'cp -a and mv keep a tree' \
	'mkdir -p t/d && echo x >t/d/x && touch -d 2001-02-03 t/d/x && cp -a t u && mv u v && stat -c "%n %Y" v/d/x'
allowed 'directories are made, renamed and removed' 'mkdir -p a/b/c && mv a/b a/d && rmdir a/d/c && rm -r a && ls'
allowed 'a file is swapped with another' 'echo g >g && mv f h && mv g f && mv h g && cat f g'
needs patch 'patch applies a difference' \
	'printf "%s\n" "--- f" "+++ f" "@@ -1 +1 @@" "-first line" "+1st line" | patch -s && cat f'
allowed 'a FIFO passes data' 'mkfifo p && (echo through >p &) && cat p'
allowed 'names may hold any byte' 'n=$(printf "a\\nb \\377") && echo x >"$n" && cat "$n" && rm "$n" && ls'

edit_with_nano() {
	inside expect -c '
		set timeout 20
		set env(TERM) xterm
		spawn nano --ignorercfiles f
		expect "first line"
		send "new "
		send "\x0f"
		expect "Write"
		send "\r"
		expect "Wrote"
		send "\x18"
		expect eof
	'
	grep '^new first line' f
}
if command -v nano >/dev/null && command -v expect >/dev/null; then
	check 'nano saves' edit_with_nano
else
	skip 'nano saves' 'no nano or no expect here'
fi

lib_done
