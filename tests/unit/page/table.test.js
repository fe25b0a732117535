// SPDX-License-Identifier: GPL-2.0-only
// What the page counts, sorts and writes: core.js and table.js without a document.
'use strict';
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const {test} = require('node:test');

const FOLDER = path.join(__dirname, '../../../tools/page');
const FILES = ['core.js', 'table.js', 'flame.js'];
const NAMES = ['sums', 'lowerBound', 'wilson', 'percent', 'count', 'address', 'amount', 'bytes',
	'heatOf', 'heatColours', 'makePage', 'countRange', 'readData', 'orderRows', 'shownColumns', 'isUnsure', 'lastPart', 'HEATS'];
const text = FILES.map((name) => fs.readFileSync(path.join(FOLDER, name), 'utf8')).join('');
const script = new Function(`'use strict';\n${text}\nreturn {${NAMES.join(',')}};`)();

// Four rows; eight slices of two addresses each.
function dataOf(ratio = 1, offset = 0) {
	const when = [], what = [], number = [], begins = [0];
	for (let slice = 0, before = 0, last = 0; slice < 8; slice++)
		for (const [address, n] of [[slice % 4, 10 + slice], [4, 1]]) {
			const at = Math.floor((slice + offset) / ratio);
			when.push(at - before);
			what.push(address - last);
			number.push(n);
			[before, last] = [at, address];
		}
	for (let slice = 1, before = 0; slice <= 8; slice++)
		if (slice === 8 || (slice + offset) % ratio === 0) {
			begins.push(slice - before);
			before = slice;
		}
	return {
		unit: 'samples', total: 116, observations: 116,
		images: [{parts: {at: [0], from: ['0xffffffff80000000']}, spans: {at: [0, 16], size: [16, 16], kind: [0, 0],
			name: ['b', 'a']}}],
		rows: {name: ['b', 'a', 'Core::B', 'x'], kind: [0, 0, 1, 4], image: [0, 0, 0, -1],
			at: [64, 0, 16, 0], size: [100, 10, 0, 0], count: [60, 24, 26, 6], samples: [60, 24, 26, 6],
			low: [.4, .1, .1, .01], high: [.6, .3, .3, .1], unsure: [0, 1, 0, 0]},
		addresses: {row: [0, 1, 2, 0, 3], at: [64, 0, 16, 70, 0], count: [24, 26, 28, 30, 8]},
		time: {slice: 20000000, n: 8, recordings: {at: [0], first: [0], path: ['']}, when: [], what: [], thread: [], count: []},
		where: {begins, when, what, count: number},
		stacks: {when, what, count: number},
		flame: {parent: [-1, 0, 1, 2, 3], name: [-1, 0, 1, 2, 0], kind: [0, 3, 3, 3, 3], count: [24, 26, 28, 30, 8],
			names: ['b', 'a', 'Core::B']},
		threads: {tid: [1]},
		marks: {when: [], kind: [], count: []},
	};
}

test('half a hundredth is rounded up, as in the report', () => {
	for (const [part, of, text] of [[106, 8000, '1.33 %'], [1, 3, '33.33 %'], [1, 1, '100.00 %'], [0, 1, '0.00 %']])
		assert.equal(script.percent(part / of), text);
});

test('sums of differences, and where a value would stand', () => {
	assert.deepEqual([...script.sums([5, 0, 2, 2 ** 40])], [5, 5, 7, 2 ** 40 + 7]);
	for (const [limit, index] of [[0, 0], [5, 0], [6, 2], [7, 2], [8, 3], [9, 3]])
		assert.equal(script.lowerBound([5, 5, 7], limit), index, `${limit}`);
	assert.equal(script.lowerBound([], 1), 0);
});

// Of R: prop.test(x, n, correct = FALSE)$conf.int.
test("Wilson's interval", () => {
	for (const [x, n, low, high] of [[5, 10, .2365931, .7634069], [0, 20, 0, .1611252],
		[1, 1000, .0001765, .0056426]]) {
		const [a, b] = script.wilson(x / n, n);
		assert.ok(Math.abs(a - low) < 1e-6 && Math.abs(b - high) < 1e-6, `${x}/${n}: ${a} ${b}`);
	}
	assert.deepEqual(script.wilson(0, 0), [0, 1]);
	assert.equal(script.wilson(1, 5)[1], 1);
});

