// SPDX-License-Identifier: GPL-2.0-only
/*
 * The image: every byte of an ELF's code in address order, as a ribbon that is wrapped into
 * lines as text is. A place on the ribbon is a position: the code bytes before it (what is
 * no code between sections takes no room). Each line has names above and cells of heat below.
 */
const IMAGE_LINE = 28, IMAGE_STRIP = 13; // pixels: a line, and the cells at its foot
const IMAGE_CELL = 64, IMAGE_LEAST = 64; // bytes: a cell where nothing is zoomed; least in a line
const IMAGE_PAD = 16; // bytes: a gap below that, without samples, is padding

/* ---- where things are: no drawing, nothing of the document ---- */

/*
 * Positions leave up to 63 bytes of room where an image begins or other bytes lie between, so
 * that cells are the cache lines of the addresses; origin: that of offset 0.
 */
function ribbonOf(spans, origin) {
	const n = spans.size.length, lead = Number(BigInt(origin) % BigInt(IMAGE_CELL));
	const ribbon = {n, start: new Float64Array(n), pos: new Float64Array(n + 1),
		end: new Float64Array(n), length: 0, bytes: 0};
	for (let i = 0; i < n; i++) {
		const at = spans.at[i], room = (at + lead - ribbon.length) % IMAGE_CELL;
		ribbon.start[i] = at;
		ribbon.pos[i] = ribbon.length + room;
		ribbon.end[i] = ribbon.length = ribbon.pos[i] + spans.size[i];
		ribbon.bytes += spans.size[i];
	}
	ribbon.pos[n] = ribbon.length;
	return ribbon;
}

/* The span at a position, or the one before. */
function ribbonSpan(ribbon, pos) {
	return clamp(lastAtMost(ribbon.pos, pos), 0, ribbon.n - 1);
}

/* The position of an offset in the image, -1 where no code is. */
function ribbonPlace(ribbon, at) {
	const i = lastAtMost(ribbon.start, at), pos = ribbon.pos[i] + at - ribbon.start[i];
	return i >= 0 && pos < ribbon.end[i] ? pos : -1;
}

/* The offset in the image of a position; in a room, of the code beside it. */
function ribbonOffset(ribbon, pos) {
	const i = ribbonSpan(ribbon, pos);
	return ribbon.start[i] + clamp(pos, ribbon.pos[i], ribbon.end[i] - 1) - ribbon.pos[i];
}

/* Bytes in a cell that is 1.5 pixels wide at least: a power of two. */
function cellOf(bytesPerPixel) {
	let cell = 1;
	while (cell < 1.5 * bytesPerPixel)
		cell *= 2;
	return cell;
}

/*
 * What is seen: the position at the top left, bytes in a line, lines, pixels in a line.
 * The whole of a small image has few lines, so that its cells are not wider than they help.
 */
function windowWhole(length, width, most) {
	const few = Math.ceil(length / (IMAGE_CELL * width / 12));
	const win = {length, width, lines: clamp(few, Math.min(4, most), most)};
	win.most = windowFit(win, length / win.lines).per;
	return windowAt(win, win.most, 0);
}

/* Whole cells in a line, of a size that goes with it. */
function windowFit(win, per) {
	const cell = cellOf(per / win.width), fit = Math.max(1, Math.ceil(per / cell)) * cell;
	return fit === per ? {cell, per} : windowFit(win, fit);
}

/* The window with that many bytes in a line that begins at a position, or near it. */
function windowAt(win, per, first) {
	const least = Math.min(IMAGE_LEAST, win.most);
	const fit = windowFit(win, clamp(per, least, win.most));
	const past = Math.ceil((win.length - win.lines * fit.per) / fit.cell) * fit.cell;
	const begin = clamp(Math.round(first / fit.cell) * fit.cell, 0, Math.max(0, past));
	return {...win, ...fit, first: begin};
}

/* Closer (factor below 1) or farther; what is at x on that line stays there. */
function windowZoom(win, factor, x, line) {
	const share = x / win.width + line;
	const {per} = windowAt(win, win.per * factor, 0);
	return windowAt(win, per, win.first + share * (win.per - per));
}

