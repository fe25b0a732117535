// SPDX-License-Identifier: GPL-2.0-only
/* From what was counted, and the space it lies in, to a saved profile. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/report/inlined.h"
#include "filter/report/misfits.h"
#include "filter/trust/proof.h"
#include "filter/view/place-name.h"
#include "symtab/bsearch.h"
#include "symtab/image/lane.h"
#include "symtab/name/demangle.h"
#include "tools/pprof/pprof.h"
#include "tools/pprof/save-tables.h"
#include "tools/pprof/saved.h"

/* What a function is known by: the owner of its addresses, in the border or not; its
 * name, by where that lies, inlined or not of the guest; or a guest address, where
 * names would be wrong. */
struct key {
	uint64_t owner; /* as a number */
	enum {
		PLACE,
		BORDER,
		INLINED,
		TEXT,
		ADDRESS
	} kind;
};

struct saver {
	const struct hlg_run *run;
	const struct hlg_report *report;
	const struct hlg_border *border; /* or NULL */
	bool drops; /* samples that options leave out are not saved */
	struct hlg_saved *saved;
	struct hlg_proof *proof; /* if there are stacks */
	struct hlg_index index;  /* of keys, one for each function */
	struct key *keys;
	size_t n_keys;
	struct hlg_inlined *inlined, *own_inlined; /* or NULL */
	struct hlg_index asked; /* of the addresses in saved->inlines */
	struct hlg_cell *cells; /* the profile's, by address: what no stack has */
	size_t n_cells;
	uint32_t *places; /* of each its place in saved + 1; 0: it is in no cell there */
	const struct hlg_image *image; /* of the frame saved last, if its, at this bias */
	uint64_t bias;
	uint32_t number; /* of its mapping */
};

/* A copy of a string made for us, which is freed; NULL without memory. */
static const char *keep(struct hlg_saved *saved, char *text)
{
	const char *copy = text ? hlg_saved_text(saved, text) : NULL;

	free(text);
	return copy;
}

struct search {
	const struct saver *s;
	const struct key *key;
	uint64_t ip;
};

static bool same_key(const void *ctx, uint32_t number)
{
	const struct search *search = ctx;
	const struct key *key = &search->s->keys[number];

	return key->owner == search->key->owner && key->kind == search->key->kind;
}

/* The number of a key's function, in *known or as it will be; false without memory. */
static bool find_function(struct saver *s, const struct key *key, uint32_t *number,
			  bool *known)
{
	const struct search search = {.s = s, .key = key};
	uint64_t hash =
		hlg_hash_word(hlg_hash_word(HLG_HASH_SEED, key->kind), key->owner);

	*number = hlg_index_find(&s->index, hash, same_key, &search);
	*known = *number != HLG_INDEX_NONE;
	if (*known)
		return true;
	*number = (uint32_t)s->saved->functions.n;
	if (!HLG_GROW(s->keys, s->n_keys) || !hlg_index_add(&s->index, hash, *number))
		return false;
	s->keys[s->n_keys++] = *key;
	return true;
}

static bool add_function(struct saver *s, const char *name, const char *symbol)
{
	struct hlg_saved_function *f =
		name && symbol ? HLG_SAVED_MORE(s->saved->functions) : NULL;

	if (f)
		*f = (struct hlg_saved_function){name, symbol};
	return f;
}

/* The function of who is no place of the guest's. */
static bool save_text(struct saver *s, const char *text, uint32_t *number)
{
	const struct key key = {(uintptr_t)text, TEXT};
	bool known;

	if (!find_function(s, &key, number, &known))
		return false;
	text = known ? NULL : hlg_saved_text(s->saved, text);
	return known || add_function(s, text, text);
}

/* A guest address instead of a function. */
static bool save_address(struct saver *s, uint64_t ip, uint32_t *number)
{
	const struct key key = {ip, ADDRESS};
	char text[24];
	const char *name;
	bool known;

	if (!find_function(s, &key, number, &known) || known)
		return known;
	snprintf(text, sizeof(text), "0x%" PRIx64, hlg_lane_ip(ip));
	name = hlg_saved_text(s->saved, text);
	return add_function(s, name, name);
}

