// SPDX-License-Identifier: GPL-2.0-only
// What the page's views compute without a document: where the bytes of an image, slices of time
// and lanes of threads are drawn, what is at a point, what a drag selects. node --test runs it.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {test} = require('node:test');

const FOLDER = path.join(__dirname, '../../../tools/page');
const FILES = ['core.js', 'canvas.js', 'image.js', 'time.js', 'threads.js', 'frames.js', 'flame.js'];
const NAMES = ['lastAtMost', 'ribbonOf', 'ribbonSpan', 'ribbonPlace', 'ribbonOffset',
	'windowWhole', 'windowAt', 'windowZoom', 'windowMove', 'windowShow', 'windowEnd', 'windowHit',
	'windowPieces', 'matchedRuns', 'cellOf', 'cellSums', 'cellMost', 'takeRoom',
	'fitText', 'sectionsOf', 'imageMatches', 'evenHeat', 'timeShape', 'timeCell',
	'timeHit', 'timeOutline', 'rangeOf', 'tickStep', 'timeSums', 'timeRow', 'stepOf', 'spanOfTime', 'threadIndex', 'busiest', 'sliceWords', 'laneSums',
	'laneMeans', 'cutName', 'frameLabel', 'flameTree', 'flameFrames', 'frameRows', 'inclusiveCounts', 'shadeOf', 'IMAGE_LINE', 'TIME_CELL', 'HEATS'];
