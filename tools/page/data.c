// SPDX-License-Identifier: GPL-2.0-only
#include "tools/page/data.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "symtab/escape.h"
#if HLG_HAVE_ZLIB
#include <zlib.h>
#endif

enum {
	PLAIN = 1 << 16, /* bytes that are not worth packing */
	LEVEL = 4        /* of 9: a third of the time of 6, and 5 % more */
};

int hlg_page_data_begin(struct hlg_page_data *data, struct hlg_err *err)
{
	*data = (struct hlg_page_data){.first = true};
	if (!hlg_memstream_open(&data->json))
		return hlg_err_memory(err, "page");
	fputc('{', data->json.f);
	return 0;
}

size_t hlg_page_data_size(struct hlg_page_data *data)
{
	return hlg_memstream_size(&data->json);
}

/* Most of the data is numbers, by the million. */
static void write_digits(FILE *f, uint64_t value)
{
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(at, 1, (size_t)(digits + sizeof(digits) - at), f);
}

static void begin_value(struct hlg_page_data *data, const char *key)
{
	if (!data->first)
		putc_unlocked(',', data->json.f);
	data->first = false;
	if (key)
		fprintf(data->json.f, "\"%s\":", key);
}

void hlg_page_data_open(struct hlg_page_data *data, const char *key, char bracket)
{
	begin_value(data, key);
	fputc(bracket, data->json.f);
	data->first = true;
}

void hlg_page_data_close(struct hlg_page_data *data, char bracket)
{
	fputc(bracket, data->json.f);
	data->first = false;
}

void hlg_page_data_number(struct hlg_page_data *data, const char *key, uint64_t value)
{
	begin_value(data, key);
	write_digits(data->json.f, value);
}

void hlg_page_data_signed(struct hlg_page_data *data, const char *key, int64_t value)
{
	begin_value(data, key);
	if (value < 0)
		putc_unlocked('-', data->json.f);
	write_digits(data->json.f, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void hlg_page_data_hex(struct hlg_page_data *data, const char *key, uint64_t value)
{
	begin_value(data, key);
	fprintf(data->json.f, "\"0x%" PRIx64 "\"", value);
}

void hlg_page_data_real(struct hlg_page_data *data, const char *key, double value)
{
	double whole, millionths = modf(value, &whole) * 1e6;

	begin_value(data, key);
	if (llround(millionths) == 1000000)
		fprintf(data->json.f, "%lld", (long long)whole + 1);
	else
		fprintf(data->json.f, "%lld.%06lld", (long long)whole,
			llround(millionths));
}

void hlg_page_data_text(struct hlg_page_data *data, const char *key, const char *text)
{
	size_t n;

	begin_value(data, key);
	fputc('"', data->json.f);
	for (; *text; text += n) {
		n = hlg_escape_plain(text);
		if (n == 0)
			fprintf(data->json.f, "\\\\x%02x", (unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(data->json.f, "\\%c", *text);
		else if (*text ==
			 '<') /* "</script>" and "<!--" end or change the element */
			fputs("\\u003c", data->json.f);
		else
			fwrite(text, 1, n, data->json.f);
		n = n ? n : 1;
	}
	fputc('"', data->json.f);
}

#if HLG_HAVE_ZLIB
static void write_base64(FILE *f, const unsigned char *bytes, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		unsigned word = (unsigned)bytes[i] << 16;
		char out[4];

		word |= i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0;
		word |= i + 2 < n ? bytes[i + 2] : 0;
		for (int k = 0; k < 4; k++)
			out[k] = digits[word >> (18 - 6 * k) & 63];
		if (i + 1 >= n)
			out[2] = '=';
		if (i + 2 >= n)
			out[3] = '=';
		fwrite(out, 1, sizeof(out), f);
	}
}

/* gzip's format (RFC 1952): 16 more than zlib's own 15 bits of window. The bytes are to
 * be freed; NULL without memory, or if there are too many. */
static unsigned char *pack(const char *text, size_t size, size_t *packed)
{
	z_stream z = {0};
	unsigned char *bytes;
	size_t room;
	bool ok;

	if (size > UINT32_MAX ||
	    deflateInit2(&z, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	room = deflateBound(&z, size);
	bytes = malloc(room);
	z.next_in = (unsigned char *)text;
	z.avail_in = (unsigned)size;
	z.next_out = bytes;
	z.avail_out = (unsigned)room;
	ok = bytes && deflate(&z, Z_FINISH) == Z_STREAM_END;
	*packed = z.total_out;
	deflateEnd(&z);
	if (ok)
		return bytes;
	free(bytes);
	return NULL;
}

static bool put_packed(FILE *f, const char *id, const struct hlg_page_data *data)
{
	size_t n;
	unsigned char *bytes = pack(data->text, data->json.size, &n);

	if (!bytes)
		return false;
	fprintf(f, "<script type=\"application/gzip\" id=\"%s\">", id);
	write_base64(f, bytes, n);
	fputs("</script>\n", f);
	free(bytes);
	return true;
}

size_t hlg_page_data_packed(const struct hlg_page_data *data, size_t from, size_t to)
{
	size_t n;
	unsigned char *bytes = pack(data->text + from, to - from, &n);

	free(bytes);
	return bytes ? (n + 2) / 3 * 4 : 0;
}
#else
static bool put_packed(FILE *f, const char *id, const struct hlg_page_data *data)
{
	(void)f;
	(void)id;
	(void)data;
	return false;
}

size_t hlg_page_data_packed(const struct hlg_page_data *data, size_t from, size_t to)
{
	(void)data;
	return to - from;
}
#endif

int hlg_page_data_end(struct hlg_page_data *data, FILE *f, const char *id,
		      struct hlg_err *err)
{
	fputc('}', data->json.f);
	data->text = hlg_memstream_close(&data->json);
	if (!data->text)
		return hlg_err_memory(err, "page");
	if (data->json.size < PLAIN || !put_packed(f, id, data)) {
		fprintf(f, "<script type=\"application/json\" id=\"%s\">", id);
		fwrite(data->text, 1, data->json.size, f);
		fputs("</script>\n", f);
	}
	return 0;
}

void hlg_page_data_finish(struct hlg_page_data *data)
{
	if (!data->text)
		data->text = hlg_memstream_close(&data->json);
	free(data->text);
	*data = (struct hlg_page_data){0};
}
