/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast lane's half in the process: an audit library (rtld-audit(7)), which the dynamic loader
 * shows every object that it maps. When the C library comes by, its own system calls that the lane
 * serves are turned to us. That they are its own makes the difference: fopen(3), opendir(3) and the
 * like do not go by exported functions, which other libraries could stand in for.
 *
 * It runs while the loader does, in one thread, before the C library works: no heap, no thread
 * local storage, nothing but system calls. No page is ever writable and executable. Whatever is not
 * as it should be: nothing is changed, and the program takes the slow path.
 */
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "lane/patch.h"
#include "plan/lane.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
	SITES_MAX = 32,
	/* How far from the start of a function its calls are looked for, and those of the functions
	   behind it that have no exported name. */
	REACH = 0x180,
};

/* What the lane serves. */
static bool reads, writes, names;

static const int open_numbers[] = {
#ifdef SYS_open
	SYS_open,
	SYS_creat,
#endif
	SYS_openat,
	-1,
};

static const int name_numbers[] = {
#ifdef SYS_mkdir
	SYS_mkdir,    SYS_unlink,   SYS_rmdir,     SYS_symlink, SYS_link,      SYS_rename,
#endif
#ifdef SYS_renameat
	SYS_renameat,
#endif
	SYS_mkdirat,  SYS_unlinkat, SYS_symlinkat, SYS_linkat,  SYS_renameat2, -1,
};

static const char *const open_functions[] = {"open64", "openat64", "creat64", NULL};
/* What opendir(3) and the like call. Fewer pages of our own where nothing but reads needs it. */
static const char *const read_functions[] = {"__open64_nocancel", NULL};
static const char *const name_functions[] = {"mkdir", "unlink", "link", "rename", NULL};

/* ---- The object ---- */

static uintptr_t page_size;

/* Nobody has told us; what is no whole page is refused. */
static uintptr_t find_page_size(void)
{
	uintptr_t ret = 4096;
	unsigned char resident;

	while (ret < LANE_SLOTS_SIZE &&
	       lane_call(SYS_mincore, (long)(lane_slots + ret), 1, (long)&resident) != 0)
		ret *= 4;
	return ret;
}

static uintptr_t page_of(const unsigned char *p)
{
	return (uintptr_t)p / page_size * page_size;
}

struct object {
	unsigned char *base;
	const Elf64_Sym *symbols;
	const char *strings;
	const uint32_t *hash; /* DT_GNU_HASH */
};

/* The loader has added the base to some addresses, or not yet. */
static const void *address_of(const struct link_map *map, Elf64_Addr value)
{
	return (const void *)(value < map->l_addr ? value + map->l_addr : value);
}