test('numbers as text', () => {
	assert.equal(script.percent(.12345), '12.35 %');
	for (const [n, word] of [[0, '0'], [999, '999'], [1000, '1 000'], [1234567.4, '1 234 567']])
		assert.equal(script.count(n).replaceAll('\u202f', ' '), word);
	const high = {at: [0, 0x3000], from: ['0x10', '0xffffffff80000000']};
	assert.equal(script.address({parts: high}, 0x2fff), '0x300f');
	assert.equal(script.address({parts: high}, 0x4234), '0xffffffff80001234');
	assert.equal(script.address({parts: {at: [0], from: ['0x0']}}, 2 ** 52), '0x10000000000000');
	for (const [ns, word] of [[5e3, '0.01 ms'], [57.94e6, '57.9 ms'], [1467e6, '1.467 s']])
		assert.equal(script.amount(ns, 'ns'), word);
	assert.equal(script.amount(1, 'samples'), '1 samples');
	assert.deepEqual([1023, 1536, 3 << 20].map(script.bytes), ['1023 bytes', '1.5 KiB', '3.0 MiB']);
});

test('heat rises with the logarithm, in both schemes evenly', () => {
	assert.equal(script.heatOf(0), 0);
	assert.equal(script.heatOf(1e-9), 1);
	assert.equal(script.heatOf(1), script.HEATS);
	for (let n = 1, before = 0; n <= 1e4; n *= 2) {
		assert.ok(script.heatOf(n / 1e4) >= before);
		before = script.heatOf(n / 1e4);
	}
	for (const dark of [false, true]) {
		const light = script.heatColours(dark).map(([r, g, b]) => .2126 * r + .7152 * g + .0722 * b);
		assert.equal(light.length, script.HEATS);
		for (let i = 1; i < light.length; i++)
			assert.ok(dark ? light[i] > light[i - 1] : light[i] < light[i - 1], `${dark} ${i}`);
	}
});

test('a range counts what lies in it; the whole is as the report has it', () => {
	const data = dataOf(), page = script.makePage(data), told = [];
	page.on('range', () => told.push(page.total));
	assert.ok(page.whole());
	page.range(2, 4);
	assert.deepEqual([...page.addressCounts], [0, 0, 12, 13, 2]);
	assert.deepEqual([...page.counts], [13, 0, 12, 2]);
	const stacks = new Float64Array(5);
	script.countRange(page, data.stacks, stacks);
	assert.deepEqual([...stacks], [0, 0, 12, 13, 2]);
	assert.equal(page.share(0), 13 / 27);
	assert.deepEqual(page.interval(0), script.wilson(13 / 27, 27));
	page.range(-5, 99);
	assert.deepEqual([...page.counts], data.rows.count);
	assert.deepEqual(page.interval(0), [.4, .6]);
	page.range(3, 3);
	assert.equal(page.share(0), 0);
	assert.deepEqual(told, [27, 116, 0]);
});

test('with callees has no VM exits, as rows have none, also of a range', () => {
	const data = dataOf(), {flame} = data;
	flame.kind = [0, 3, 3, 5, 3]; // main, which calls f, which exits; and g
	[flame.name, flame.names] = [[-1, 0, 1, 2, 3], ['b', 'a', 'exit', 'Core::B']];
	flame.parent = [-1, 0, 1, 2, 1];
	data.rows.with = [0, 0, 0, 0];
	data.withTotal = 9;
	const page = script.makePage(data);
	page.range(2, 4);
	assert.deepEqual([...page.tree.own], [0, 0, 12, 13, 2]);
	assert.deepEqual([...page.with], [14, 12, 2, 0]);
	assert.equal(page.withTotal, 14);
});

test('of one or two samples that are a small part of a range the upper end is told', () => {
	const data = dataOf();
	data.each = 1;
	const page = script.makePage(data);
	page.range(2, 4); // 13, 0, 12, 2 of 27
	assert.deepEqual([0, 3].map((row) => page.interval(row)[0] > 0), [true, false]);
	assert.equal(page.interval(3)[1], script.wilson(2 / 27, 27)[1]);
	data.each = 0; // nothing is known of how many there are
	assert.ok(page.interval(3)[0] > 0);
});