/* The function at a place. */
static bool save_function(struct saver *s, const struct hlg_place *place, bool border,
			  uint32_t *number)
{
	const struct key key = {(uintptr_t)place->owner, border ? BORDER : PLACE};
	bool demangle = s->run->options.demangle, known;
	const char *name, *symbol;

	if (!find_function(s, &key, number, &known) || known)
		return known;
	if (hlg_misfits_has(s->report, place)) {
		name = keep(s->saved, hlg_misfits_name(place));
		return add_function(s, name, name);
	}
	symbol = place->symbol && !border ? hlg_image_name(place->image, place->symbol)
					  : NULL;
	name = keep(s->saved, border ? hlg_place_name_border(place, demangle)
				     : hlg_place_name(place, demangle));
	return add_function(s, name, symbol ? hlg_saved_text(s->saved, symbol) : name);
}

/* The number of the mapping that ip is in, as save_images has them; 0 outside. */
static uint32_t image_number(const struct saver *s, const struct hlg_place *place,
			     uint64_t ip)
{
	uint32_t n = 0;

	for (size_t i = 0; place->image && i < s->run->space.n_images; i++) {
		const struct hlg_image *image = s->run->space.images[i];

		for (size_t k = 0; k < hlg_image_n_bases(image); k++) {
			n++;
			if (image == place->image &&
			    hlg_image_base(image, k).bias == ip - place->addr)
				return n;
		}
	}
	return 0;
}

static bool save_inlined(struct saver *s, const struct hlg_inlined_function *function,
			 uint32_t *number)
{
	const struct key key = {(uintptr_t)function->name, INLINED};
	bool known;
	const char *symbol;

	if (!find_function(s, &key, number, &known) || known)
		return known;
	symbol = hlg_saved_text(s->saved, function->name);
	return add_function(s,
			    s->run->options.demangle
				    ? keep(s->saved, hlg_demangle(function->name))
				    : symbol,
			    symbol);
}

static bool same_ip(const void *ctx, uint32_t number)
{
	const struct saver *s = ((const struct search *)ctx)->s;

	return s->saved->inlines.at[number].ip == ((const struct search *)ctx)->ip;
}

/* What was inlined at a frame, once for each address. */
static bool save_inlines(struct saver *s, const struct hlg_saved_frame *frame)
{
	const struct search search = {.s = s, .ip = frame->ip};
	uint64_t hash = hlg_hash_word(HLG_HASH_SEED, frame->ip);
	const uint32_t *list;
	uint32_t *to;
	size_t n;

	if (hlg_index_find(&s->asked, hash, same_ip, &search) != HLG_INDEX_NONE)
		return true;
	if (!hlg_inlined_find(s->inlined, frame->ip, &list, &n))
		return false;
	if (n == 0)
		return true;
	to = hlg_saved_add_inlines(s->saved, frame->image, frame->ip, (uint32_t)n);
	if (!to || !hlg_index_add(&s->asked, hash, (uint32_t)s->saved->inlines.n - 1))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!save_inlined(s, hlg_inlined_get(s->inlined, list[i]), &to[i]))
			return false;
	return true;
}

static bool save_frame(struct saver *s, uint64_t ip, bool sampled,
		       struct hlg_saved_frame *to)
{
	bool border;
	struct hlg_place place;

	hlg_view_place(&s->run->space, s->run->options.gaps, ip, &place);
	if (place.image != s->image || ip - place.addr != s->bias)
		s->number = image_number(s, &place, ip);
	s->image = place.image;
	s->bias = ip - place.addr;
	to->ip = ip;
	to->image = s->number;
	if (s->report->suppressed)
		return save_address(s, ip, &to->function);
	border = sampled && s->border &&
		 hlg_border_has(s->border, place.image, place.addr);
	return save_function(s, &place, border, &to->function) &&
	       (!s->inlined || !to->image || border || save_inlines(s, to));
}

