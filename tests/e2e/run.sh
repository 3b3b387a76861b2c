#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh KIND SCRIPT [ARGUMENT…]
#
# Runs one test script as KIND says, in a clean environment:
#	root, user                      with user namespaces
#	root-no-userns, user-no-userns  as if there were none
#	...-no-lane                     the same without the fast lane
# "user" is an ordinary user without a single privilege. LAPBELT names the program under test.
set -eu

ordinary=12345

kind=$1
shift

options=
case $kind in *-no-userns*) options=--no-userns ;; esac
case $kind in *-no-lane*) options="$options --no-lane" ;; esac

clean_environment() {
	# shellcheck disable=SC2086 # the last two are lists of words, or nothing
	env --default-signal -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/nonexistent LC_ALL=C.UTF-8 \
		TERM="${TERM:-dumb}" LAPBELT="${LAPBELT:?names the program under test}" \
		LAPBELT_RUN_OPTIONS="$options" ${LAPBELT_LANE:+LAPBELT_LANE=$LAPBELT_LANE} \
		${LAPBELT_MUST_WORK:+LAPBELT_MUST_WORK=$LAPBELT_MUST_WORK} ${TRIES:+TRIES=$TRIES} \
		${LAPBELT_ROUNDS:+LAPBELT_ROUNDS=$LAPBELT_ROUNDS} "$@"
}

case $kind:$(id -u) in
root*:0)
	clean_environment "$@"
	;;
user*:0)
	clean_environment setpriv --reuid=$ordinary --regid=$ordinary --clear-groups "$@"
	;;
user*)
	clean_environment "$@"
	;;
root*)
	echo "1..0 # SKIP only root can run this as root"
	[ -z "${LAPBELT_MUST_WORK:-}" ]
	;;
*)
	echo "Bail out! unknown kind '$kind'"
	exit 1
	;;
esac
