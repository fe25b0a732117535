// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all views share: the data, what is selected, and how numbers are written.
 *
 * tools/page/report-data.h says what the data is. A view is a function VIEW(section, page); it listens
 * by page.on(what, f) to 'select' (page.selected: a row, or -1), 'range' (slices [page.from,
 * page.to) are counted) and 'search' (page.words, lower case). Counts of rows and addresses are
 * those of the range.
 */

/* Sums of differences: what `at` and `when` are written as. */
function sums(differences) {
	const list = new Float64Array(differences.length);
	let sum = 0;
	for (let i = 0; i < list.length; i++) {
		sum += differences[i];
		list[i] = sum;
	}
	return list;
}

function sumOf(array, from, to) {
	let sum = 0;
	for (let i = from; i < to; i++)
		sum += array[i];
	return sum;
}

/* The first index in a sorted list whose value is not below limit. */
function lowerBound(list, limit) {
	let from = 0, to = list.length;
	while (from < to) {
		const middle = (from + to) >> 1;
		if (list[middle] < limit)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Wilson's score interval at 95 %, as filter/stats/interval.c has it. */
function wilson(share, n) {
	const z = 1.959963984540054;
	if (!(n > 0))
		return [0, 1];
	const centre = share + z * z / (2 * n), scale = 1 + z * z / n;
	const side = z * Math.sqrt(share * (1 - share) / n + z * z / (4 * n * n));
	return [Math.max(0, (centre - side) / scale), Math.min(1, (centre + side) / scale)];
}

/* Texts */

/* Rounded as hlg_interval_percent does: half a hundredth up. */
function hundredths(share) {
	return (Math.round(10000 * share) / 100).toFixed(2);
}

function percent(share) {
	return hundredths(share) + ' %';
}

/* 1234567 with thin spaces. */
function count(n) {
	return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/* The address at an offset, of the part of the image that it is in. */
function address({parts}, offset) {
	const i = Math.max(0, lowerBound(parts.at, offset + 1) - 1);
	return '0x' + (BigInt(parts.from[i]) + BigInt(offset - parts.at[i])).toString(16);
}

/* Nanoseconds from the start. */
function seconds(ns) {
	const s = ns / 1e9;
	return s.toFixed(s < 100 ? 2 : 1) + ' s';
}

/* What a count stands for: "1.23 s", "1 234 samples". */
function amount(n, unit) {
	if (unit !== 'ns')
		return count(n) + ' ' + unit;
	return n < 1e9 ? (n / 1e6).toFixed(n < 1e7 ? 2 : 1) + ' ms' : (n / 1e9).toFixed(3) + ' s';
}

function bytes(n) {
	return n < 1024 ? n + ' bytes'
		: n < 1048576 ? (n / 1024).toFixed(1) + ' KiB' : (n / 1048576).toFixed(1) + ' MiB';
}

function codeBytes(images) {
	return images.reduce((sum, image) => image.spans.size.reduce((a, b) => a + b, sum), 0);
}

/* Elements: element('a', {href: '#x', class: 'y'}, 'text', child...). Text is never markup. */
function element(name, attributes, ...children) {
	const svg = ['svg', 'rect', 'path', 'text', 'g', 'title', 'defs', 'pattern'].includes(name);
	const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', name)
		: document.createElement(name);
	for (const [key, value] of Object.entries(attributes || {}))
		e.setAttribute(key, value);
	e.append(...children);
	return e;
}

/* What every page has */

function showFailure(error) {
	document.getElementById('answer').append(element('p', {class: 'warning', role: 'alert'},
		'The pictures cannot be drawn here: ' + error.message));
}

/*
 * The box for what is searched, among a section's tools; '/' goes there, Escape empties it.
 * search(text) follows it. Returns the box, and what says how much is found.
 */
function putFilter(section, search) {
	const input = element('input', {type: 'search', id: 'search', placeholder: 'name',
		autocomplete: 'off', spellcheck: 'false'});
	const said = element('output', {for: 'search'});
	section.querySelector('.tools').append(
		element('label', {for: 'search'}, 'Filter '), input,
		element('kbd', {title: 'the key that goes there'}, '/'), said);
	input.addEventListener('input', () => search(input.value));
	input.addEventListener('keydown', (event) => {
		if (event.key === 'Escape') {
			input.value = '';
			search('');
		}
	});
	document.addEventListener('keydown', (event) => {
		if (event.key === '/' && !event.target.closest('input, textarea') && !event.ctrlKey &&
				!event.metaKey && !event.altKey) {
			input.focus();
			event.preventDefault();
		}
	});
	return {input, said};
}

/* All is drawn: from now on it follows the reader's colours. */
function finishPage(pages) {
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => pages.forEach((page) => page.tell('scheme')));
	document.documentElement.dataset.ready = 'yes';
}

/* Heat */

/*
 * Colours of heat from nothing to the maximum, on a log ramp of one hue: 0 is none, else 1 to
 * HEATS. Readers of either scheme see more as further from the background.
 */
const HEATS = 16;
const HEAT_DECADES = 4; // below 1/10,000 of the maximum all look alike

function heatOf(part) {
	if (!(part > 0))
		return 0;
	const level = 1 + Math.log10(part) / HEAT_DECADES;
	return Math.min(HEATS, 1 + Math.max(0, Math.floor(level * HEATS)));
}

/* [r, g, b] from pale to dark, or from dim to bright: of lightness that rises evenly. */
function heatColours(dark) {
	const ends = dark ? [[58, 42, 30], [196, 92, 24], [255, 226, 150]]
		: [[252, 232, 208], [226, 112, 32], [92, 22, 8]];
	const colours = [];
	for (let i = 0; i < HEATS; i++) {
		const at = 2 * i / (HEATS - 1), k = Math.min(1, Math.floor(at)), part = at - k;
		colours.push(ends[k].map((c, j) => Math.round(c + (ends[k + 1][j] - c) * part)));
	}
	return colours;
}

function isDark() {
	return matchMedia('(prefers-color-scheme: dark)').matches;
}

/* The page */

/* Lists by the million are gone through for each range. */
function useNumbers(group, types) {
	for (const [key, type] of Object.entries(types))
		group[key] = type.from(group[key]);
}

function makePage(data) {
	useNumbers(data.addresses, {row: Uint32Array, at: Float64Array, count: Float64Array});
	if (data.time) {
		useNumbers(data.time, {what: Int8Array, thread: Uint32Array, count: Float64Array});
		useNumbers(data.where, {count: Float64Array});
	}
	const rows = data.rows, listeners = {select: [], range: [], search: [], scheme: []};
	const page = {
		data,
		n: rows.name.length,
		selected: -1,
		words: '',
		from: 0,
		to: data.time ? data.time.n : 0,
		counts: Float64Array.from(rows.count),
		addressCounts: Float64Array.from(data.addresses.count),
		lowerNames: rows.name.map((name) => name.toLowerCase()),
	};
	const times = data.time;

	if (times) {
		times.at = sums(times.when);
		for (const table of [data.where, data.stacks || {when: [], what: []}]) {
			table.at = sums(table.when);
			table.what = sums(table.what);
		}
		data.where.begins = sums(data.where.begins);
		data.marks.at = sums(data.marks.when);
	}
	page.with = rows.with;
	page.withTotal = data.withTotal;
	for (const image of data.images)
		image.spans.at = sums(image.spans.at);

	/* What shares are of, and the row that has most of it. */
	function sumUp() {
		const {counts} = page;
		page.total = page.whole() ? data.total : sumOf(counts, 0, counts.length);
		page.top = 0;
		for (let row = 0; row < counts.length; row++)
			if (counts[row] > counts[page.top])
				page.top = row;
	}
	page.on = function (what, f) {
		listeners[what].push(f);
	};
	page.tell = function (what) {
		for (const f of listeners[what])
			f();
	};
	page.select = function (row) {
		if (row === page.selected)
			return;
		page.selected = row;
		page.tell('select');
	};
	page.search = function (text) {
		page.words = text.trim().toLowerCase();
		page.tell('search');
	};
	page.matches = function (row) {
		return page.words !== '' && page.lowerNames[row].includes(page.words);
	};
	page.whole = function () {
		return !times || (page.from === 0 && page.to === times.n);
	};
	sumUp();
	/*
	 * Counts what lies in slices [from, to), or a little more: in whole slices of where, which
	 * are those from page.first to page.end.
	 */
	page.range = function (from, to) {
		if (!times)
			return;
		const {begins} = data.where;
		const first = Math.max(0, lowerBound(begins, from + 1) - 1);
		const end = lowerBound(begins, Math.min(to, times.n));
		[page.first, page.end] = [first, end];
		[page.from, page.to] = [begins[first], begins[end]];
		if (page.whole()) {
			page.counts.set(rows.count);
			page.addressCounts.set(data.addresses.count);
		} else {
			page.counts.fill(0);
			countRange(page, data.where, page.addressCounts);
			const {row} = data.addresses;
			for (let i = 0; i < row.length; i++)
				page.counts[row[i]] += page.addressCounts[i];
		}
		sumUp();
		if (data.stacks)
			countStacks(page);
		page.tell('range');
	};
	/* Of a range they are known where all have one period; else NaN. */
	page.samples = function (row) {
		return page.whole() ? rows.samples[row] : data.each ? page.counts[row] / data.each : NaN;
	};
	page.share = function (row) {
		return page.total > 0 ? page.counts[row] / page.total : 0;
	};
	/*
	 * [low, high] of a share: what the report has, or of the range as much of its samples. Of few
	 * only the upper end is told, as hlg_interval_is_few has it.
	 */
	page.interval = function (row) {
		if (page.whole())
			return [rows.low[row], rows.high[row]];
		const share = page.share(row);
		const [low, high] = wilson(share, data.observations * page.total / data.total);
		return [page.samples(row) <= 2 && share < .1 ? 0 : low, high];
	};
	return page;
}

/* What of `where` or `stacks` lies in the range. */
function countRange(page, table, counts) {
	const end = lowerBound(table.at, page.end);
	counts.fill(0);
	for (let i = lowerBound(table.at, page.first); i < end; i++)
		counts[table.what[i]] += table.count[i];
}

/* The flame graph of the range, and inclusive counts: those of the report of the whole. As rows
 * have them: without VM exits, which are frames. */
function countStacks(page) {
	const {flame, stacks, rows, withTotal} = page.data, own = new Float64Array(flame.count.length);
	if (!page.whole())
		countRange(page, stacks, own);
	page.tree = flameTree(flame, page.whole() ? flame.count : own);
	page.frameRows ??= frameRows(rows, flame);
	const kept = own.map((n, i) => (flame.kind[i] === 5 ? 0 : n));
	page.with = page.whole() || !rows.with ? rows.with :
		inclusiveCounts(page.frameRows, flameTree(flame, kept));
	page.withTotal = page.whole() ? withTotal : flame.kind.reduce(
		(sum, kind, i) => sum + (kind === 3 || kind === 4 ? kept[i] : 0), 0); // taken in the guest
}

/* The data of the page: JSON, or JSON packed by gzip. */
async function readData(script) {
	const text = script.textContent;
	script.textContent = ''; // once is enough in memory
	if (script.type === 'application/json')
		return JSON.parse(text);
	const binary = atob(text), packed = new Uint8Array(binary.length);
	for (let i = 0; i < packed.length; i++)
		packed[i] = binary.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
	return new Response(stream).json();
}