/* Is a sample at ip one that gaps= or border= leaves out? */
static bool is_dropped(const struct saver *s, uint64_t ip)
{
	const struct hlg_options *o = &s->run->options;
	struct hlg_place place;
	enum hlg_kind kind;

	if (!s->drops)
		return false;
	kind = hlg_view_place(&s->run->space, o->gaps, ip, &place);
	if (s->border && hlg_border_has(s->border, place.image, place.addr))
		return o->border == HLG_BORDER_DROP;
	return kind == HLG_GAP && o->gaps == HLG_GAPS_DROP;
}

/* So many samples of cell i of the profile, with a stack (its place + 1) or without. */
static bool save_cell(struct saver *s, size_t i, struct hlg_count count, uint32_t stack)
{
	const struct hlg_cell *from = &s->cells[i];
	struct hlg_saved_cell cell = {
		.stack = stack,
		.key = hlg_save_tables_key(s->saved, s->run, from->series),
		.count = count};
	struct hlg_saved_cell *to;

	if (is_dropped(s, from->ip))
		return true;
	to = HLG_SAVED_MORE(s->saved->cells);
	if (!to || !save_frame(s, from->ip, true, &cell.at))
		return false;
	*to = cell;
	if (!s->places[i])
		s->places[i] = (uint32_t)s->saved->cells.n;
	s->saved->extra.guest_samples += count.samples;
	s->saved->extra.guest_period += count.period;
	return true;
}

static int compare_cells(const void *a, const void *b)
{
	const struct hlg_cell *x = a, *y = b;

	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->series < y->series ? -1 : x->series > y->series;
}

static bool collect_cells(struct saver *s)
{
	const struct hlg_profile *p = &s->run->profile;

	s->cells = malloc((p->n_cells + 1) * sizeof(*s->cells));
	s->places = calloc(p->n_cells + 1, sizeof(*s->places));
	if (!s->cells || !s->places)
		return false;
	for (size_t i = 0; i < hlg_profile_room(p); i++)
		if (p->cells[i].count.samples)
			s->cells[s->n_cells++] = p->cells[i];
	qsort(s->cells, s->n_cells, sizeof(*s->cells), compare_cells);
	return true;
}

/* Who called inside the guest: code, or words for what is not known of it. */
static bool save_caller(struct saver *s, const struct hlg_caller *caller,
			struct hlg_saved_frame *to)
{
	const char *text = HLG_CALLER_NOT_KNOWN;

	switch (caller->kind) {
	case HLG_CALLER_TRUNCATED:
		text = hlg_proof_end(caller->end);
		/* fall through */
	case HLG_CALLER_UNKNOWN:
		return save_text(s, text, &to->function);
	case HLG_CALLER_INSERTED:
		if (!save_frame(s, caller->ip, false, to))
			return false;
		to->ip = to->image = 0; /* where in it nobody knows */
		return true;
	default:
		return save_frame(s, caller->ip, false, to);
	}
}

/* The guest's callers, and above them the host's functions; of words about these there
 * are none. */
static bool save_frames(struct saver *s, const struct hlg_stack *from,
			struct hlg_saved_stack *to)
{
	const struct hlg_tree *tree = &s->run->stacks.tree;
	const struct hlg_caller *callers;
	struct hlg_caller_sums sums = {0};
	size_t n;

	if (!hlg_proof_find(s->proof, from, &callers, &n, &sums))
		return false;
	to->frames = hlg_saved_arena_alloc(
		&s->saved->arena, n + tree->nodes[from->node].depth, sizeof(*to->frames));
	if (!to->frames)
		return false;
	for (; to->n_frames < n; to->n_frames++)
		if (!save_caller(s, &callers[to->n_frames], &to->frames[to->n_frames]))
			return false;
	for (size_t i = to->n_host; i-- > 0;)
		if (to->host[i].kind == HLG_FRAME_HOST_USER ||
		    to->host[i].kind == HLG_FRAME_HOST_KERNEL)
			to->frames[to->n_frames++].function = to->host[i].function;
	return true;
}

