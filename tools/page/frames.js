// SPDX-License-Identifier: GPL-2.0-only
/* What stands on the frames of flame graphs: of the picture (flame-svg.js) and in a page (flame.js). */

/* px of a character of flame.css's font for frames, where it cannot be measured. */
const CHARACTER = 7.3;

/* As many columns as a name takes: characters beyond ASCII may be twice as wide. */
function columnsOf(name) {
	let used = 0;
	for (const c of name)
		used += c > '~' ? 2 : 1;
	return used;
}

/* As many characters as fit. */
function cutName(name, columns) {
	let used = 0, fits = 0;
	for (const c of name) {
		used += c > '~' ? 2 : 1;
		if (used > columns)
			return name.slice(0, fits) + '\u2026';
		if (used < columns)
			fits += c.length;
	}
	return name;
}

/* The name, and behind one that is there in full its share of all. As tools/flame/graph.c. */
function frameWords(name, n, all, columns) {
	const tenths = all ? Math.floor((n * 1000 + all / 2) / all) : 0;
	const share = ' ' + (tenths / 10).toFixed(1) + ' %';
	return cutName(name, columns) + (columnsOf(name) + share.length <= columns ? share : '');
}

/* "", where nothing that says something has room. */
function frameLabel(name, n, all, pixels, character) {
	const columns = Math.floor((pixels - 6) / character);
	return columns < 3 ? '' : frameWords(name, n, all, columns);
}