/* Moved by pixels to the right and lines down, as a hand moves paper. */
function windowMove(win, pixels, lines) {
	return windowAt(win, win.per,
		win.first - lines * win.per - pixels * win.per / win.width);
}

/* The window, moved as little as shows a position; a line of it above where there is one. */
function windowShow(win, pos) {
	const line = Math.floor((pos - win.first) / win.per);
	if (line >= 0 && line < win.lines)
		return win;
	return windowAt(win, win.per, pos - Math.floor(win.lines / 2) * win.per - win.per / 2);
}

function windowEnd(win) {
	return Math.min(win.length, win.first + win.lines * win.per);
}

/* The position at a point, -1 beyond the code. */
function windowHit(win, x, y) {
	const line = Math.floor(y / IMAGE_LINE);
	if (line < 0 || line >= win.lines || x < 0 || x >= win.width)
		return -1;
	const pos = Math.floor(win.first + line * win.per + x * win.per / win.width);
	return pos < win.length ? pos : -1;
}

/* The pieces of a stretch that are seen: line, left, right in pixels; clipped to the window. */
function windowPieces(win, from, to) {
	const pieces = [], begin = Math.max(from, win.first), end = Math.min(to, windowEnd(win));
	for (let at = begin; at < end;) {
		const line = Math.floor((at - win.first) / win.per);
		const start = win.first + line * win.per, next = Math.min(end, start + win.per);
		pieces.push({line, left: (at - start) * win.width / win.per,
			right: (next - start) * win.width / win.per});
		at = next;
	}
	return pieces;
}

/*
 * Where matched spans are seen, each 2 pixels wide at least; those that touch are one: of many
 * spans no more are drawn than can be told apart.
 */
function matchedRuns(ribbon, win, matched) {
	const runs = [], end = windowEnd(win), scale = win.width / win.per;
	let last = {line: -1};
	for (let i = ribbonSpan(ribbon, win.first); ribbon.pos[i] < end; i++) {
		const to = matched[i] ? Math.min(ribbon.end[i], end) : 0;
		for (let from = Math.max(ribbon.pos[i], win.first); from < to;) {
			const line = Math.floor((from - win.first) / win.per);
			const start = win.first + line * win.per, next = Math.min(to, start + win.per);
			const left = (from - start) * scale;
			const right = Math.max(left + 2, (next - start) * scale);
			if (line === last.line && left <= last.right)
				last.right = Math.max(last.right, right);
			else
				runs.push(last = {line, left, right});
			from = next;
		}
	}
	return runs;
}

/* Sums of weights by cells of that many bytes, of positions from..to; both ascend. */
function cellSums(pos, weight, cell, from, to) {
	const first = Math.floor(from / cell);
	const sums = new Float64Array(Math.max(0, Math.ceil(to / cell) - first));
	for (let i = lastAtMost(pos, from - 1) + 1; i < pos.length && pos[i] < to; i++)
		sums[Math.floor(pos[i] / cell) - first] += weight[i];
	return {first, sums};
}

/* The most that any cell of that many bytes has. */
function cellMost(pos, weight, cell) {
	let most = 0, sum = 0, current = -1;
	for (let i = 0; i < pos.length; i++) {
		const index = Math.floor(pos[i] / cell);
		if (index !== current)
			sum = 0;
		current = index;
		sum += weight[i];
		if (sum > most)
			most = sum;
	}
	return most;
}

/* Takes the free room in a line from left on, up to right: how wide; 0 if below least. */
function takeRoom(taken, left, right, least) {
	let end = right;
	for (const [a, b] of taken)
		if (b > left)
			end = Math.min(end, Math.max(a, left));
	if (end - left < Math.max(1, least))
		return 0;
	taken.push([left, end]);
	return end - left;
}

/* ---- one image of the page ---- */

