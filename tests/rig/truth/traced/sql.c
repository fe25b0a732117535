// SPDX-License-Identifier: GPL-2.0-only
/* Fills tables, and asks them (SQLite). */
#include <sqlite3.h>
#include <stdio.h>

static const char script[] =
	"create table word(id integer primary key, name text, n integer);"
	"create index by_name on word(name);"
	"with recursive c(i) as (select 1 union all select i + 1 from c where i < 1500)"
	" insert into word select i, printf('%x', i * 40503 % 65521), i % 97 from c;"
	"create table sums as select n, count(*) as k, group_concat(name) as names"
	" from word group by n order by k desc, n;"
	"update word set name = upper(name) || n where n % 3 = 0;"
	"delete from word where id % 7 = 0;"
	"create table pairs as select a.id as x, b.id as y from word a join word b"
	" on a.name < b.name and a.n = b.n where a.id < 300;"
	"select max(x + y) from pairs where y in (select id from word where name like "
	"'%a%');";

static int print(void *data, int n, char **values, char **names)
{
	(void)data;
	(void)names;
	for (int i = 0; i < n; i++)
		puts(values[i] ? values[i] : "-");
	return 0;
}

int main(void)
{
	char *error = NULL;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db))
		return 1;
	if (sqlite3_exec(db, script, print, NULL, &error)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	return sqlite3_close(db) != SQLITE_OK;
}