const text = FILES.map((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8')).join('');
const page = new Function(`'use strict';\n${text}\nreturn {${NAMES.join(',')}};`)();

// The same numbers in each run.
function random(seed) {
	let state = seed;
	return (n) => {
		state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
		return (state >> 8) % n;
	};
}

// Spans with holes between some.
function spansOf(seed, n) {
	const next = random(seed), spans = {at: [], size: [], kind: [], name: []};
	for (let i = 0, at = next(100); i < n; i++) {
		spans.at.push(at);
		spans.size.push(1 + next(300));
		spans.kind.push(next(3));
		spans.name.push('f' + i);
		at += spans.size[i] + (next(4) ? 0 : next(5000));
	}
	return spans;
}

test('the last that is at most', () => {
	const array = [1, 3, 3, 7];
	for (const [value, index] of [[0, -1], [1, 0], [2, 0], [3, 2], [6.5, 2], [7, 3], [99, 3]])
		assert.equal(page.lastAtMost(array, value), index);
	assert.equal(page.lastAtMost([], 1), -1);
});

test('how long the steps are in which functions are counted', () => {
	for (const [begins, step] of [[[0, 1, 2, 3], 1], [[0, 3, 7, 9], 4], [[0, 0], 1], [[0], 1]])
		assert.equal(page.stepOf(Float64Array.from(begins)), step, `${begins}`);
});

test('a frame has its name, and its share where there is room for both', () => {
	assert.equal(page.frameLabel('memset', 1, 8, 6 + 13 * 7, 7), 'memset 12.5 %');
	assert.equal(page.frameLabel('memset', 1, 8, 6 + 12 * 7, 7), 'memset');
	assert.equal(page.frameLabel('memset', 1, 8, 6 + 5 * 7, 7), 'mems…');
	assert.equal(page.frameLabel('memset', 1, 8, 6 + 2 * 7, 7), '');
	assert.equal(page.frameLabel('日本語', 1, 8, 6 + 5 * 7, 7), '日本…');
	assert.equal(page.cutName('日本語', 6), '日本語');
	assert.equal(page.cutName('<script>', 4), '<sc…');
});

test('what a frame calls stands on it, as wide as its part; narrow ones are left out', () => {
	// all > a > b, and a > c; a itself has 1, c 4,999
	const flame = {parent: [-1, 0, 1, 1], name: [-1, 0, 1, 2], kind: [0, 3, 3, 3],
		count: [0, 4000, 1, 5999]};
	const tree = page.flameTree(flame);
	assert.deepEqual([...tree.total], [10000, 10000, 1, 5999]);
	assert.deepEqual([...tree.depth], [0, 1, 2, 2]);
	const drawn = page.flameFrames(flame, tree, 0, 1000).map(({node, x, width}) => [node, x, width]);
	assert.deepEqual(drawn, [[0, 0, 1000], [1, 0, 1000], [3, .1, 599.9]]);
	assert.deepEqual(page.flameFrames(flame, tree, 3, 600).map((f) => f.node), [0, 1, 3]);
	// Of a range: what is not there is not drawn, but for the root.
	const part = page.flameTree(flame, [0, 3, 1, 0]), none = page.flameTree(flame, [0, 0, 0, 0]);
	assert.deepEqual([...part.total], [4, 4, 1, 0]);
	assert.deepEqual(page.flameFrames(flame, part, 0, 1000).map((f) => f.width), [1000, 1000, 250]);
	assert.deepEqual(page.flameFrames(flame, none, 0, 1000), [{node: 0, x: 0, width: 0}]);
	for (let i = 0; i < 1000; i++)
		assert.ok([0, 1, 2, 3, 4, 5, 6, 7].includes(page.shadeOf('f' + i)));
	assert.ok([...'abcdefgh'].some((name) => page.shadeOf(name) !== page.shadeOf('a')));
});

test('a stack counts once in a function, and in none that shares its name', () => {
	// all > a > b > a, all > b, all > twice > gap; a host's function is called a, too
	const flame = {parent: [-1, 0, 1, 2, 0, 0, 5, 0], name: [-1, 0, 1, 0, 1, 2, 3, 0],
		kind: [0, 3, 3, 3, 3, 3, 4, 1], count: [0, 1, 2, 4, 8, 16, 32, 64], names: ['a', 'b', 'twice', 'gap']};
	const rows = {name: ['twice', 'b', 'a', 'none', 'twice', 'gap']};
	const counts = page.inclusiveCounts(page.frameRows(rows, flame), page.flameTree(flame));
	assert.deepEqual([...counts], [NaN, 14, 7, 0, NaN, 32]);
});

test('matches are where their spans are, and no more than can be told apart', () => {
	for (const [seed, n] of [[1, 40], [2, 3000], [3, 60000]]) {
		const ribbon = page.ribbonOf(spansOf(seed, n), '0x0'), next = random(seed);
		const matched = Uint8Array.from(spansOf(seed, n).at, () => (next(3) ? 1 : 0));
		const whole = page.windowWhole(ribbon.length, 700, 22);
		for (const win of [whole, page.windowAt(whole, whole.most / 5, ribbon.length / 3)]) {
			const painted = (pieces) => {
				const pixels = new Uint8Array(win.lines * 720);
				for (const {line, left, right} of pieces)
					pixels.fill(1, line * 720 + Math.round(left),
						line * 720 + Math.round(Math.max(left + 2, right)));
				return pixels;
			};
			const runs = page.matchedRuns(ribbon, win, matched), each = [];
			for (let i = 0; i < ribbon.n; i++)
				if (matched[i])
					each.push(...page.windowPieces(win, ribbon.pos[i], ribbon.end[i]));
			assert.deepEqual(painted(runs), painted(each));
			assert.ok(runs.length <= win.lines * 350, `${runs.length} runs`);
		}
	}
});

test('each byte of code has a place of its own, in a cell of its cache line', () => {
	for (const origin of ['0x0', '0x1010', '0xffffffff80000007']) {
		const spans = spansOf(3, 40), ribbon = page.ribbonOf(spans, origin);
		const lead = Number(BigInt(origin) % 64n);
		let at = 0, before = -1;
		for (let i = 0; i < 40; i++) {
			at = spans.at[i];
			for (let k = 0; k < spans.size[i]; k++) {
				const pos = page.ribbonPlace(ribbon, at + k);
				assert.ok(pos > before && pos < before + 65);
				assert.equal(pos % 64, (at + k + lead) % 64);
				assert.equal(page.ribbonSpan(ribbon, pos), i);
				assert.equal(page.ribbonOffset(ribbon, pos), at + k);
				before = pos;
			}
			if (i < 39 && spans.at[i + 1] > at + spans.size[i])
				assert.equal(page.ribbonPlace(ribbon, at + spans.size[i]), -1);
		}
		assert.equal(ribbon.length, before + 1);
		assert.equal(ribbon.bytes, spans.size.reduce((a, b) => a + b));
		assert.equal(page.ribbonPlace(ribbon, spans.at[0] - 1), -1);
		assert.equal(page.ribbonPlace(ribbon, at + spans.size[39]), -1);
	}
});

test('a window holds the whole, at any width and length', () => {
	for (const width of [280, 900, 1600])
		for (const length of [1, 63, 64, 5000, 1258291, 40e6]) {
			const win = page.windowWhole(length, width, 22);
			const whole = page.windowAt(win, win.most, 0);
			assert.ok(whole.lines >= 1 && whole.lines <= 22);
			assert.ok(whole.lines * whole.per >= length);
			assert.equal(page.windowEnd(whole), length);
			assert.equal(whole.per % whole.cell, 0);
			assert.ok(whole.cell * width / whole.per >= 1.5 || length < 64);
		}
});

test('what is under the pointer stays there as one zooms', () => {
	const next = random(9), whole = page.windowWhole(1258291, 900, 22);
	let win = page.windowAt(whole, whole.most, 0);
	for (let i = 0; i < 500; i++) {
		const x = next(900), line = next(22), before = win;
		const pos = win.first + line * win.per + x * win.per / win.width;
		win = page.windowZoom(win, next(2) ? 0.7 : 1.4, x, line);
		const after = win.first + line * win.per + x * win.per / win.width;
		const free = win.first > 0 && page.windowEnd(win) < win.length;
		if (free)
			assert.ok(Math.abs(after - pos) <= win.cell, `${before.per} to ${win.per}`);
		assert.ok(win.per >= 64 && win.per <= win.most && win.first >= 0);
		assert.equal(win.first % win.cell, 0);
	}
	const close = page.windowAt(whole, 1, 5000);
	assert.equal(close.cell, 1);
	assert.deepEqual(page.windowZoom(close, 0.5, 450, 11), close);
});

test('a window that was laid out stays as it is', () => {
	for (const [length, width] of [[55275339, 697], [444167, 226], [92113530, 1534], [20457, 634]]) {
		const whole = page.windowWhole(length, width, 22);
		assert.equal(page.windowAt(whole, whole.most, 0).per, whole.most);
		for (let per = whole.most; per > 64; per *= 0.97) {
			const win = page.windowAt(whole, per, length / 3);
			assert.deepEqual(page.windowAt(win, win.per, win.first), win);
		}
	}
});

test('a drag moves by pixels and lines, and stops at the ends', () => {
	const whole = page.windowWhole(1 << 20, 1024, 16), win = page.windowAt(whole, 4096, 40960);
	assert.equal(page.windowMove(win, 0, 1).first, win.first - win.per);
	assert.equal(page.windowMove(win, -512, 0).first, win.first + win.per / 2);
	assert.equal(page.windowMove(win, 0, 1000).first, 0);
	const last = page.windowMove(win, 0, -100000);
	assert.equal(page.windowEnd(last), 1 << 20);
	assert.deepEqual(page.windowShow(win, win.first + 5), win);
	const shown = page.windowShow(win, 900000);
	assert.ok(shown.first <= 900000 && page.windowEnd(shown) > 900000);
});

test('a point is in the piece of what is there, beyond it nothing', () => {
	const whole = page.windowWhole(100000, 1000, 20), win = page.windowAt(whole, 4096, 8192);
	const next = random(4);
	for (let i = 0; i < 300; i++) {
		const x = next(1000), y = next(win.lines * page.IMAGE_LINE);
		const pos = page.windowHit(win, x, y);
		if (pos < 0) {
			assert.ok(win.first + Math.floor(y / page.IMAGE_LINE) * win.per + x * 4.096 >= 99999);
			continue;
		}
		const [piece] = page.windowPieces(win, pos, pos + 1);
		assert.equal(piece.line, Math.floor(y / page.IMAGE_LINE));
		assert.ok(piece.left <= x + 1e-9 && x < piece.right + 1e-9);
	}
	for (const [x, y] of [[-1, 5], [1000, 5], [5, -1], [5, win.lines * page.IMAGE_LINE]])
		assert.equal(page.windowHit(win, x, y), -1);
});

test('pieces cover a stretch once, clipped to what is seen', () => {
	const whole = page.windowWhole(100000, 1000, 20), win = page.windowAt(whole, 1024, 2048);
	const pieces = page.windowPieces(win, 0, 5000);
	assert.deepEqual(pieces.map((p) => p.line), [0, 1, 2]);
	const wide = pieces.reduce((sum, p) => sum + p.right - p.left, 0);
	assert.ok(Math.abs(wide - (5000 - 2048) * 1000 / 1024) < 1e-6);
	assert.deepEqual(page.windowPieces(win, 0, 2048), []);
});

test('the edges of what is drawn', () => {
	const small = page.windowWhole(4096, 1000, 22), whole = page.windowAt(small, small.most, 0);
	assert.deepEqual([whole.lines, whole.per], [4, 1024]);
	assert.equal(page.windowWhole(30000, 1000, 22).lines, 6);
	assert.equal(page.windowWhole(4096, 1000, 2).lines, 2);
	assert.equal(page.windowHit(whole, 999.99, 4 * page.IMAGE_LINE - 1), 4095);
	const few = page.windowWhole(3990, 1000, 22), odd = page.windowAt(few, few.most, 0);
	const x = (3990 - 3 * odd.per) * 1000 / odd.per;
	assert.equal(page.windowHit(odd, x - 0.5, 3 * page.IMAGE_LINE), 3989);
	assert.equal(page.windowHit(odd, x + 0.5, 3 * page.IMAGE_LINE), -1);
	assert.deepEqual(page.windowPieces(whole, 1000, 1040), [
		{line: 0, left: 1000 / 1.024, right: 1000}, {line: 1, left: 0, right: 16 / 1.024}]);
	const large = page.windowWhole(1 << 20, 1024, 16), win = page.windowAt(large, 4096, 40960);
	const shown = page.windowShow(win, 900000);
	assert.ok(Math.abs(shown.first + (win.lines + 1) * win.per / 2 - 900000) <= win.cell);
	assert.ok(page.windowShow(win, 40959).first < 40959);
	assert.equal(page.windowShow(win, page.windowEnd(win) - 1), win);
	assert.notEqual(page.windowShow(win, page.windowEnd(win)), win);
	const ribbon = page.ribbonOf({at: [10, 200], size: [5, 7]}, '0x3f');
	assert.equal(ribbon.pos[0], 9);
	assert.equal(page.ribbonOffset(ribbon, 0), 10);
	assert.equal(page.ribbonOffset(ribbon, 16), 14);
	assert.equal(page.ribbonOffset(ribbon, ribbon.length), 206);
});

test('cells have the sums of their bytes, as large as one likes', () => {
	const next = random(5), pos = [], weight = [];
	for (let at = 0; pos.length < 400; at += 1 + next(40)) {
		pos.push(at);
		weight.push(next(3) ? 1 + next(50) : 0);
	}
	for (const cell of [1, 2, 64, 100.5, 4096]) {
		const end = pos[399] + 1, by = new Map();
		pos.forEach((p, i) => by.set(Math.floor(p / cell),
			(by.get(Math.floor(p / cell)) || 0) + weight[i]));
		const {first, sums} = page.cellSums(pos, weight, cell, 0, end);
		assert.equal(first, 0);
		by.forEach((sum, index) => assert.equal(sums[index], sum));
		assert.equal(sums.reduce((a, b) => a + b), weight.reduce((a, b) => a + b));
		assert.equal(page.cellMost(pos, weight, cell), Math.max(...by.values()));
	}
	const part = page.cellSums([3, 4, 5, 6], [1, 2, 4, 8], 2, 4, 6);
	assert.deepEqual([part.first, ...part.sums], [2, 6]);
	const cut = page.cellSums([3, 4, 5, 6], [1, 2, 4, 8], 4, 5, 7);
	assert.deepEqual([cut.first, ...cut.sums], [1, 12]);
});

test('sections of code have places, others not', () => {
	const ribbon = page.ribbonOf({at: [16, 100, 4000], size: [20, 300, 8]}, '0x1000');
	const found = page.sectionsOf({sections: {at: [4000, 100, 500, 0], size: [8, 300, 50, 36],
		name: ['.fini', '.text', '.rodata', '.init'], code: [1, 1, 0, 1]}}, ribbon);
	assert.deepEqual(found.map((s) => [s.name, s.pos]), [['.init', ribbon.pos[0]],
		['.text', ribbon.pos[1]], ['.fini', ribbon.pos[2]]]);
});

test('names take the room that is there', () => {
	const taken = [];
	assert.equal(page.takeRoom(taken, 10, 50, 40), 40);
	assert.equal(page.takeRoom(taken, 40, 60, 1), 0);
	assert.equal(page.takeRoom(taken, 2, 100, 9), 0);
	assert.equal(page.takeRoom(taken, 2, 100, 8), 8);
	assert.equal(page.takeRoom(taken, 50, 60, 10), 10);
	assert.equal(page.takeRoom(taken, 60, 100, 1), 40);
	const context = {measureText: (words) => ({width: 6 * words.length})};
	assert.equal(page.fitText(context, 'memcpy', 36), 'memcpy');
	assert.equal(page.fitText(context, 'memcpy', 35), 'memc…');
	assert.equal(page.fitText(context, 'memcpy', 10), '');
});

test('names are searched as plain text, whatever their case', () => {
	const model = {image: {spans: {name: ['memcpy', 'A.b', 'axb', '']}}, lower: null};
	assert.equal(page.imageMatches(model, {words: ''}), null);
	assert.deepEqual([...page.imageMatches(model, {words: 'a.b'})], [0, 1, 0, 0]);
	assert.deepEqual([...page.imageMatches(model, {words: 'mem'})], [1, 0, 0, 0]);
});

test('shares of the maximum have a colour each', () => {
	for (const [part, index] of [[1, page.HEATS - 1], [1e-9, 0], [0, 0], [0.5, page.HEATS / 2 - 1]])
		assert.equal(page.evenHeat(part), index);
});

test('slices lie in columns, or in a strip where they are few', () => {
	for (const [n, width, strip] of [[30, 900, true], [150, 300, true], [151, 900, false],
		[4096, 358, false], [4096, 1500, false]]) {
		const shape = page.timeShape(n, width);
		assert.equal(shape.strip, strip);
		for (let slice = 0; slice < n; slice++) {
			const [x, y, wide, high] = page.timeCell(shape, slice);
			assert.ok(x >= 0 && x + wide <= width + 1e-6 && y + high <= shape.height);
			assert.equal(page.timeHit(shape, x + wide / 2, y + high / 2), slice);
		}
	}
	const shape = page.timeShape(220, 900), [x, , wide] = page.timeCell(shape, 219);
	assert.equal(page.timeHit(shape, x + wide / 2, 40 * page.TIME_CELL), -1);
	assert.equal(page.timeHit(shape, x + wide / 2, 40 * page.TIME_CELL, true), 219);
	assert.equal(page.timeHit(shape, 100, 50 * page.TIME_CELL), -1);
	assert.equal(page.timeHit(shape, 100, 50 * page.TIME_CELL, true) % 50, 49);
	assert.equal(page.timeHit(shape, 5000, 0, true), 200);
	assert.equal(page.timeHit(shape, -50, -50), -1);
	assert.equal(page.timeHit(shape, -50, -50, true), 0);
	assert.equal(page.timeHit(shape, 5000, 5000, true), 219);
});

test('each recording begins a column; behind its end there is nothing', () => {
	const starts = [0, 70, 75, 200], shape = page.timeShape(400, 900, starts);
	for (let slice = 0; slice < 400; slice++) {
		const [x, y, wide, high] = page.timeCell(shape, slice);
		assert.equal(page.timeHit(shape, x + wide / 2, y + high / 2), slice);
		assert.equal(page.timeHit(shape, x + wide / 2, y + high / 2, true), slice);
		if (starts.includes(slice))
			assert.equal(y, 0);
	}
	const [x, , wide] = page.timeCell(shape, 69);
	assert.equal(page.timeHit(shape, x + wide / 2, 30 * page.TIME_CELL), -1);
	assert.equal(page.timeHit(shape, x + wide / 2, 30 * page.TIME_CELL, true), 69);
	assert.ok(page.timeShape(3000, 300, [...Array(1500).keys()].map((i) => 2 * i)).strip);
	const time = {slice: 2e7, recordings: {at: [0, 70], first: [-1e7, 0], path: ['a', 'b']}};
	assert.equal(page.spanOfTime(time, 0, 70), 'recording 1 (a): 0.00 s to 1.39 s');
	assert.equal(page.spanOfTime(time, 69, 71), 'recording 1 at 1.37 s to recording 2 at 0.02 s');
	time.recordings = {at: [0], first: [0], path: ['a']};
	assert.equal(page.spanOfTime(time, 5, 10), '0.10 s to 0.20 s');
	time.recordings.first = [-18e6]; // a slice of which the recording has a tenth
	assert.equal(page.spanOfTime(time, 0, 1), '0.0000 s to 0.0020 s');
	assert.equal(page.spanOfTime(time, 0, 2), '0.00 s to 0.02 s');
});

test('what is said of a slice', () => {
	const time = {slice: 2e7, recordings: {at: [0], first: [0], path: ['a']}};
	const sums = {guest: [8e6], host: [5e6], user: [2e6], kernel: [3e6], exits: [0], lost: [1], row: [0]};
	const of = {data: {time, unit: 'ns', marks: {kind: []}}};
	assert.deepEqual(page.sliceWords(of, sums, 0), ['0.00 s to 0.02 s', 'guest: 8.00 ms',
		'host: 5.00 ms', 'user mode of the host: 2.00 ms', 'kernel of the host: 3.00 ms',
		'events lost: 1']);
});

// Is a point inside of a polygon?
function inside(corners, x, y) {
	let is = false;
	corners.forEach(([ax, ay], i) => {
		const [bx, by] = corners[(i + 1) % corners.length];
		if (ay > y !== by > y && x < (bx - ax) * (y - ay) / (by - ay) + ax)
			is = !is;
	});
	return is;
}

test('the outline of a range holds its slices and no others', () => {
	for (const n of [60, 230]) {
		const shape = page.timeShape(n, 900);
		for (const [from, to] of [[0, 1], [3, 20], [10, 60], [49, 51], [20, 55], [0, n]]) {
			const corners = page.timeOutline(shape, from, to);
			for (let slice = 0; slice < n; slice++) {
				const [x, y, wide, high] = page.timeCell(shape, slice);
				assert.equal(inside(corners, x + wide / 2, y + high / 2),
					slice >= from && slice < to, `${slice} of ${from}..${to}`);
			}
		}
	}
});

test('a drag selects half open, either way', () => {
	assert.deepEqual(page.rangeOf(3, 7), [3, 8]);
	assert.deepEqual(page.rangeOf(7, 3), [3, 8]);
	assert.deepEqual(page.rangeOf(4, 4), [4, 5]);
});

test('ticks are round numbers', () => {
	for (const [least, step] of [[1, 1], [1.5, 2], [3, 5], [6, 10], [2e7, 2e7], [2.1e7, 5e7]])
		assert.equal(page.tickStep(least), step);
});

const TIME = {n: 6, slice: 2e7, at: [0, 0, 2, 2, 2, 5], what: [0, -1, 1, 1, -2, -3],
	thread: [0, 1, 1, 0, 0, 1], count: [5, 2, 7, 1, 3, 4]};

test('sums by slice reconcile with the entries', () => {
	const marks = {kind: [1, 0, 1, 2], at: [0, 2, 5, 3], count: [4, 1, 6, 9]};
	const sums = page.timeSums(TIME, marks);
	assert.deepEqual([...sums.exits], [4, 0, 0, 0, 0, 6]);
	assert.deepEqual([...sums.lost], [0, 0, 1, 0, 0, 0]);
	const few = page.timeSums(TIME, {kind: [2], at: [3], count: [9]});
	assert.deepEqual([...few.exits], [0, 0, 0, 9, 0, 0]);
	assert.deepEqual([...sums.guest], [5, 0, 8, 0, 0, 0]);
	assert.deepEqual([...sums.host], [2, 0, 3, 0, 0, 4]);
	assert.deepEqual([...sums.user], [2, 0, 0, 0, 0, 0]);
	assert.deepEqual([...sums.kernel], [0, 0, 3, 0, 0, 0]);
	/* Each slice of where is two of time, the first begins one before it. */
	const where = {begins: [0, 1, 3, 5, 6], at: [0, 1, 1, 3], what: [0, 1, 0, 1], count: [5, 8, 2, 4]};
	assert.deepEqual([...page.timeRow(TIME, where, [9, 4], 4)], [0, 4, 4, 0, 0, 4]);
	assert.deepEqual([...page.timeRow(TIME, where, [9, 4], 9)], [5, 1, 1, 0, 0, 0]);
	assert.deepEqual([...page.timeRow(TIME, where, [9, 4], -1)], [0, 0, 0, 0, 0, 0]);
});

const NONE = [0, 0, 0, 0, 0, 0];

test('each entry is in its thread\'s lane', () => {
	const index = page.threadIndex(TIME, 3);
	const lanes = [0, 1, 2].map((t) => page.laneSums(TIME, index, t).map((a) => [...a]));
	assert.deepEqual(lanes[0], [[5, 0, 1, 0, 0, 0], NONE, [0, 0, 3, 0, 0, 0], NONE]);
	assert.deepEqual(lanes[1], [[0, 0, 7, 0, 0, 0], [2, 0, 0, 0, 0, 0], NONE,
		[0, 0, 0, 0, 0, 4]]);
	assert.deepEqual(lanes[2].flat().filter((n) => n), []);
	assert.deepEqual(page.busiest(TIME, 3), [1, 0, 2]); // as many entries, of more samples
});

test('lanes keep their means at any width', () => {
	assert.deepEqual([...page.laneMeans([2, 4, 6, 8], 2)], [3, 7]);
	assert.deepEqual([...page.laneMeans([2, 8], 4)], [2, 2, 8, 8]);
	assert.deepEqual([...page.laneMeans([2, 4, 6, 8, 10], 2)], [3, 8]);
});
