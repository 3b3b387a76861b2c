/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are too easy to get wrong. Include last; using one is a compile error. */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/* Macros of glibc, sprintf only with fortified headers. */
#undef alloca
#undef sprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi atol atoll
#pragma GCC poison mktemp tmpnam tempnam system popen alloca ctime asctime localtime gmtime

#endif