/* What is drawn of an image: its ribbon, sampled positions in order, whose row a span is. */
function imageModel(page, index, all) {
	const image = page.data.images[index], {rows, addresses} = page.data;
	const ribbon = ribbonOf(image.spans, image.parts.from[0]), places = [];
	const rowOfSpan = new Int32Array(ribbon.n).fill(-1), spanOfRow = new Map();
	for (let row = 0; row < rows.image.length; row++) {
		const pos = rows.image[row] === index ? ribbonPlace(ribbon, rows.at[row]) : -1;
		if (pos < 0)
			continue;
		const span = ribbonSpan(ribbon, pos);
		rowOfSpan[span] = row;
		spanOfRow.set(row, span);
	}
	for (let i = 0; i < addresses.row.length; i++) {
		if (rows.image[addresses.row[i]] !== index)
			continue;
		const pos = ribbonPlace(ribbon, addresses.at[i]);
		if (pos >= 0)
			places.push({pos, i});
	}
	places.sort((a, b) => a.pos - b.pos);
	return {
		image, all, ribbon, rowOfSpan, spanOfRow, sections: sectionsOf(image, ribbon),
		pos: Float64Array.from(places, (p) => p.pos),
		address: Int32Array.from(places, (p) => p.i),
		weight: new Float64Array(places.length),
		most: new Map(), // by cell size
		name: image.name, names: rows.name,
		lower: null, // names for the search
	};
}

/* Sections with code: name, and where on the ribbon their first byte is. */
function sectionsOf(image, ribbon) {
	const found = [], {at, size, name, code} = image.sections;
	for (let i = 0; i < at.length; i++) {
		if (!code[i] || !size[i] || !name[i])
			continue;
		const first = Math.max(0, lastAtMost(ribbon.start, at[i]));
		const next = ribbon.start[first] + ribbon.end[first] - ribbon.pos[first] > at[i] ?
			first : first + 1;
		if (next < ribbon.n && ribbon.start[next] < at[i] + size[i])
			found.push({name: name[i], size: size[i],
				pos: ribbon.pos[next] + Math.max(0, at[i] - ribbon.start[next])});
	}
	return found.sort((a, b) => a.pos - b.pos);
}

function imageWeigh(model, page) {
	for (let i = 0; i < model.pos.length; i++)
		model.weight[i] = page.addressCounts[model.address[i]];
	model.most.clear();
}

/* The most in a cell of any image: all have one scale. */
function imageMost(model, cell) {
	if (!model.most.has(cell))
		model.most.set(cell, model.all.reduce((most, one) =>
			Math.max(most, cellMost(one.pos, one.weight, cell)), 0));
	return model.most.get(cell);
}

function spanName(model, span) {
	const {spans} = model.image;
	if (spans.kind[span] !== 2)
		return spans.name[span];
	const row = model.rowOfSpan[span];
	return row >= 0 ? model.names[row] : spans.size[span] < IMAGE_PAD ? 'padding' : 'gap';
}

/*
 * The cells of the window into an ImageData's words. A gap is hatched, padding empty; a
 * function's first pixel is empty where it is wide enough to be told from its neighbours.
 */
function imagePaint(model, win, inks, words, across, ratio) {
	const {ribbon, image} = model, {cell} = win, perPixel = win.per / across;
	const {first, sums} = cellSums(model.pos, model.weight, cell, win.first, windowEnd(win));
	const most = imageMost(model, cell), strip = Math.round(IMAGE_STRIP * ratio);
	const edge = Math.max(1, Math.round(ratio)), grid = cell / perPixel >= 7 * ratio;
	let span = ribbonSpan(ribbon, win.first);
	for (let line = 0; line < win.lines; line++) {
		const begin = win.first + line * win.per;
		const top = Math.round(((line + 1) * IMAGE_LINE) * ratio) - strip;
		for (let x = 0; x < across; x++) {
			const pos = begin + x * perPixel;
			if (pos >= win.length)
				return;
			while (ribbon.pos[span + 1] <= pos)
				span++;
			const wide = ribbon.end[span] - ribbon.pos[span] > 5 * ratio * perPixel;
			if (pos >= ribbon.end[span] || pos < ribbon.pos[0])
				continue;
			if (wide && pos - ribbon.pos[span] < edge * perPixel)
				continue;
			const index = Math.floor(pos / cell), sum = sums[index - first] || 0;
			if (grid && pos - index * cell < edge * perPixel)
				continue;
			const gap = image.spans.kind[span] === 2;
			if (!sum && gap && image.spans.size[span] < IMAGE_PAD)
				continue;
			const ink = inks[heatOf(sum / most)];
			for (let y = 0, at = top * across + x; y < strip; y++, at += across)
				if (!gap || (x + y) % (4 * edge) < (sum ? 3 : 1) * edge)
					words[at] = ink;
		}
	}
}