static bool save_host(struct saver *s, uint32_t node, struct hlg_saved_stack *to)
{
	const struct hlg_tree *tree = &s->run->stacks.tree;

	to->n_host = tree->nodes[node].depth;
	to->host = hlg_saved_arena_alloc(&s->saved->arena, to->n_host, sizeof(*to->host));
	for (size_t i = to->n_host; to->host && i-- > 0;
	     node = tree->nodes[node].parent) {
		const struct hlg_node *at = &tree->nodes[node];
		to->host[i].kind = at->frame;
		if (!save_text(s, hlg_tree_name(tree, at), &to->host[i].function))
			return false;
	}
	return to->host;
}

/* NULL where the profile had no memory for it. */
static struct hlg_cell *find_cell(const struct saver *s, uint64_t ip, uint32_t series)
{
	const struct hlg_cell key = {.ip = ip, .series = series};

	return s->n_cells
		       ? bsearch(&key, s->cells, s->n_cells, sizeof(key), compare_cells)
		       : NULL;
}

static bool save_stack(struct saver *s, const struct hlg_stack *from)
{
	struct hlg_saved_stack to = {.end = from->end, .way = from->way};
	struct hlg_saved_stack *list = HLG_SAVED_MORE(s->saved->stacks);
	struct hlg_cell *cell = find_cell(s, from->ip, from->series);
	const uint64_t *words;

	if (!list)
		return false;
	if (!cell) {
		s->saved->stacks.n--;
		return true;
	}
	words = hlg_chains_get(&s->run->stacks.chains, from->chain, &to.n_callers);
	to.callers =
		hlg_saved_arena_alloc(&s->saved->arena, to.n_callers, sizeof(*words));
	if (!to.callers || !save_host(s, from->node, &to) || !save_frames(s, from, &to))
		return false;
	if (to.n_callers)
		memcpy(to.callers, words, to.n_callers * sizeof(*words));
	*list = to;
	hlg_count_sub(&cell->count, from->count);
	return save_cell(s, (size_t)(cell - s->cells), from->count,
			 (uint32_t)s->saved->stacks.n);
}

/* Of a sample of the host. */
static bool save_host_stack(struct saver *s, const struct hlg_stack *from)
{
	struct hlg_saved_stack stack = {0}, *list = HLG_SAVED_MORE(s->saved->stacks);
	struct hlg_saved_cell *cell = HLG_SAVED_MORE(s->saved->host_stacks);

	if (!list || !cell || !save_host(s, from->node, &stack))
		return false;
	*list = stack;
	*cell = (struct hlg_saved_cell){
		.stack = (uint32_t)s->saved->stacks.n,
		.key = hlg_save_tables_key(s->saved, s->run, from->series),
		.count = from->count};
	return true;
}

static bool save_cells(struct saver *s)
{
	const struct hlg_stacks *stacks = &s->run->stacks;
	bool ok = collect_cells(s);

	for (size_t i = 0; ok && i < stacks->n_stacks; i++)
		ok = stacks->stacks[i].guest ? save_stack(s, &stacks->stacks[i])
					     : save_host_stack(s, &stacks->stacks[i]);
	for (size_t i = 0; ok && i < s->n_cells; i++)
		if (s->cells[i].count.samples)
			ok = save_cell(s, i, s->cells[i].count, 0);
	return ok;
}

static bool save_moments(struct saver *s)
{
	const struct hlg_moments *from = &s->run->profile.moments;
	struct hlg_moments *to = &s->saved->moments;

	to->halved = from->halved;
	for (size_t i = 0; i < from->n; i++) {
		const struct hlg_moment *m = &from->at[i];
		const struct hlg_cell *cell = find_cell(s, m->ip, m->series);

		if (cell && s->places[cell - s->cells])
			hlg_moments_add(to, m->time, 0, s->places[cell - s->cells] - 1);
	}
	return !to->lost;
}