test('ranges add up', () => {
	const data = dataOf(), page = script.makePage(data), sum = [0, 0, 0, 0], all = [0, 0, 0, 0];
	for (let slice = 0; slice < 8; slice++) {
		page.range(slice, slice + 1);
		page.counts.forEach((n, row) => {
			sum[row] += n;
		});
	}
	data.where.what.forEach((what, i) => {
		all[data.addresses.row[what]] += data.where.count[i];
	});
	assert.deepEqual(sum, all);
});

test('samples of a range are known where all have one period', () => {
	const data = dataOf(), of = (page) => [0, 1, 2, 3].map(page.samples);
	const ranges = () => {
		const page = script.makePage(structuredClone(data)), whole = of(page);
		page.range(2, 4);
		return [whole, of(page)];
	};
	data.rows.samples = data.rows.count.map((n) => n / 2);
	data.each = 2;
	assert.deepEqual(ranges(), [[30, 12, 13, 3], [6.5, 0, 6, 1]]);
	data.each = 0;
	assert.deepEqual(ranges(), [[30, 12, 13, 3], [NaN, NaN, NaN, NaN]]);
});

test('what samples weigh stands under its own name, beside them', () => {
	const heads = (unit, rows = {}) => script.shownColumns({unit, rows}).map((c) => c.heading).join(' ');
	assert.equal(heads('samples'), 'share as a bar 95 % interval samples name bytes heat address');
	assert.equal(heads('ns', {with: []}),
		'share with callees as a bar 95 % interval time samples name bytes heat address');
	assert.equal(heads('instructions'), 'share as a bar 95 % interval instructions samples name bytes heat address');
	assert.ok(!script.shownColumns({unit: 'samples', rows: {}}).find((c) => c.key === 'samples').wide);
});

test('a range is widened to slices in which addresses are counted', () => {
	const page = script.makePage(dataOf(2, 1));
	for (const [from, to, first, end, sum] of [[2, 3, 1, 3, 25], [3, 5, 3, 5, 29],
		[0, 1, 0, 1, 11], [6, 8, 5, 8, 51]]) {
		page.range(from, to);
		assert.deepEqual([page.from, page.to, page.total], [first, end, sum], `${from} to ${to}`);
	}
	page.range(0, 7);
	assert.deepEqual([page.to, page.whole(), page.total], [7, false, 98]);
	page.range(1, 8);
	assert.deepEqual([page.from, page.whole()], [1, false]);
});

test('rows in order', () => {
	const page = script.makePage(dataOf());
	const order = (key, direction) => script.orderRows(page, key, direction).join('');
	assert.equal(order('share', -1), '0213');
	assert.equal(order('share', 1), '3120');
	assert.equal(order('name', 1), '1023');
	assert.equal(order('size', -1), '0123');
	assert.equal(order('heat', -1), '1023');
	assert.equal(order('address', 1), '1203');
	page.search('  B ');
	assert.equal(order('share', -1), '02');
	assert.ok(page.matches(2) && !page.matches(1));
});

test('where the order is not established, in a range by its own intervals', () => {
	const page = script.makePage(dataOf()), order = [0, 1, 2, 3];
	assert.deepEqual(order.map((_, i) => script.isUnsure(page, order, i)),
		[false, true, true, false]);
	page.range(2, 4); // 13, 0, 12, 2 of 27: those of a range overlap, too, and none is none
	assert.deepEqual([0, 2, 3, 1].map((_, place) => script.isUnsure(page, [0, 2, 3, 1], place)),
		[true, true, false, false]);
	page.range(0, 8);
	assert.ok(!script.isUnsure(page, order, 0));
});

test('the last part of a name', () => {
	for (const [front, end] of [['memset', ''], ['', ''], ['a', '::b'], ['a::b', '::c'],
		['<a::B as c::D>', '::e'], ['alloc::Map<a::K, b::V>', '::insert'], ['', ''],
		['guest', '::parse(char const*, std::string)'], ['__gap__ after x', ''],
		['a', '::f<u8>'], ['a', '::{{closure}}'], ['', '::'], ['odd>>>', '::x']])
		assert.equal(script.lastPart(front + end), front.length, front + end);
});

test('data as it is, and packed', async () => {
	const data = {name: ['\u00e4', '</script>'], n: 2 ** 52}, json = JSON.stringify(data);
	const packed = require('node:zlib').gzipSync(json).toString('base64');
	for (const of of [{type: 'application/json', textContent: json},
		{type: 'application/gzip', textContent: packed}]) {
		assert.deepEqual(await script.readData(of), data);
		assert.equal(of.textContent, '');
	}
});