/*
 * The names of a window: of the selected and the hottest wherever there is room, then of
 * sections, then of spans in which they fit whole.
 */
function imageLabels(model, win, page, context, family) {
	const {ribbon, rowOfSpan, image} = model, labels = [], hot = [], wide = [];
	const taken = Array.from({length: win.lines}, () => []), end = windowEnd(win);
	const selected = model.spanOfRow.get(page.selected);
	const begin = (span) => Math.max(ribbon.pos[span], win.first);
	const share = (span) => (rowOfSpan[span] < 0 ? 0 : page.share(rowOfSpan[span]));
	const add = (pos, words, bold, inside) => {
		const [piece] = windowPieces(win, pos, inside || pos + 1), {line, left} = piece;
		const font = (bold ? 'bold ' : '') + '11px ' + family, row = taken[line];
		context.font = font;
		const width = Math.min(context.measureText(words).width + 8, inside ? Infinity : 280);
		let x = left + width > win.width ? Math.max(0, left - width) : left;
		if (inside && width > piece.right - left)
			return;
		let room = takeRoom(row, x, x + width, width);
		if (!room && !inside)
			room = takeRoom(row, x = left, Math.min(left + width, win.width), 48);
		if (!room)
			return;
		labels.push({line, left, x, words: fitText(context, words, room - 6), font, bold,
			pale: Boolean(inside)});
	};
	for (let span = ribbonSpan(ribbon, win.first); ribbon.pos[span] < end; span++)
		if (span === selected || share(span) >= 0.002)
			hot.push(span);
		else if ((ribbon.end[span] - ribbon.pos[span]) * win.width > 30 * win.per &&
			image.spans.kind[span] !== 2)
			wide.push(span);
	const rank = (span) => (span === selected ? 2 : share(span));
	for (const span of hot.sort((a, b) => rank(b) - rank(a)).slice(0, 60))
		add(begin(span), percent(share(span)) + ' ' + spanName(model, span),
			share(span) >= 0.01 || span === selected, 0);
	for (const section of model.sections)
		if (section.pos >= win.first && section.pos < end)
			add(section.pos, '▸ ' + section.name, false, 0);
	for (const span of wide.slice(0, 2000))
		add(begin(span), spanName(model, span), false, ribbon.end[span]);
	return labels;
}

/* As much of words as fits, with an ellipsis; nothing if that says nothing. */
function fitText(context, words, room) {
	if (context.measureText(words).width <= room)
		return words;
	let low = 0, high = Math.min(words.length, 200);
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(words.slice(0, middle) + '…').width <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 1 ? words.slice(0, low) + '…' : '';
}

/* A frame around a stretch, a piece in each line; open where it goes on in the next. */
function frameStretch(context, win, from, to, colour, width) {
	context.strokeStyle = colour;
	context.lineWidth = width;
	for (const {line, left, right} of windowPieces(win, from, to)) {
		const top = (line + 1) * IMAGE_LINE - IMAGE_STRIP - 1;
		context.strokeRect(left - 0.5, top, Math.max(2, right - left), IMAGE_STRIP + 1);
	}
}

/* What is said of a position: of its function, its cell, and where both are. */
function imageWords(model, page, win, pos) {
	const {ribbon, image} = model, span = ribbonSpan(ribbon, pos), row = model.rowOfSpan[span];
	const from = Math.floor(pos / win.cell) * win.cell, at = ribbonOffset(ribbon, pos);
	const {sums} = cellSums(model.pos, model.weight, win.cell, from, from + win.cell);
	const share = (n, size) => amount(n, page.data.unit) + ' (' +
		percent(n / (page.total || 1)) + ') in ' + bytes(size);
	const section = model.sections.filter((found) => found.pos <= pos).pop();
	return [
		spanName(model, span),
		'all of it: ' + share(row < 0 ? 0 : page.counts[row], image.spans.size[span]),
		'here: ' + share(sums[0], win.cell),
		address(image, at) + ' is +0x' + (at - ribbon.start[span]).toString(16) +
			(section ? ' in ' + section.name : ''),
	];
}