static int check_read(const struct hlg_run *run, struct hlg_err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < run->space.n_images; i++)
		if (hlg_image_unread(run->space.images[i]))
			rc = hlg_image_fail_unread(run->space.images[i], err);
	return rc;
}

/* That of the report's stacks; or without these our own, if asked for. False without
 * memory. */
static bool open_inlined(struct saver *s, const struct hlg_report *r)
{
	const struct hlg_inlined_source *source = &s->run->inlines;

	s->inlined = r->inlined;
	if (s->inlined || !source->at || !source->flat || r->suppressed)
		return true;
	s->own_inlined = hlg_inlined_open(source, &s->run->space);
	s->inlined = s->own_inlined;
	return s->inlined;
}

static int save(struct saver *s, const struct hlg_report *r,
		const struct hlg_recording_sums *sums, struct hlg_err *err)
{
	bool told_apart = r->options->border != HLG_BORDER_KEEP &&
			  r->trust.all.verdict != HLG_TRUST_MISMATCH;
	/* The check, and what is apart, are of these bytes; a profile has no room for
	 * notes. */
	int rc = check_read(s->run, err);

	s->report = r;
	if (told_apart)
		s->border = &r->border;
	if (rc == 0 && r->stacks && r->stacks->lacks)
		rc = hlg_err_memory(err, "stacks");
	s->proof = r->proof;
	if (rc == 0 && !open_inlined(s, r))
		rc = hlg_err_memory(err, "profile");
	if (rc == 0 &&
	    (!hlg_save_tables_fill(s->saved, r, s->run, sums) || !save_cells(s) ||
	     !save_moments(s) || !hlg_pprof_resolve(s->saved)))
		rc = hlg_err_memory(err, "profile");
	hlg_inlined_close(s->own_inlined);
	hlg_index_finish(&s->asked);
	hlg_index_finish(&s->index);
	free(s->keys);
	free(s->cells);
	free(s->places);
	return rc;
}

/* The output has no room for it. */
static void tell_folded(const struct hlg_pprof_server *server, uint64_t all)
{
	if (server->addresses)
		fprintf(stderr,
			"hlguest: note: for %s's limit each address is the first "
			"address of its function (rows less: %" PRIu64 ")\n",
			hlg_pprof_server_name(server->reader), server->addresses);
	if (server->folded)
		fprintf(stderr,
			"hlguest: note: for %s's limit the rarest %" PRIu64 " of %" PRIu64
			" samples are summed as " HLG_PPROF_SERVER_FOLDED "\n",
			hlg_pprof_server_name(server->reader), server->folded, all);
}

int hlg_pprof_report(struct hlg_run *run, const struct hlg_recording_sums *sums,
		     struct hlg_pprof_server *server, const unsigned char *list,
		     FILE *stream, struct hlg_err *err)
{
	struct hlg_saved saved = HLG_SAVED_INIT;
	/* hlguest reads its own again, for reports that want all. */
	struct saver s = {.run = run, .saved = &saved, .drops = server};
	struct hlg_report report;
	int rc = hlg_run_build(run, &report, err);

	if (rc == 0) {
		saved.extra.by = HLG_SAVED_BY(run->options.by);
		saved.listed = list;
		if (list)
			memcpy(saved.list, list, sizeof(saved.list));
		rc = save(&s, &report, sums, err);
	}
	if (rc == 0)
		rc = server ? hlg_pprof_server_write(&saved, server, run->options.out,
						     stream, err)
			    : hlg_pprof_write(&saved, run->options.out, stream, err);
	if (rc == 0 && server)
		tell_folded(server, saved.extra.guest_samples);
	if (rc == 0)
		hlg_run_warn(&report, run->format, "");
	hlg_report_finish(&report);
	hlg_saved_finish(&saved);
	return rc;
}