static bool read_object(const struct link_map *map, struct object *ret)
{
	*ret = (struct object){.base = (unsigned char *)map->l_addr};
	for (const Elf64_Dyn *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			ret->symbols = address_of(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			ret->strings = address_of(map, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			ret->hash = address_of(map, entry->d_un.d_ptr);
	}
	return ret->base && ret->symbols && ret->strings && ret->hash;
}

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The function NAME of OBJECT, or NULL. */
static unsigned char *find_function(const struct object *object, const char *name)
{
	const uint32_t *hash = object->hash;
	const uint32_t *buckets = hash + 4 + hash[2] * (sizeof(Elf64_Addr) / 4);
	const uint32_t *chain = buckets + hash[0];
	uint32_t h = 5381, i;

	for (const char *c = name; *c; c++)
		h = h * 33 + (unsigned char)*c;
	i = hash[0] ? buckets[h % hash[0]] : 0;
	if (i < hash[1])
		return NULL;
	for (;; i++) {
		uint32_t entry = chain[i - hash[1]];
		const Elf64_Sym *symbol = &object->symbols[i];

		if ((entry | 1) == (h | 1) && symbol->st_shndx != SHN_UNDEF &&
		    is_same(object->strings + symbol->st_name, name))
			return object->base + symbol->st_value;
		if (entry & 1)
			return NULL;
	}
}

/*
 * The first segment of TYPE and FLAGS that holds CODE (NULL: any), or NULL. An object that is
 * linked for another address than zero has its header elsewhere, if there is anything where we
 * look.
 */
static const Elf64_Phdr *find_segment(const unsigned char *base, Elf64_Word type, Elf64_Word flags,
				      const unsigned char *code)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *segment;
	unsigned char resident;

	if (page_of(base) != (uintptr_t)base ||
	    lane_call(SYS_mincore, (long)base, 1, (long)&resident) != 0)
		return NULL;
	for (int i = 0; i < SELFMAG; i++)
		if (header->e_ident[i] != (unsigned char)ELFMAG[i])
			return NULL;
	segment = (const Elf64_Phdr *)(base + header->e_phoff);
	for (int i = 0; i < header->e_phnum; i++, segment++) {
		const unsigned char *begin = base + segment->p_vaddr;

		if (segment->p_type == type && (segment->p_flags & flags) == flags &&
		    (!code || (code >= begin && code < begin + segment->p_filesz)))
			return segment;
	}
	return NULL;
}

/* ---- Its sites ---- */

struct sites {
	unsigned char *at[SITES_MAX]; /* ascending */
	size_t n;
};

static void add_site(struct sites *sites, unsigned char *at)
{
	size_t i = sites->n;

	if (sites->n == SITES_MAX)
		return;
	for (size_t k = 0; k < sites->n; k++)
		if (sites->at[k] == at)
			return;
	for (; i > 0 && sites->at[i - 1] > at; i--)
		sites->at[i] = sites->at[i - 1];
	sites->at[i] = at;
	sites->n++;
}

static void find_sites(const struct object *object, const char *const *functions,
		       const int *numbers, struct sites *sites)
{
	for (; *functions; functions++) {
		unsigned char *code = find_function(object, *functions);
		const Elf64_Phdr *segment =
			code ? find_segment(object->base, PT_LOAD, PF_X, code) : NULL;
		const unsigned char *end;

		if (!segment)
			continue;
		end = object->base + segment->p_vaddr + segment->p_filesz;
		if (end - code > REACH)
			end = code + REACH;
		while ((code = lane_find(code, end, numbers))) {
			add_site(sites, code);
			code += lane_site_size;
		}
	}
}

/* ---- Patching ---- */

static bool protect(uintptr_t begin, uintptr_t end, int protection)
{
	return lane_call(SYS_mprotect, (long)begin, (long)(end - begin), protection) == 0;
}

/*
 * Our own page comes first: where the system does not let what was written be executed, this is how
 * we find out, and no harm is done.
 */
static bool write_slots(const struct sites *sites)
{
	uintptr_t begin = (uintptr_t)lane_slots, end = begin + LANE_SLOTS_SIZE;
	bool near = true;

	if (!protect(begin, end, PROT_READ | PROT_WRITE))
		return false;
	for (size_t i = 0; i < sites->n; i++)
		near &= lane_write_slot(i, sites->at[i]);
	lane_written(lane_slots, lane_slots + sites->n * lane_slot_size);
	return protect(begin, end, PROT_READ | PROT_EXEC) && near;
}

static void write_sites(const struct sites *sites)
{
	size_t next = 0;

	for (size_t i = 0; i < sites->n; i = next) {
		uintptr_t begin = page_of(sites->at[i]), end = begin;

		/* All on these pages and those next to them. */
		for (next = i; next < sites->n && page_of(sites->at[next]) <= end; next++)
			end = page_of(sites->at[next] + lane_site_size - 1) + page_size;
		if (!protect(begin, end, PROT_READ | PROT_WRITE))
			return;
		for (size_t k = i; k < next; k++) {
			lane_write_site(k, sites->at[k]);
			lane_written(sites->at[k], sites->at[k] + lane_site_size);
		}
		if (!protect(begin, end, PROT_READ | PROT_EXEC))
			lane_call(SYS_exit_group, 127, 0, 0);
	}
}

static void patch(const struct link_map *map)
{
	struct object object;
	struct sites sites;

	sites.n = 0; /* all of it would be done by memset(3), which we do not have */
	if (!read_object(map, &object))
		return;
	if (reads || writes)
		find_sites(&object, open_functions, open_numbers, &sites);
	if (reads)
		find_sites(&object, read_functions, open_numbers, &sites);
	if (names)
		find_sites(&object, name_functions, name_numbers, &sites);
	if (sites.n && write_slots(&sites))
		write_sites(&sites);
}

/* ---- Programs that do not start with any audit library ---- */

static bool started;

/*
 * The loader lays out thread-local storage before it loads audit libraries, and has little room
 * left for libraries that want theirs in a fixed place: those of gcc's thread and leak sanitizers
 * do not fit, and the program would not start.
 */
static bool needs_room(const struct link_map *map)
{
	enum {
		ROOM = 256 /* in 2.35 to 2.42 four name spaces get 144 bytes each, and 512 are spare
			    */
	};
	const Elf64_Phdr *storage;
	bool fixed = !LANE_TELLS_STATIC_TLS;

	/* The program itself was there first. */
	if (!*map->l_name)
		return false;
	for (const Elf64_Dyn *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
		fixed |= entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_STATIC_TLS);
	storage = fixed ? find_segment((const unsigned char *)map->l_addr, PT_TLS, 0, NULL) : NULL;
	return storage && storage->p_memsz > ROOM;
}

/* ---- What the loader calls ---- */

static bool serves(unsigned flags)
{
	return lane_call(SYS_landlock_create_ruleset, 0, 0, flags) == -LANE_ERRNO;
}

static bool is_libc(const char *path)
{
	const char *name = path;

	for (const char *c = path; *c; c++)
		if (*c == '/')
			name = c + 1;
	return is_same(name, "libc.so.6");
}

/* 0: we are not needed. */
EXPORTED unsigned la_version(unsigned version)
{
	page_size = find_page_size();
	reads = serves(LANE_READS_FLAGS);
	writes = serves(LANE_WRITES_FLAGS);
	names = serves(LANE_NAMES_FLAGS);
	return reads || writes || names ? version : 0;
}

EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	(void)cookie;
	if (is_libc(map->l_name))
		patch(map);
	else if (!started && needs_room(map))
		lane_leave();
	return 0;
}

EXPORTED void la_preinit(uintptr_t *cookie)
{
	(void)cookie;
	started = true;
}