/* The three rows of an image with the most, hottest first. */
function hotRows(model, page) {
	const hot = [];
	for (const row of model.spanOfRow.keys()) {
		if (!(page.counts[row] > (hot.length < 3 ? 0 : page.counts[hot[2]])))
			continue;
		hot.push(row);
		hot.sort((x, y) => page.counts[y] - page.counts[x]).splice(3);
	}
	return hot;
}

/* What a reader of the page's text learns. */
function imageAlternative(model, page) {
	const said = hotRows(model, page).map((row) =>
		spanName(model, model.spanOfRow.get(row)) + ' ' +
		percent(page.share(row)));
	return 'Heat map of the code of ' + model.name + ', ' +
		bytes(model.ribbon.bytes) + ' in address order. Hottest: ' +
		(said.join(', ') || 'nothing') +
		'. Arrow keys move a cursor by cells and lines, n and p by functions with samples, ' +
		'plus and minus zoom, 0 shows all, Enter selects.';
}

function imageOne(parent, page, model) {
	const {data} = page, {ribbon} = model;
	const title = data.images.length > 1 ? put(parent, 'h3') : null;
	const tools = put(parent, 'div', 'tools'), map = put(parent, 'canvas', 'minimap');
	const view = put(parent, 'div', 'stage'), {canvas, over} = putStage(view);
	const said = put(parent, 'p', 'said'), tip = tipOf(view);
	let win = null, gutter = 0, hover = -1, cursor = -1, inks = null, matched = null;
	map.setAttribute('aria-hidden', 'true');

	const [farther, , all] = [
		['−', 'farther away (-)', () => zoom(2, win.width / 2, win.lines / 2)],
		['+', 'closer (+)', () => zoom(0.5, win.width / 2, win.lines / 2)],
		['Whole', 'all of the code (0)', () => show(windowAt(win, win.most, 0))],
		['Closer', 'the selected function, or the one with the most samples', near],
	].map(([text, label, onClick]) => putButton(tools, text, label, onClick));
	const legend = put(tools, 'span', 'legend'), setRamp = putRamp(legend);
	put(legend, 'span', 'key hatched', 'no symbol');

	function layOut() {
		const context = canvas.getContext('2d'), room = view.clientWidth;
		context.font = '11px ui-monospace, monospace';
		const last = address(model.image, ribbonOffset(ribbon, ribbon.length - 1));
		gutter = room < 640 ? 0 : Math.ceil(context.measureText(last).width) + 10;
		const width = room - gutter, most = room < 640 ? 18 : 22;
		const whole = windowWhole(ribbon.length, width, most);
		win = !win || win.per === win.most ? windowAt(whole, whole.most, 0) :
			windowAt(whole, win.per * width / win.width, win.first);
	}

	function draw() {
		if (view.clientWidth < 60)
			return;
		inks = colours(view);
		layOut();
		const width = view.clientWidth, height = win.lines * IMAGE_LINE + 4;
		const context = openCanvas(canvas, width, height, inks.back);
		const ratio = canvas.height / height, across = Math.round(win.width * ratio);
		const bits = context.createImageData(across, canvas.height);
		const [back, ...pixels] = pixelsOf([inks.back, inks.cold, ...inks.heat]);
		const words = new Uint32Array(bits.data.buffer).fill(back);
		imagePaint(model, win, pixels, words, across, ratio);
		context.putImageData(bits, Math.round(gutter * ratio), 0);
		context.fillStyle = inks.text;
		drawGutter(context);
		drawLabels(context);
		drawOver();
		drawMap();
		tell();
	}

	function drawGutter(context) {
		context.font = '11px ui-monospace, monospace';
		context.globalAlpha = 0.7;
		for (let line = 0; gutter && line < win.lines; line++) {
			const pos = win.first + line * win.per;
			if (pos < win.length)
				context.fillText(address(model.image, ribbonOffset(ribbon, pos)), 0,
					(line + 1) * IMAGE_LINE - 3);
		}
		context.globalAlpha = 1;
	}

	function drawLabels(context) {
		context.save();
		context.translate(gutter, 0);
		for (const label of imageLabels(model, win, page, context, inks.font)) {
			const {left, x, pale, bold} = label;
			const foot = (label.line + 1) * IMAGE_LINE - IMAGE_STRIP - 4;
			context.font = label.font;
			context.fillStyle = inks.text;
			context.globalAlpha = pale ? 0.65 : 1;
			context.fillText(label.words, x + 3, foot);
			context.globalAlpha = pale ? 0.2 : bold ? 1 : 0.5;
			context.fillStyle = bold ? inks.heat[HEATS - 1] : inks.text;
			context.fillRect(left, foot - 9, bold ? 2 : 1, 12);
		}
		context.restore();
	}

	/* What changes as one points: kept off the cells. */
	function drawOver() {
		if (!inks)
			return;
		const context = openCanvas(over, view.clientWidth, win.lines * IMAGE_LINE + 4);
		context.translate(gutter, 0);
		if (matched)
			drawMatches(context);
		const frame = (span, colour, width) => frameStretch(context, win, ribbon.pos[span],
			ribbon.end[span], colour, width);
		if (hover >= 0)
			frame(ribbonSpan(ribbon, hover), inks.text, 1);
		if (model.spanOfRow.has(page.selected))
			frame(model.spanOfRow.get(page.selected), inks.mark, 2);
		if (cursor >= 0) {
			const at = Math.floor(cursor / win.cell) * win.cell;
			frameStretch(context, win, at, at + win.cell, inks.text, 2);
		}
	}

	function drawMatches(context) {
		context.fillStyle = inks.found;
		for (const {line, left, right} of matchedRuns(ribbon, win, matched))
			context.fillRect(left, (line + 1) * IMAGE_LINE, right - left, 3);
	}

	/* All of the code in one line, as high as its share: the peaks are where the time is. */
	function drawMap() {
		const width = view.clientWidth, height = 40, cell = ribbon.length / width;
		const context = openCanvas(map, width, height + 4), most = imageMost(model, cell);
		const {sums} = cellSums(model.pos, model.weight, cell, 0, ribbon.length);
		context.fillStyle = inks.cold;
		context.fillRect(0, 2, width, height);
		sums.forEach((sum, x) => {
			const high = sum ? Math.max(1, sum / most * height) : 0;
			context.fillStyle = inks.heat[heatOf(sum / most) - 1];
			context.fillRect(x, 2 + height - high, 1.5, high);
		});
		context.font = '11px ' + inks.font;
		context.fillStyle = inks.text;
		const taken = [];
		for (const {name, pos} of [...model.sections].sort((a, b) => b.size - a.size)) {
			const wide = context.measureText(name).width + 8;
			const x = Math.min(pos / cell, width - wide);
			if (takeRoom(taken, x, x + wide, wide))
				context.fillText(name, x + 4, 13);
		}
		context.strokeStyle = inks.mark;
		context.lineWidth = 2;
		const left = win.first / cell, right = windowEnd(win) / cell;
		context.strokeRect(left + 1, 1, Math.max(2, right - left - 2), height + 2);
	}

	function tell() {
		const end = windowEnd(win), at = (pos) => address(model.image, ribbonOffset(ribbon, pos));
		const most = imageMost(model, win.cell), {pos, weight} = model;
		const share = (from, to) => percent(sumOf(weight, lastAtMost(pos, from - 1) + 1,
			lastAtMost(pos, to - 1) + 1) / (page.total || 1));
		setRamp('in ' + bytes(win.cell) + ' (log): 0', inks.heat, amount(most, data.unit));
		all.disabled = farther.disabled = win.per === win.most;
		if (title)
			title.textContent = model.name + ': ' + share(0, ribbon.length);
		said.textContent = 'Shown: ' + at(win.first) + ' to ' + at(end - 1) + ', ' +
			bytes(Math.min(ribbon.bytes, end - win.first)) + ' of ' +
			bytes(ribbon.bytes) + ', with ' + share(win.first, end) + ' of the samples' +
			(page.whole() ? '.' : ' in the selected time.');
		canvas.setAttribute('aria-label', imageAlternative(model, page));
	}

	const redraw = watchLooks(view, page, draw);

	function show(next) {
		win = next;
		redraw();
	}

	function zoom(factor, x, line) {
		show(windowZoom(win, factor, x, line));
	}

	/* So close that the selected or the hottest span takes a third of the window. */
	function near() {
		const [row] = model.spanOfRow.has(page.selected) ? [page.selected] : hotRows(model, page);
		if (row === undefined)
			return;
		const span = model.spanOfRow.get(row), size = ribbon.end[span] - ribbon.pos[span];
		const closer = windowAt(win, 3 * size / win.lines, 0);
		const above = Math.max(0, (closer.lines * closer.per - size) / 2);
		show(windowAt(closer, closer.per,
			Math.floor((ribbon.pos[span] - above) / IMAGE_CELL) * IMAGE_CELL));
	}

	function point(pos) {
		hover = pos;
		drawOver();
	}

	function tipAt(pos, aloud) {
		const [piece] = windowPieces(win, pos, pos + 1);
		if (piece)
			tip.show(gutter + piece.left, (piece.line + 1) * IMAGE_LINE,
				imageWords(model, page, win, pos), aloud);
	}

	function choose(pos) {
		if (pos >= 0)
			page.select(model.rowOfSpan[ribbonSpan(ribbon, pos)]);
	}

	function moveCursor(pos) {
		cursor = clamp(pos, 0, ribbon.length - 1);
		hover = -1;
		win = windowShow(win, cursor);
		draw();
		tipAt(cursor, true);
	}

	/* The next span with samples, in address order. */
	function stepHot(step) {
		let span = ribbonSpan(ribbon, cursor) + step;
		for (; span >= 0 && span < ribbon.n; span += step)
			if (model.rowOfSpan[span] >= 0 && page.counts[model.rowOfSpan[span]] > 0)
				return ribbon.pos[span];
		return cursor;
	}

	function onKey(event) {
		const from = cursor < 0 ? win.first : cursor;
		const lines = (cursor < 0 ? 0 : cursor - win.first) / win.per;
		const x = (lines % 1) * win.width, page1 = win.lines * win.per;
		const act = {
			ArrowLeft: () => moveCursor(from - win.cell),
			ArrowRight: () => moveCursor(from + win.cell),
			ArrowUp: () => moveCursor(from - win.per),
			ArrowDown: () => moveCursor(from + win.per),
			PageUp: () => moveCursor(from - page1),
			PageDown: () => moveCursor(from + page1),
			Home: () => moveCursor(0),
			End: () => moveCursor(ribbon.length - 1),
			n: () => moveCursor(stepHot(1)),
			p: () => moveCursor(stepHot(-1)),
			'+': () => zoom(0.5, x, Math.floor(lines)),
			'=': () => zoom(0.5, x, Math.floor(lines)),
			'-': () => zoom(2, x, Math.floor(lines)),
			0: () => show(windowAt(win, win.most, 0)),
			Enter: () => choose(cursor),
			' ': () => choose(cursor),
			Escape: () => {
				cursor = -1;
				tip.hide();
				drawOver();
				page.select(-1);
			},
		}[event.key];
		if (!act || event.ctrlKey || event.metaKey || event.altKey)
			return;
		act();
		event.preventDefault();
	}

	/* Only where the picture has the focus, or with Ctrl: a page scrolls by its wheel. */
	function onWheel(event) {
		const closer = event.deltaY < 0;
		if (!event.ctrlKey && document.activeElement !== canvas)
			return;
		if (!event.deltaY || (!closer && win.per === win.most && !event.ctrlKey))
			return;
		zoom(2 ** clamp(event.deltaY / 200, -1, 1), clamp(event.offsetX - gutter, 0, win.width),
			Math.floor(event.offsetY / IMAGE_LINE));
		tip.hide();
		event.preventDefault();
	}

	/* Two fingers zoom, one moves sideways, or the page up and down. */
	const fingers = new Map();
	let held = null, pinch = null;
	const spread = () => {
		const [a, b] = fingers.values();
		return {apart: Math.hypot(a.x - b.x, a.y - b.y) || 1, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
	};
	const lift = (event) => {
		fingers.delete(event.pointerId);
		held = pinch = null;
	};
	canvas.addEventListener('pointerdown', (event) => {
		if (event.button)
			return;
		fingers.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
		if (fingers.size === 2) {
			pinch = {win, ...spread()};
			held = null;
			tip.hide();
			return;
		}
		held = {x: event.offsetX, y: event.offsetY, win, moved: false};
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener('pointermove', (event) => {
		const {offsetX: x, offsetY: y} = event;
		if (pinch) {
			fingers.set(event.pointerId, {x, y});
			const now = spread(), lines = (y0) => Math.floor(y0 / IMAGE_LINE);
			const zoomed = windowZoom(pinch.win, pinch.apart / now.apart,
				clamp(pinch.x - gutter, 0, win.width), lines(pinch.y));
			show(windowMove(zoomed, now.x - pinch.x, lines(now.y - pinch.y)));
			return;
		}
		if (held && (held.moved || Math.abs(x - held.x) + Math.abs(y - held.y) > 5)) {
			held.moved = true;
			tip.hide();
			show(windowMove(held.win, x - held.x, Math.round((y - held.y) / IMAGE_LINE)));
			return;
		}
		cursor = -1;
		point(windowHit(win, x - gutter, y));
		if (hover < 0)
			tip.hide();
		else
			tip.show(x, y, imageWords(model, page, win, hover), false);
	});
	canvas.addEventListener('pointerup', (event) => {
		if (held && !held.moved)
			choose(windowHit(win, event.offsetX - gutter, event.offsetY));
		lift(event);
	});
	canvas.addEventListener('pointercancel', lift);
	canvas.addEventListener('pointerleave', () => {
		if (cursor < 0)
			tip.hide();
		point(-1);
	});
	canvas.addEventListener('keydown', onKey);
	canvas.addEventListener('blur', () => {
		cursor = -1;
		tip.hide();
		drawOver();
	});
	canvas.addEventListener('wheel', onWheel, {passive: false});

	const jump = (event) => {
		if (event.buttons & 1)
			show(windowAt(win, win.per, event.offsetX * ribbon.length / view.clientWidth -
				win.lines * win.per / 2));
	};
	map.addEventListener('pointerdown', (event) => {
		map.setPointerCapture(event.pointerId);
		jump(event);
	});
	map.addEventListener('pointermove', jump);

	page.on('select', () => {
		const span = model.spanOfRow.get(page.selected);
		if (span !== undefined && win)
			win = windowShow(win, ribbon.pos[span]);
		redraw();
	});
	page.on('range', redraw);
	const redrawOver = redrawer(drawOver);
	page.on('search', () => {
		matched = imageMatches(model, page);
		redrawOver();
	});
	matched = imageMatches(model, page);
	draw();
}

/* By span: does its name hold what is searched? Null where nothing is. */
function imageMatches(model, page) {
	if (!page.words)
		return null;
	if (!model.lower)
		model.lower = model.image.spans.name.map((name) => name.toLowerCase());
	const {lower} = model, matched = new Uint8Array(lower.length);
	for (let i = 0; i < lower.length; i++)
		matched[i] = lower[i].includes(page.words);
	return matched;
}

function imageView(section, page) {
	const parent = section.querySelector('.view');
	const models = [], weigh = () => models.forEach((model) => imageWeigh(model, page));
	page.data.images.forEach((image, i) =>
		image.spans.size.length && models.push(imageModel(page, i, models)));
	page.on('range', weigh); // before each draws
	weigh();
	models.forEach((model) => imageOne(parent, page, model));
}
